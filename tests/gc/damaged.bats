#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Without a check before, a segment that cannot be cleaned is named and marked,
# so that no other cleaner frees it; the others are cleaned.

bats_require_minimum_version 1.5.0

load ../kernel/lab
load ../fsck/damage
load gc

setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
	begin_kept
	sum=$(dump.nilfs2 cat "$image" /kept | cksum)
	damage_raw "log:$log" ss_magic=0
}

# gc OPTION...: of $image, as it is.
gc() {
	gc.nilfs2 --no-check --protect 0 --min-reclaimable 0 "$@" "$image"
}

is_marked() {
	dump.nilfs2 segments "$image" "$segment" | grep -q -- "-de"
}

@test "it is named and marked, and what lives in it can be read" {
	run --separate-stderr -3 gc --json
	[[ $stderr == *"segment $segment: skipped: "* ]]
	[ "$(gojq .result.segments_left <<<"$output")" -eq 1 ]
	is_marked
	[ "$(dump.nilfs2 cat "$image" /kept | cksum)" = "$sum" ]
	expect
}

@test "the next run passes it over" {
	run -3 gc
	before=$(state_of "$image")
	run -0 gc
	[ "$(state_of "$image")" = "$before" ]
}

@test "the forecast reports it" {
	before=$(state_of "$image")
	run -3 gc --json -n
	[ "$(state_of "$image")" = "$before" ]
	gc -n --json 2>/dev/null >forecast || [ $? -eq 3 ]
	gc --json 2>/dev/null >outcome || [ $? -eq 3 ]
	diff <(timeless forecast) <(timeless outcome)
}

@test "a next segment that is not on the volume ends every job that needs it" {
	image=$(copy_image cleaned-1k)
	log=$(dump.nilfs2 info --json "$image" | gojq .latest.log)
	damage "log:$log" ss_next=$((1 << 32))
	before=$(state_of "$image")
	for job in --compact=all --order=tree; do
		run -1 gc "$job"
		[[ $output == *"the next segment, "*", is not on the volume; run fsck.nilfs2" ]]
		[ "$(state_of "$image")" = "$before" ]
	done
}

@test "a name that leads to no inode is passed over" {
	image=$(copy_image cleaned)
	damage dirent:/kept inode=0xfffffffffffffff
	names=$(dump.nilfs2 ls "$image" / 2>/dev/null)
	gc --compact=all --order tree
	gc --defrag all
	[ "$(dump.nilfs2 ls "$image" / 2>/dev/null)" = "$names" ]
}

@test "the kernel sees the mark, and its cleaner leaves the segment alone" {
	need_guest uml
	run -3 gc
	guest "$image" <<-'SCRIPT'
	nilfs_mount "$DEV1"
	lssu -a "$DEV1"
	filler 31 4000000 >"$MNT/new"
	sync
	rm "$MNT/new"
	sync
	clean "$DEV1" "$MNT" 0
	rewrite "$MNT/churn" 1 8 6000000
	rm "$MNT/churn"
	nilfs_umount
	SCRIPT
	[ "$status" -eq 0 ] && kernel_content
	awk -v s="$segment" '$1 == s && $4 == "-de" { found = 1 }
		END { exit !found }' <<<"$output"
	is_marked
	[ "$(dump.nilfs2 cat "$image" /kept | cksum)" = "$sum" ]
}
