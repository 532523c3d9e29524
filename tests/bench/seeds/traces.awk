# SPDX-License-Identifier: GPL-2.0-or-later
# traces.awk -v kind=KIND -v blocks=N -v writes=N [-v skew=X] [-v seed=N]: a trace in
# the format of a public one, of N blocks of 4 KiB that are written first, in order,
# and then N more.  What is known of each is in README.md.
#
#   alibaba	single blocks, by Zipf's distribution
#   tencent	half of the requests go on where one of 16 ended, the others are of 1
#		to 16 blocks at places of Zipf's distribution; a quarter are reads
#   msr		nine writes of ten go to a tenth of the blocks; hourly, a twentieth of
#		the volume is written in sequence

# A number from 0 on, below N: Lehmer's generator of Park and Miller.
function below(n)
{
	state = state * 16807 % 2147483647
	return int(n * (state - 1) / 2147483646)
}

# Ranks 1 ... N of Zipf's distribution, by their sums.
function prepare(n,    i, j, k)
{
	for (i = 1; i <= n; i++)
		sums[i] = sums[i - 1] + 1 / i ^ skew
	# Popular blocks are not beside each other.
	for (i = 0; i < n; i++)
		place[i] = i
	for (i = n - 1; i > 0; i--) {
		j = below(i + 1)
		k = place[i]
		place[i] = place[j]
		place[j] = k
	}
}

function popular(    low, high, middle, want)
{
	want = sums[blocks] * (below(1000000) + below(1000) / 1000) / 1000000
	low = 1
	high = blocks
	while (low < high) {
		middle = int((low + high) / 2)
		if (sums[middle] > want)
			high = middle
		else
			low = middle + 1
	}
	return place[low - 1]
}

# COUNT blocks at BLOCK; the clock goes on by a hundredth of a second.
function put(operation, block, count)
{
	if (block + count > blocks)
		count = blocks - block
	clock++
	if (kind == "alibaba")
		printf "419,%s,%.0f,%d,%.0f\n", operation, block * 4096,
			count * 4096, 1577808000000000 + clock * 10000
	else if (kind == "tencent")
		printf "%d,%.0f,%d,%d,1063\n", 1538323200 + clock / 100,
			block * 8, count * 8, operation == "W"
	else
		printf "%.0f,usr,0,%s,%.0f,%d,100\n",
			128166372000000000 + clock * 100000,
			operation == "W" ? "Write" : "Read", block * 4096,
			count * 4096
	done += operation == "W" ? count : 0
}

# A request, which may be a read.
function one_of_tencent(    i)
{
	i = below(16)
	if (below(2)) {
		put(below(4) ? "W" : "R", ends[i], 8)
		ends[i] = (ends[i] + 8) % blocks
	} else {
		put(below(4) ? "W" : "R", popular(), 1 + below(16))
	}
}

# A request, with the backup where one is due.
function one_of_msr(    from, i)
{
	if (clock % 20000 == 0) {
		from = below(blocks)
		for (i = 0; i < blocks / 20; i += 16)
			put("W", (from + i) % blocks, 16)
	}
	if (below(10))
		put("W", below(blocks / 10), 1)
	else
		put("W", below(blocks), 1 + below(4))
}

BEGIN {
	state = seed ? seed : 1
	skew = skew ? skew : 1
	prepare(blocks)
	for (i = 0; i < 16; i++)
		ends[i] = below(blocks)
	for (i = 0; i < blocks; i += 16)
		put("W", i, 16)
	for (done = 0; done < writes; )
		if (kind == "alibaba")
			put("W", popular(), 1)
		else if (kind == "tencent")
			one_of_tencent()
		else
			one_of_msr()
}
