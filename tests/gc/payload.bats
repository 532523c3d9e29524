#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Blocks of a log that does not match its checksum are not moved: a new log
# would give them a matching one, and nothing would show the damage.

bats_require_minimum_version 1.5.0

load ../kernel/lab
load ../fsck/repaired
load ../fsck/damage
load gc

# One bit of a block of the file "kept" is another one.
setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
	export SOURCE_DATE_EPOCH=1700000000
	begin_kept
	flip "$(dump.nilfs2 bmap -b "$image" /kept |
		awk '$NF == "data" && $1 == 100 { print $5 }')"
	sum=$(dump.nilfs2 cat "$image" /kept | cksum)
}

# flip BLOCK: one bit of it.
flip() {
	local at=$(($1 * $(block_size) + 77)) byte

	byte=$(od -An -tu1 -j "$at" -N 1 "$image")
	printf "\\x$(printf %x $((byte ^ 4)))" |
		dd of="$image" bs=1 seek="$at" conv=notrunc status=none
}

is_marked() {
	dump.nilfs2 segments "$image" "$segment" | grep -q -- "-de"
}

# leaves_alone OPTION...: the segment is left, and marked, and the file named.
leaves_alone() {
	local copy=$image.copy

	echo "$*"
	cp "$image" "$copy"
	run --separate-stderr -3 gc --json "$@"
	[[ $stderr == *"segment $segment: skipped: the log at block "*" does \
not match its checksum; blocks of "*/kept* ]] || return
	is_marked
	[ "$(dump.nilfs2 cat "$image" /kept | cksum)" = "$sum" ]
	expect
	run -0 gc "$@"
	mv "$copy" "$image"
}

@test "its segment is named and marked, with the file, by every job" {
	leaves_alone --compact=all
	leaves_alone --order=tree
}

@test "so it is by cleaning, and the others are cleaned" {
	image=$(copy_image small-files)
	segment=$(gc -n -v --json | gojq '[.segments[] |
		select(.fate == "cleaned" and .live > 0)][-1].segment')
	flip $(($(dump.nilfs2 logs "$image" "$segment" -s |
		awk 'NR == 2 { print $2 }') + 99))
	remember
	before=$(state_of "$image")
	run --separate-stderr -3 gc --json --verify -n
	[ "$(state_of "$image")" = "$before" ]
	timeless <<<"$output" >forecast
	run --separate-stderr -3 gc --json --verify
	diff forecast <(timeless <<<"$output")
	[[ $stderr == *"segment $segment: skipped: "*"blocks of /"* ]]
	[ "$(gojq .result.segments_left <<<"$output")" -eq 1 ]
	[ "$(gojq .result.segments_cleaned <<<"$output")" -gt 0 ]
	is_marked
	is_clean && same_trees
}

@test "a forecast of compaction reports it" {
	gc -n --json --compact=all 2>/dev/null >forecast || [ $? -eq 3 ]
	gc --json --compact=all 2>/dev/null >outcome || [ $? -eq 3 ]
	diff <(timeless forecast) <(timeless outcome)
}

@test "no copy is made, and no end is cut off, that would need it" {
	before=$(state_of "$image")
	run -1 gc.nilfs2 --protect 0 --output copy "$image"
	[[ $output == *"does not match its checksum"*/kept* ]]
	[ ! -e copy ]
	run -1 gc --shrink=min
	[[ $output == *"does not match its checksum"*/kept* ]]
	[ "$(state_of "$image")" = "$before" ]
}

@test "fsck repairs the bit, and then it is cleaned" {
	run -3 gc -n --compact=all
	fsck.nilfs2 -fy --data "$image" || [ $? -eq 1 ]
	gc --compact=all
	is_clean
}

@test "the kernel reads, writes on and cleans what was left" {
	need_guest uml
	run -3 gc --compact=all
	guest "$image" <<-'SCRIPT'
	nilfs_mount "$DEV1"
	filler 31 4000000 >"$MNT/new"
	sync
	rm "$MNT/new"
	sync
	clean "$DEV1" "$MNT" 0
	nilfs_umount
	SCRIPT
	[ "$status" -eq 0 ] && kernel_content
	is_marked
	[ "$(dump.nilfs2 cat "$image" /kept | cksum)" = "$sum" ]
}
