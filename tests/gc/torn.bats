#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Logs after the latest checkpoint that a mount gets nothing from: a cleaner or
# a writer was cut off before its last log, with the super root, was written.

bats_require_minimum_version 1.5.0

load ../kernel/lab
load ../fsck/repaired
load ../fsck/damage
load gc

# torn [FLAGS]: $image ends in the logs of a cleaner, the first at block $first:
# the last, with the super root, is broken, and so is what the kernel wrote
# later.  The one before, at block $whole, gets other FLAGS.
torn() {
	local known=$BATS_FILE_TMPDIR/torn,${1-}

	[ -d "$known" ] || {
		make_torn "$@" || return
		mkdir "$known"
		echo "$first $whole" >"$known/logs"
		mv image trees.sound dat.sound "$known"
	}
	cp --sparse=always "$known"/* .
	image=$PWD/image
	read -r first whole <logs
}

make_torn() {
	local n cno pseg seq last log

	cp --sparse=always "$corpus/cleaned-1k/image" .
	image=image
	read -r cno pseg seq first whole last < <(cut_off)
	for log in $(later "$cno"); do
		damage_raw "log:$log" ss_magic=0
	done
	damage_raw "log:$last" ss_datasum=0
	[ -z "${1-}" ] || damage "log:$whole" "ss_flags=$1"
	for n in 1 2; do
		damage "super:$n" "s_last_cno=$cno" "s_last_pseg=$pseg" \
			"s_last_seq=$seq" s_state=none
	done
	remember
}

# later NUMBER: the logs of the checkpoints after the one after NUMBER.
later() {
	dump.nilfs2 logs --json "$image" |
		gojq ".logs[] | select(.ss_cno > $1 + 1) | .blocknr"
}

# cut_off: number, block and sequence number of the log that the cleaner's
# checkpoint before the last follows; its first log, last but one, and last.
# Where they are depends on when the kernel's cleaner ran.
cut_off() {
	dump.nilfs2 logs --json "$image" | gojq -r '.logs | sort_by(.ss_seq, .blocknr) |
		(map(.ss_cno) | max - 1) as $cno |
		map(select(.ss_cno == $cno)) as $logs |
		map(select(.ss_cno < $cno))[-1] as $before |
		"\($before | "\(.ss_cno) \(.blocknr) \(.ss_seq)") \($logs |
			"\(.[0].blocknr) \(.[-2].blocknr) \(.[-1].blocknr)")"'
}

# behind: 'FIRST LAST' of the logs after the latest checkpoint of $image.
behind() {
	dump.nilfs2 info --json "$image" | gojq -r '.. | select(.orphans_first?) |
		"\(.orphans_first) \(.orphans_last)"'
}

# goes_on OPTION...: it is done as it was forecast, loses nothing, leaves no log
# after the latest, and a second run finds nothing to do.
goes_on() {
	local sum

	echo "$*:"
	sum=$(state_of "$image")
	gc --json -n "$@" >forecast
	[ "$(state_of "$image")" = "$sum" ]
	gc --json "$@" >outcome
	diff <(timeless forecast) <(timeless outcome)
	is_clean && same_trees || return
	[ -z "$(behind)" ] || return
	# Not state_of: --purge frees again what is free.
	sum=$(image_sum "$image")
	gc --json "$@" >/dev/null
	[ "$(image_sum "$image")" = "$sum" ]
}

@test "a volume is cleaned after them" {
	torn
	[ "$(behind)" = "$first null" ]
	goes_on
	[ "$(gojq .result.segments_cleaned outcome)" -gt 0 ]
}

@test "so are those whose last log says that it is the last" {
	torn logend,gc
	[ "$(behind)" = "$first $whole" ]
	goes_on
}

@test "what else moves blocks goes on after them, too" {
	for job in --compact --compact=all --shrink=min --purge; do
		torn
		goes_on "$job"
	done
}

@test "so does what moves none" {
	for job in -Osufile_live_blks_ext --grow=20M --delete-checkpoints=19; do
		torn
		gc.nilfs2 "$job" "$image"
		is_clean && same_trees
		[ -z "$(behind)" ]
	done
}

@test "a mount that would fail because of them is left to the user" {
	torn logend,gc
	damage "log:$first" ss_flags=logbgn,syndt
	sum=$(state_of "$image")
	run -4 gc
	[[ $output == *"run fsck.nilfs2"* ]]
	[ "$(state_of "$image")" = "$sum" ]
}

@test "the kernel mounts and writes what was cleaned after them" {
	need_guest uml
	for job in --min-reclaimable=0 --compact=all --shrink=8M; do
		torn
		gc "$job"
		mv "$image" "image$job"
	done
	each_by_kernel cleaned-1k "$PWD"/image--*
}
