# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# How time and memory grow with the segments in use of a volume of 16 TiB, 48
# live blocks in each.  BENCH_SEGMENTS are the numbers of segments: two million,
# with 100 million live blocks, take 20 GB of the directory in BENCH_TMPFS, which
# may be on a disk (ext4 holds files of less than 16 TiB).

vast_commands() {
	local f=$1 d="$dump" g="$build/gc/gc.nilfs2 -q --protect 0"

	interleave 1 \
		"check=$build/fsck/fsck.nilfs2 -fnq $f" \
		"segments=$d segments --totals $f" \
		"map=$d map $f" \
		"checkpoints=$d checkpoints $f" \
		"du=$d du $f" \
		"find=$d find $f no-such-name" \
		"gc --dry-run=$g --dry-run $f" \
		"gc --dry-run --compact=$g --dry-run --compact $f"
}

bench_vast() {
	local f=$scratch/vast n

	for n in ${BENCH_SEGMENTS:-8192 32768 131072}; do
		rm -f "$f"
		truncate -s $(((1 << 44) - 4096)) "$f"
		"$mkfs" -q "$f"
		"$build/tests/bench/vast" "$f" segments "$n"
		title "16 TiB, $n segments in use"
		vast_commands "$f"
	done
	rm -f "$f"
}
