#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Logs behind the latest checkpoint that a mount gets nothing from: a cleaner or
# a writer was cut off before its last log, with the super root, was written.

bats_require_minimum_version 1.5.0

load ../kernel/lab
load ../fsck/mended
load ../fsck/damage
load gc

# torn [FLAGS]: $image ends in the logs of a cleaner: that in segment 81, with
# the super root, is broken.  The one before, in 80, gets other FLAGS.
torn() {
	local n

	image=$(copy_image cleaned-1k)
	damage_raw log:5184 ss_datasum=0
	[ -z "${1-}" ] || damage log:5120 "ss_flags=$1"
	for n in 1 2; do
		damage "super:$n" s_last_cno=22 s_last_pseg=5056 \
			s_last_seq=231 s_state=none
	done
	remember
}

# behind: 'FIRST LAST' of the logs behind the latest checkpoint of $image.
behind() {
	dump.nilfs2 info --json "$image" | jq -r '.. | select(.orphans_first?) |
		"\(.orphans_first) \(.orphans_last)"'
}

# goes_on OPTION...: it is done as it was forecast, loses nothing, leaves no log
# behind the latest, and a second run finds nothing to do.
goes_on() {
	local sum

	echo "$*:"
	sum=$(cksum <"$image")
	gc --json -n "$@" >forecast
	[ "$(cksum <"$image")" = "$sum" ]
	gc --json "$@" >outcome
	diff <(timeless forecast) <(timeless outcome)
	is_clean && same_trees || return
	[ -z "$(behind)" ] || return
	sum=$(cksum <"$image")
	gc --json "$@" >/dev/null
	[ "$(cksum <"$image")" = "$sum" ]
}

@test "a volume is cleaned behind them" {
	torn
	[ "$(behind)" = '5109 null' ]
	goes_on
	[ "$(jq .result.segments_cleaned outcome)" -gt 0 ]
}

@test "so are those whose last log says that it is the last" {
	torn logend,gc
	[ "$(behind)" = '5109 5120' ]
	goes_on
}

@test "what else moves blocks goes on behind them, too" {
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
	damage log:5109 ss_flags=logbgn,syndt
	sum=$(cksum <"$image")
	run -1 gc
	[[ $output == *"run fsck.nilfs2"* ]]
	[ "$(cksum <"$image")" = "$sum" ]
}

@test "the kernel mounts and writes what was cleaned behind them" {
	need_guest uml
	for job in --min-reclaimable=0 --compact=all --shrink=8M; do
		torn
		gc "$job"
		by_kernel cleaned-1k
	done
}
