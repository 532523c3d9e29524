#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Where files come to lie: each in one piece where that wastes no space, whichever
# thread writes, and always the same.

bats_require_minimum_version 1.5.0

load mkfs
load ../kernel/lab
load populate

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	make_tree flat flat 4096 64
	make_tree rich rich 1024 256
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
}

# well_laid TREE BLOCK_SIZE OPTION...: in an image of TREE all files that fit in
# a segment lie in one piece, but for at most $split, longer ones in one piece in
# each segment.
well_laid() {
	local tree=$1 size=$2 per_segment=$((262144 / $2))

	rm -f image
	mkfs -q -b "$size" -B $per_segment --size 128M -d "$tree" "${@:3}" \
		image
	dump.nilfs2 ls -lRi --json-lines image >list
	dump.nilfs2 logs --blocks --json-lines image |
		perl "$BATS_TEST_DIRNAME/extents.pl" list "$size" \
			$per_segment >said
	cat said
	[ "$(wc -l <said)" -eq 1 ]
	[ "$(cut -d' ' -f1 said)" -eq "$(find "$tree" -type f -printf '%i\n' |
		sort -u | wc -l)" ]
	[ "$(cut -d' ' -f2 said)" -gt 3 ]
	[ "$(cut -d' ' -f3 said)" -le "${split:-0}" ]
}

@test "a file that fits in a segment has one extent, at any -j" {
	for jobs in 1 2 16; do
		well_laid flat 4096 -j $jobs
	done
}

@test "so it has with small blocks, links and holes" {
	well_laid rich 1024 -j 2
	well_laid rich 2048 -j 2
}

# What could fill the rest of a segment is written already.
@test "few have two with little metadata gathered at a time" {
	local split=10

	for blocks in 1 7 100; do
		well_laid flat 4096 --collect $blocks
	done
}

@test "one extent whatever the order" {
	for order in inode size none; do
		well_laid flat 4096 --sort $order
	done
}

# The same by another command: extents are runs on the disk.
@test "bmap shows one extent for each file that fits" {
	well_laid flat 4096
	for i in 1 17 42 101 250; do
		path=$(cd flat && find . -name "f$(printf %03d $i)")
		blocks=$((($(stat -c %s "flat/$path") + 4095) / 4096))
		map=$(dump.nilfs2 bmap -s --json image "${path#.}")
		[[ $map == *'"data_blocks": '$blocks,* ]]
		[ $blocks -gt 60 ] || [[ $map == *'"extents": 1,'* ]]
	done
}

# 48 blocks of 64 in a segment: one a segment would leave a quarter unused.
@test "files that leave much of each segment unused are split" {
	mkdir large
	for ((i = 0; i < 100; i++)); do
		head -c 196608 /dev/urandom >large/$i
	done
	rm -f image
	mkfs -q -B 64 --size 64M -d large image
	used=$(dump.nilfs2 segments -a image | awk '$2 ~ /d/' | wc -l)
	[ "$used" -ge $((4800 / 63)) ]
	[ "$used" -le $((4800 / 62 + 4)) ]
	dump.nilfs2 ls -lRi --json-lines image >list
	dump.nilfs2 logs --blocks --json-lines image |
		perl "$BATS_TEST_DIRNAME/extents.pl" list 4096 64 >said
	cat said
	[ "$(wc -l <said)" -eq 1 ]
	fsck.nilfs2 -n image
}
