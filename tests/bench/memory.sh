# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# The greatest resident set of each command on a sparse volume of 16 TiB.

wide_image() {
	rm -f "$2"
	truncate -s 16T "$2"
	mkfs.nilfs2 -q -B "$1" "$2"
	"$guest" "$here/guest-memory.sh" "$2" >/dev/null
}

memory_commands() {
	local f=$1 d="$dump"

	commands=(
		"mkfs=$mkfs -q -f --size 16T -B $2 $f.new"
		"info=$d info $f"
		"segments=$d segments $f"
		"segments --totals=$d segments --totals $f"
		"map=$d map $f"
		"checkpoints=$d checkpoints $f"
		"logs --blocks=$d logs --blocks $f"
		"bmap of the DAT=$d bmap $f 3"
		"dat --all=$d dat --all $f"
		"block=$d block $f 2"
		"ls -lR=$d ls -lR $f"
		"export=$d export $f -"
		"diff=$d diff $f 2 3 || [ \$? -eq 3 ]"
	)
	[ "$2" -lt 2048 ] ||
		commands+=("segments --all --sort=$d segments -a -s live $f")
}

# As if all but 100 segments were in use.
memory_gc() {
	local f=$scratch/crowd g="$build/gc/gc.nilfs2 -q --protect 0"

	truncate -s 16T "$f"
	"$mkfs" -q "$f"
	"$build/tests/bench/crowd" "$f" 100 500
	title "memory, 16 TiB, two million segments in use"
	interleave 1 -b "cp --sparse=always $f $f.copy" \
		"gc --free=$g --free 1000 $f.copy" \
		"gc --compact=$g --compact $f.copy 2>&1 || [ \$? -eq 3 ]" \
		"gc --compare=$g --compare $f.copy 2>&1 || [ \$? -eq 3 ]"
	rm -f "$f" "$f.copy"
}

bench_memory() {
	local blocks f=$scratch/wide commands

	for blocks in 2048 16; do
		wide_image "$blocks" "$f"
		memory_commands "$f" "$blocks"
		title "memory, 16 TiB, $blocks blocks a segment"
		interleave 1 "${commands[@]}"
		rm -f "$f" "$f.new"
	done
	memory_gc
}
