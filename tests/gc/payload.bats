#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What is moved gets a log with a checksum that matches, so it is verified before.
# A flipped bit is corrected, by every job, if the log is so short that other damage
# looks like one in 1 of 4096 cases (128 KiB); other damage stays where it is, in a
# segment in use, for fsck.nilfs2 --data to find.

bats_require_minimum_version 1.5.0

load ../kernel/lab
load ../fsck/repaired
load ../fsck/damage
load gc

# $block is a block of the file "kept", in a log of 512 KiB.
setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
	export SOURCE_DATE_EPOCH=1700000000
	begin_kept
	take_block /kept
}

# take_block FILE: $block is one of it, whose content is $good.
take_block() {
	file=$1
	block=$(dump.nilfs2 bmap -b "$image" "$file" |
		awk '$NF == "data" && $1 == 100 { print $5 }')
	good=$(content)
}

# begin_short: the same of the file "other", in a log of 64 KiB.
begin_short() {
	image=$(copy_image cleaned-1k)
	take_block /other
	owner="/other block 100"
}

content() {
	dump.nilfs2 cat "$image" "$@" "$file" | cksum
}

# change BYTE XOR...: bytes of $block from BYTE on, by exclusive or.
change() {
	local at=$((block * $(block_size) + $1)) xor byte

	for xor in "${@:2}"; do
		byte=$(od -An -tu1 -j "$at" -N 1 "$image")
		printf "\\x$(printf %x $((byte ^ xor)))" |
			dd of="$image" bs=1 seek="$at" conv=notrunc status=none
		at=$((at + 1))
	done
}

# flip [BYTE]: one bit of $block.
flip() {
	change "${1-77}" 4
}

# live_block BLOCKS: one of a file, in $segment of that many.
live_block() {
	# shellcheck disable=SC2046
	dump.nilfs2 block --json "$image" \
		$(seq $((segment * $1 + 1)) $((segment * $1 + $1 - 1))) |
		gojq '[.blocks[] | select(.use.live and .file.kind == "data" and
			.file.ino > 11)][0].blocknr'
}

# Fourteen bits, whose checksum is that of one, bit 0 of byte 77: the others of the
# polynomial 0x104c11db7, of which each multiple has the checksum 0.
resemble() {
	change 77 0x40 0x06 0x71 0xdb 0x01
	bad=$(content)
	[ "$bad" != "$good" ]
}

# Two bits, which no single one explains.
spoil() {
	flip
	flip 500
	bad=$(content)
	[ "$bad" != "$good" ]
}

is_marked() {
	dump.nilfs2 segments "$image" "$segment" | grep -q -- "-de"
}

# sound: all checksums of logs match.
sound() {
	fsck.nilfs2 -nf --data "$image"
}

# has_damage: fsck names the log of $block.
has_damage() {
	run -4 fsck.nilfs2 -nf --data "$image"
	[[ $output == *"log-datasum: "* ]]
}

# stays: what is damaged of $block, whatever $job does.
stays() {
	echo "job $job:"
	cp "$image" copy
	# shellcheck disable=SC2086
	gc -n --json $job 2>/dev/null | timeless >forecast
	# shellcheck disable=SC2086
	run --separate-stderr -3 gc --json $job
	diff forecast <(timeless <<<"$output")
	[[ $stderr == *"segment $segment: skipped: the log at block \
"*" does not match its checksum; blocks of "*/kept*"run fsck.nilfs2 -y \
--data"* ]]
	! is_marked
	[ "$(content)" = "$bad" ] && has_damage
	mv copy "$image"
}

# corrects OPTION...: the bit, and says so, as its forecast does.
corrects() {
	local copy=$image.copy

	echo "$*"
	cp "$image" "$copy"
	before=$(state_of "$image")
	gc -n --json "$@" 2>/dev/null | timeless >forecast
	[ "$(state_of "$image")" = "$before" ]
	run --separate-stderr -0 gc --json "$@"
	diff forecast <(timeless <<<"$output") || return
	[[ $stderr == *"block $block: bit 2 of byte 77 is flipped"*": "$owner ]]
	[ "$(gojq '[.. | .bits_corrected? // 0] | add' <<<"$output")" -eq 1 ]
	sound || return
	mv "$copy" "$image"
}

# How many numbers and checkpoints the job on standard input has freed.
dropped() {
	gojq -c '.result | [.blocks_forgotten, .checkpoints_deleted]'
}

@test "a flipped bit is corrected, reported and counted, by every job" {
	begin_short
	flip
	[ "$(content)" != "$good" ]
	has_damage
	corrects --compact=all
	corrects --order=tree
	corrects --shrink=min
	gc --compact=all
	[ "$(content)" = "$good" ]
}

@test "so it is by cleaning" {
	image=$(copy_image nearly-full)
	segment=$(gc -n -v --json | gojq '[.segments[] |
		select(.fate == "cleaned" and .live > 4)][0].segment')
	remember
	block=$(live_block 16)
	owner="/*"
	wanted=$(gc -n --json | dropped)
	flip
	corrects
	corrects --purge
	# The batch that was made again counts once.
	[ "$(gc -n --json 2>/dev/null | dropped)" = "$wanted" ]
	gc
	is_clean && same_trees
}

@test "so is a block that only a snapshot has, which is named" {
	image=$(copy_image cleaned-1k)
	cno=$(snapshots_of "$image" | tail -n 1)
	read -r at block < <(dump.nilfs2 bmap -b -c "$cno" "$image" /deep |
		awk '$NF == "data" && $1 == 100 { print $1, $5 }')
	owner="checkpoint *: /deep block $at"
	flip
	corrects --compact=all
}

@test "a copy has it right, and the volume is not changed" {
	begin_short
	flip
	before=$(state_of "$image")
	run --separate-stderr -0 gc.nilfs2 --json --protect 0 --output copy \
		"$image"
	[ "$(gojq .copy.bits_corrected <<<"$output")" -eq 1 ]
	[ "$(state_of "$image")" = "$before" ]
	image=copy
	[ "$(content)" = "$good" ] && sound
}

@test "what no bit explains stays where it is, in a segment in use" {
	spoil
	for job in --compact=all --order=tree; do
		stays
	done
}

@test "so does what only looks like a bit, as it may in a log of this size" {
	resemble
	job=--compact=all
	stays
}

@test "no copy is made, and no end is cut off, that would need it" {
	spoil
	before=$(state_of "$image")
	run -1 gc.nilfs2 --protect 0 --output copy "$image"
	[[ $output == *"does not match its checksum"*/kept* ]]
	[[ $output == *"run fsck.nilfs2 -y --data"* ]]
	[ ! -e copy ]
	run -1 gc --shrink=min
	[[ $output == *"does not match its checksum"*/kept* ]]
	[[ $output == *"run fsck.nilfs2 -y --data"* ]]
	[ "$(state_of "$image")" = "$before" ]
}

@test "the last log of a shrink does not take it along" {
	image=$(copy_image small-files)
	segment=13
	block=$(live_block 256)
	flip
	flip 500
	gc --shrink=30M
	! is_marked && has_damage
}

@test "--no-verify moves it, and then nothing shows it" {
	flip
	run -0 gc --no-verify --compact=all
	[ "$(content)" != "$good" ]
	sound
}

@test "fsck reads a segment that is marked, and repairs the bit" {
	flip
	damage "segment:$segment" su_flags=dirty,error
	is_marked
	has_damage
	run -1 fsck.nilfs2 -fy --data "$image"
	[ "$(content)" = "$good" ]
	sound
}
