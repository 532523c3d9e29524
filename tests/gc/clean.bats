#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Cleaning: nothing that anybody has a name for changes, whatever the policy.

bats_require_minimum_version 1.5.0

load ../kernel/lab
load ../fsck/repaired
load gc

policies="optimal greedy cost-benefit cost-benefit-lfs data-first weighted weighted:120
	timestamp"

# value KEY: of the report in $output.
value() {
	gojq ".result.$1" <<<"$output"
}

same_after() {
	gc "$@" >said 2>&1 || {
		cat said
		return 1
	}
	is_clean && same_trees
}

@test "all policies keep files and snapshots" {
	for name in $(names 3); do
		for policy in $policies; do
			begin "$name"
			echo "$name: $policy"
			same_after --policy "$policy"
		done
	done
}

@test "a window of a few segments is enough" {
	begin nearly-full
	same_after --policy greedy --max-search 20
}

@test "a second run finds nothing to do" {
	begin nearly-full
	gc >/dev/null
	before=$(state_of "$image")
	run gc --json
	[ "$status" -eq 0 ]
	[ "$(value segments_cleaned)" -eq 0 ]
	[ "$(state_of "$image")" = "$before" ]
}

@test "the forecast is what happens, and changes nothing" {
	for name in nearly-full deep-1k snapshots; do
		# shellcheck disable=SC2086
		for policy in $(sample 4 $policies); do
			begin "$name"
			before=$(state_of "$image")
			gc --json -n --policy "$policy" >forecast
			[ "$(state_of "$image")" = "$before" ]
			gc --json --policy "$policy" >outcome
			diff <(timeless forecast) <(timeless outcome)
		done
	done
}

@test "the forecast goes on over all batches" {
	begin nearly-full
	gc.nilfs2 --json -n --protect 0 "$image" >forecast
	gc.nilfs2 --json --protect 0 "$image" >outcome
	diff <(timeless forecast) <(timeless outcome)
}

@test "what is said to be free is what dump.nilfs2 counts" {
	begin deep-1k
	run gc --json
	[ "$(value clean_after)" -gt "$(value clean_before)" ]
	clean=$(dump.nilfs2 segments -a "$image" | awk '$2 == "----"' | wc -l)
	[ "$(value clean_after)" -eq "$clean" ]
}

@test "so many segments are freed as were asked for" {
	for amount in 3 1M 1%; do
		begin nearly-full
		run gc --json --free "$amount"
		echo "$amount: $output"
		[ "$status" -eq 0 ]
		[ "$(($(value clean_after) - $(value clean_before)))" -ge 3 ]
		[ "$(($(value clean_after) - $(value clean_before)))" -le 224 ]
		is_clean
		same_trees
	done
}

@test "fewer segments than were asked for are not enough" {
	begin nearly-full
	run --separate-stderr -1 gc --json --free 90%
	[[ $stderr == *"--free: "*" segments requested, "*" freed"* ]]
	[ "$(value clean_after)" -gt "$(value clean_before)" ]
	is_clean
	same_trees
}

@test "what the protection period covers stays" {
	begin plain-checkpoints
	dump.nilfs2 checkpoints "$image" >before
	gc.nilfs2 --protect 1000000000 --min-reclaimable 0 "$image"
	is_clean
	grep -Ff <(awk '$1 ~ /^[0-9]+$/ { print $1, $2, $3 }' before) \
		<(dump.nilfs2 checkpoints "$image" |
			awk '{ print $1, $2, $3 }') >kept
	[ "$(wc -l <kept)" -eq "$(awk '$1 ~ /^[0-9]+$/' before | wc -l)" ]
}

@test "data after the last checkpoint is not given up" {
	spares_data_behind gc
}

@test "the kernel reads, writes on and cleans what was cleaned" {
	need_guest uml
	for name in $(sample 2 nearly-full deep-1k snapshots plain-checkpoints); do
		echo "$name:"
		image=$(copy_image "$name")
		gc >/dev/null
		by_kernel "$name"
		is_clean
	done
}

# history SIZE: $image of SIZE with 750 checkpoints; a block of the first 350 lives in
# as many, which all have to be deleted, each from another block of the cpfile, if it
# is to be freed.
history() {
	local i sources=()

	mkdir d{1..750}
	for ((i = 1; i <= 750; i++)); do
		printf '%2000d' $i >d$i/$((i > 700 ? 0 : i % 350))
		sources+=(-d d$i)
	done
	image=$PWD/image
	mkfs.nilfs2 -q -b 1024 -B 16 -m 1 -P 1000000000 --mtime 1000000000 \
		"${sources[@]}" --size "$1" "$image"
}

@test "the first batch is cut to the room that there is, by every job" {
	history 22100K
	remember
	for job in --policy=optimal --compact --purge; do
		echo "$job:"
		cp --sparse=always "$image" copy
		gc --json "$job" >outcome
		gojq '.result // .compaction' outcome >done
		[ "$(gojq .clean_before done)" -lt 12 ]
		[ "$(gojq .clean_after done)" -gt 1000 ]
		is_clean
		mv "$image" last
		mv copy "$image"
	done
	image=last
	same_trees
}
