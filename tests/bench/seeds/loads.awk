# SPDX-License-Identifier: GPL-2.0-or-later
# loads.awk -v kind=KIND -v blocks=N -v writes=N [-v seed=N] [-v share=PERCENT]
# [-v pace=X]: a load that gcsim.nilfs2 does not generate, as a trace in the csv
# format: N blocks that are written first, in order, and then as many writes.
#
#   shifting	nine writes of ten go to a window of SHARE percent (10), which moves
#		on by its length while PACE times all blocks are written (1)
#   database	SHARE percent of the writes (50) go to a log in sequence, which is a
#		PACE-th part of the blocks (4) and written again from its beginning;
#		the others are single blocks of the rest by Zipf's distribution
#   speeds	two logs of an eighth and a quarter of the blocks, which have SHARE
#		percent (40) and half of that of the writes; the others by Zipf's
#		distribution with exponent PACE (0.9)
#   shuffled	nine writes of ten to a fifth of the blocks, which are anywhere, in
#		requests of 1 to 8 blocks; each PACE times all blocks written (0.5) a
#		tenth of the volume is written in sequence
#   orders	as a database of orders: SHARE percent (30) append to tables that are
#		written from their beginning when they are full (a third of the
#		blocks), the others update one of three tables at places of NURand

function below(n)
{
	state = state * 16807 % 2147483647
	return int(n * (state - 1) / 2147483646)
}

function prepare(n, skew,    i, j, k)
{
	for (i = 1; i <= n; i++)
		sums[i] = sums[i - 1] + 1 / i ^ skew
	for (i = 0; i < n; i++)
		place[i] = i
	for (i = n - 1; i > 0; i--) {
		j = below(i + 1)
		k = place[i]
		place[i] = place[j]
		place[j] = k
	}
	ranks = n
}

function popular(    low, high, middle, want)
{
	want = sums[ranks] * (below(1000000) + below(1000) / 1000) / 1000000
	low = 1
	high = ranks
	while (low < high) {
		middle = int((low + high) / 2)
		if (sums[middle] > want)
			high = middle
		else
			low = middle + 1
	}
	return place[low - 1]
}

function put(block, count)
{
	if (block + count > blocks)
		count = blocks - block
	printf "0,W,%.0f,%d\n", block * 4096, count * 4096
	done += count
}

# The next COUNT blocks of log I, of SIZE blocks from FROM on.
function append(i, from, size, count)
{
	if (at[i] + count > size)
		count = size - at[i]
	put(from + at[i], count)
	at[i] = (at[i] + count) % size
}

# Of TPC-C: some of N are popular, by bits of two numbers.
function nurand(a, n,    x, y, bit, both)
{
	x = below(a + 1)
	y = below(n)
	for (bit = 1; bit <= a; bit *= 2)
		if (int(x / bit) % 2 && int(y / bit) % 2 == 0)
			both += bit
	return (y + both) % n
}

BEGIN {
	state = 1
	for (i = 0; i < 10; i++)
		state = (state * 16807 + seed * 7919 + 11) % 2147483646 + 1
	for (i = 0; i < blocks; i += 16)
		put(i, 16)
	if (kind == "shifting") {
		window = int(blocks * (share ? share : 10) / 100)
		pace = pace ? pace : 1
		for (done = 0; done < writes; )
			if (below(10))
				put((int(done * window / pace / blocks) + \
					below(window)) % blocks, 1)
			else
				put(below(blocks), 1)
	} else if (kind == "database") {
		share = share ? share : 50
		log_blocks = int(blocks / (pace ? pace : 4))
		prepare(blocks - log_blocks, 1)
		for (done = 0; done < writes; )
			# A record of the log is 8 blocks.
			if (below(800 - 7 * share) < share)
				append(0, 0, log_blocks, 8)
			else
				put(log_blocks + popular(), 1)
	} else if (kind == "speeds") {
		share = share ? share : 40
		prepare(int(blocks * 5 / 8), pace ? pace : 0.9)
		for (done = 0; done < writes; ) {
			i = below(100)
			if (i < share)
				append(0, 0, int(blocks / 8), 1)
			else if (i < share * 1.5)
				append(1, int(blocks / 8), int(blocks / 4), 1)
			else
				put(int(blocks * 3 / 8) + popular(), 1)
		}
	} else if (kind == "shuffled") {
		prepare(int(blocks / 8), 0)
		pace = pace ? pace : 0.5
		for (done = 0; done < writes; ) {
			if (done >= due) {
				due += pace * blocks
				from = below(blocks)
				for (i = 0; i < blocks / 10; i += 16)
					put((from + i) % blocks, 16)
			}
			if (below(10))
				put(place[below(int(ranks / 5))] * 8, 1 + below(8))
			else
				put(place[below(ranks)] * 8, 1 + below(8))
		}
	} else {
		share = share ? share : 30
		third = int(blocks / 3)
		for (done = 0; done < writes; )
			if (below(100) < share) {
				i = below(3)
				append(i, i * int(third / 3), int(third / 3), 1)
			} else {
				i = below(10)
				n = int(third * (i < 6 ? 1.5 : i < 9 ? 0.4 : 0.1))
				put(third + (i < 6 ? 0 : i < 9 ? int(third * 1.5) : \
					int(third * 1.9)) + nurand(i < 6 ? 8191 : \
					i < 9 ? 1023 : 255, n), 1)
			}
	}
}
