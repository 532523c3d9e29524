#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Defragmentation: files in pieces are made contiguous, and nothing of them, or
# of the snapshots that share their blocks, changes.

bats_require_minimum_version 1.5.0

load ../kernel/lab
load ../fsck/repaired
load ../fsck/damage
load gc

defrag() {
	gc.nilfs2 --protect 0 --defrag "$@" "$image"
}

# value KEY: of the report in $output.
value() {
	gojq ".defragmentation.$1" <<<"$output"
}

# extents FILE: that it has on the device.
extents() {
	dump.nilfs2 bmap -s --json "$image" "$1" | gojq .map.extents
}

# blocks FILE [CHECKPOINT]: file block, virtual block and block of its data.
blocks() {
	dump.nilfs2 bmap -b ${2+-c "$2"} "$image" "$1" |
		awk '$NF == "data" { print $1, $4, $5 }'
}

# numbers_of FILE [CHECKPOINT]: the virtual blocks only.
numbers_of() {
	blocks "$@" | cut -d ' ' -f 1,2
}

# pieces FILE SIZE: segments of that many blocks that it has data in.
pieces() {
	blocks "$1" | awk -v size="$2" '{ print int($3 / size) }' | sort -u |
		wc -l
}

# start FILE: where its first block is.
start() {
	blocks "$1" | awk 'NR == 1 { print $3 }'
}

@test "a file has one extent in each segment that it needs" {
	begin deep-1k
	[ "$(extents /large)" -eq 7858 ]
	numbers_of /large >before
	run -0 defrag /large --json
	[ "$(value extents_before)" -eq 7858 ]
	[ "$(value extents_after)" -eq "$(extents /large)" ]
	[ "$(extents /large)" -eq "$(pieces /large 1024)" ]
	# Of 15625 blocks, where a segment has 1024 and its log a summary.
	[ "$(extents /large)" -ge 16 ]
	[ "$(extents /large)" -le 17 ]
	[ "$(gojq -c '.files[] | [.path, .extents_before, .extents_after]' \
		<<<"$output")" = "[\"/large\",7858,$(extents /large)]" ]
	# It is the same file under the DAT.
	numbers_of /large | diff before -
	is_clean
	same_trees
}

@test "what snapshots share they share still" {
	begin cleaned
	cno=$(snapshots_of "$image")
	blocks /overwritten "$cno" >old.before
	blocks /overwritten >now.before
	comm -12 <(cut -d ' ' -f 2 old.before | sort) \
		<(cut -d ' ' -f 2 now.before | sort) >shared
	[ "$(wc -l <shared)" -gt 100 ]
	[ "$(extents /overwritten)" -gt 400 ]
	defrag /overwritten
	# 733 blocks, 128 in a segment.
	[ "$(extents /overwritten)" -le 7 ]
	blocks /overwritten "$cno" >old
	blocks /overwritten >now
	diff <(cut -d ' ' -f 1,2 old.before) <(cut -d ' ' -f 1,2 old)
	diff <(cut -d ' ' -f 1,2 now.before) <(cut -d ' ' -f 1,2 now)
	# At one place, which is another one.
	[ "$(cat old now | sort -u | cut -d ' ' -f 2 | grep -cFxf shared)" \
		-eq "$(wc -l <shared)" ]
	[ "$(cat now now.before | grep -cFxf now.before)" -lt 1000 ]
	is_clean
	same_trees
}

@test "files and snapshots stay, and a second run does nothing" {
	for name in $(names); do
		echo "$name:"
		begin "$name"
		sum=$(state_of "$image")
		defrag all --json -n >forecast
		[ "$(state_of "$image")" = "$sum" ]
		run -0 defrag all --json
		diff <(timeless forecast) <(timeless <<<"$output")
		[ "$(value extents_after)" -le "$(value extents_before)" ]
		is_clean
		same_trees
		sum=$(state_of "$image")
		run -0 defrag all --json
		[ "$(value blocks_written)" -eq 0 ]
		[ "$(state_of "$image")" = "$sum" ]
	done
}

@test "blocks move that a superblock or the latest log had near it" {
	# Its superblocks name older logs than the latest one.
	begin crash-cleaning
	run -0 defrag all --json
	[ "$(value extents_before)" -gt 2000 ]
	[ "$(value extents_after)" -le "$(value extents_enough)" ]
	[ "$(value extents_enough)" -le 128 ]
	is_clean
	same_trees
	# Of 30 blocks, where a segment has 64.
	begin crash-sr
	[ "$(extents 15)" -eq 2 ]
	defrag all
	[ "$(extents 15)" -eq 1 ]
	is_clean
	same_trees
}

