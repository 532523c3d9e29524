# SPDX-License-Identifier: GPL-2.0-or-later
# records.awk: the writes of "f2fs: optimize gc for better performance", as lines of
# a trace: 52,023 files of 32 KiB, then 100,000 records of 4 KiB at random offsets
# of random files.  With aligned=1 a record is one block of its file.

# A number below N, by the generator of Park and Miller.
function below(n)
{
	state = state * 16807 % 2147483647
	return int(state / 2147483647 * n)
}

BEGIN {
	files = 52023
	size = 32768
	state = 1000 + seed
	for (i = 0; i < files; i++)
		printf "%d,write,%.0f,%d\n", i, i * size, size
	for (i = 0; i < 100000; i++) {
		at = below(files) * size
		at += aligned ? 4096 * below(8) : below(size - 4096 + 1)
		printf "%d,write,%.0f,4096\n", files + i, at
	}
}