@test "a file that is in one piece costs nothing" {
	begin deep-1k
	sum=$(state_of "$image")
	run -0 defrag /direct-6 --json
	[ "$(value extents_after)" -eq 1 ]
	[ "$(value batches)" -eq 0 ]
	[ "$(state_of "$image")" = "$sum" ]
}

@test "files lie in the order in which they are named, before all others" {
	for files in '/overwritten /' '/ /overwritten'; do
		begin cleaned
		# shellcheck disable=SC2086
		set -- $files
		defrag "$1" --defrag "$2" -v >table
		[ "$(start "$1")" -lt "$(start "$2")" ]
		awk '$NF ~ /^\//{ print $NF }' table |
			diff <(printf '%s\n' "$@") -
		# What else was there comes behind, be its inode lower.
		[ "$(start "$2")" -lt "$(start /after)" ]
	done
}

@test "with little room or memory it goes batch by batch" {
	begin deep-1k
	gc.nilfs2 --protect 0 --shrink=36M "$image" >/dev/null
	defrag all --json -n >forecast
	run -0 defrag all --json
	diff <(timeless forecast) <(timeless <<<"$output")
	[ "$(value batches)" -gt 2 ]
	[ "$(value extents_after)" -lt $(($(value extents_before) / 2)) ]
	is_clean
	same_trees
	sum=$(state_of "$image")
	defrag all >/dev/null
	[ "$(state_of "$image")" = "$sum" ]
	begin deep-1k
	run -0 defrag /large --max-memory 2M --json
	[ "$(value batches)" -gt 2 ]
	[ "$(value extents_after)" -lt $(($(value extents_before) / 2)) ]
	is_clean
	same_trees
}

@test "other jobs come before it, and a forecast knows what they leave" {
	for option in --free=100% --compact --shrink=40M; do
		echo "$option:"
		begin deep-1k
		# Not all segments can be freed.
		[ "$option" != --free=100% ] || less=-1
		run "${less:--0}" --separate-stderr defrag /large "$option" -n --json
		echo "$output" >forecast
		run "${less:--0}" --separate-stderr defrag /large "$option" --json
		echo "$output" >outcome
		less=
		diff <(timeless forecast) <(timeless outcome)
		[ "$(extents /large)" -le 17 ]
		is_clean
		same_trees
	done
}

@test "a path that leads nowhere is refused" {
	begin deep-1k
	sum=$(state_of "$image")
	run -1 defrag /large --defrag /lorge
	[[ $output == *"/lorge: no such file on the volume"* ]]
	run -1 defrag /large/below
	[[ $output == *"/large/below: no such file"* ]]
	run -2 defrag large
	[[ $output == *"'large' is neither all nor a path"* ]]
	[ "$(state_of "$image")" = "$sum" ]
}

@test "data after the last checkpoint is not given up" {
	spares_data_behind defrag all
}

@test "a damaged segment is left alone, the others are moved" {
	image=$(copy_image cleaned)
	segment=$(blocks /overwritten | awk '$1 == 300 { print int($3 / 128) }')
	log=$(dump.nilfs2 logs -s "$image" "$segment" |
		awk 'NR == 2 { print $2 }')
	sum=$(dump.nilfs2 cat "$image" /overwritten | cksum)
	before=$(extents /overwritten)
	damage_raw "log:$log" ss_magic=0
	run --separate-stderr -3 defrag /overwritten --no-check --json
	[[ $stderr == *"segment $segment: skipped: "* ]]
	[ "$(value segments_left)" -eq 1 ]
	[ "$(extents /overwritten)" -lt "$before" ]
	dump.nilfs2 segments "$image" "$segment" | grep -q -- "-de"
	[ "$(dump.nilfs2 cat "$image" /overwritten | cksum)" = "$sum" ]
}

@test "the kernel reads, writes on and cleans what was made contiguous" {
	need_guest uml
	for name in $(sample 1 deep-1k cleaned plain-checkpoints); do
		echo "$name:"
		image=$(copy_image "$name")
		defrag all >/dev/null
		by_kernel "$name"
		is_clean
	done
}
