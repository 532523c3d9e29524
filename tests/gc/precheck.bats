#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Before anything is written the volume is checked: what fsck.nilfs2 calls an
# error is shown, and nothing is changed.

bats_require_minimum_version 1.5.0

load ../kernel/lab
load ../fsck/repaired
load ../fsck/damage
load gc

# refuses SLUG OPTION...: a line begins with SLUG, the status is 4, and $image
# stays as it is.
refuses() {
	local sum

	echo "$*"
	sum=$(state_of "$image")
	run --separate-stderr -4 gc "${@:2}"
	grep -q "^$1: " <<<"$output" || return
	[[ $stderr == *"nothing was changed: "*"run fsck.nilfs2"* ]] || return
	[ "$(state_of "$image")" = "$sum" ]
}

# wrong_entry: a block of $image's file "kept" is another's, says the DAT.
wrong_entry() {
	local from to

	image=$(copy_image cleaned)
	from=$(dump.nilfs2 bmap -b "$image" /kept |
		awk '$NF == "data" && $1 == 3 { print $4 }')
	to=$(dump.nilfs2 bmap -b "$image" /kept |
		awk '$NF == "data" && $1 == 4 { print $5 }')
	damage "dat:$from" "de_blocknr=$to"
}

@test "no job trusts an entry of the DAT that is wrong" {
	wrong_entry
	for job in --free=1 --compact --order=tree --shrink=min --grow=80M \
		--defrag=all --purge --punch --compare --dry-run \
		--delete-checkpoints=1.. --features=sufile_live_blks_ext \
		--label=x --uuid=clear --commit-interval=1 --to-snapshot=.. --to-checkpoint=.. \
		--take-snapshot; do
		refuses dat-double "$job"
	done
	refuses dat-double --output copy
	[ ! -e copy ]
}

@test "nor a bitmap of the DAT" {
	image=$(copy_image cleaned)
	entry=$(dump.nilfs2 bmap -b "$image" /kept |
		awk '$NF == "data" && $1 == 3 { print $4 }')
	damage "bitmap:dat/$entry" bit=0
	refuses palloc-nfrees
}

@test "a log that a superblock names as the latest is not passed over" {
	image=$(copy_image cleaned)
	pseg=$(dump.nilfs2 info --json "$image" |
		gojq '[.. | .s_last_pseg? // empty] | max')
	damage_raw "log:$pseg" ss_datasum=0
	refuses sb-no-super-root
	fsck.nilfs2 -fy "$image" || [ $? -eq 1 ]
	# No checksum says whether its blocks are right.
	run -3 gc
	is_clean
}

@test "findings are members of the JSON document, if there are any" {
	image=$(copy_image cleaned)
	[ "$(gc --json | gojq 'has("findings")')" = false ]
	wrong_entry
	run --separate-stderr -4 gc --json
	[ "$(gojq -r '.findings[0].rule' <<<"$output")" = dat-double ]
}

@test "a warning stops nothing" {
	image=$(copy_image cleaned)
	damage inode:/kept i_blocks=1
	expect inode-blocks
	gc --compact
}

@test "a volume that says that it has errors is for fsck" {
	image=$(copy_image snapshots)
	damage super:1 s_state=error
	damage super:2 s_state=error
	run -4 gc
	[[ $output == *"is marked as having errors"* ]]
}

@test "--no-check takes the volume for sound" {
	wrong_entry
	run -3 gc --no-check
	[[ $output == *"skipped"* ]]
}

# spoil CNO: the type of an inode of snapshot CNO.
spoil() {
	dump.nilfs2 set --expert --fix-checksums -c "$1" "$image" inode:/d \
		i_mode=0 >/dev/null
}

@test "a snapshot that is damaged can be given up, and nothing else be done" {
	image=$(copy_image snapshots)
	spoil 4
	refuses inode-mode --compact
	refuses inode-mode --delete-checkpoints 4
	refuses inode-mode -f --delete-checkpoints 2
	cp "$image" copy
	for job in "-f --delete-checkpoints=4" "--to-checkpoint=4" \
		"-f --delete-checkpoints=4 --free=0"; do
		echo "$job:"
		before=$(state_of "$image")
		# shellcheck disable=SC2086
		gc -n $job
		[ "$(state_of "$image")" = "$before" ]
		# shellcheck disable=SC2086
		gc $job
		is_clean
		cp copy "$image"
	done
	spoil 2
	refuses inode-mode -f --delete-checkpoints=4
	gc -f --delete-checkpoints=4,2
	is_clean
}

@test "but not one whose damage the latest state has" {
	image=$(copy_image snapshots)
	cno=$(snapshots_of "$image" | tail -1)
	dump.nilfs2 set --expert --fix-checksums "$image" inode:/ i_mode=0 \
		>/dev/null
	refuses inode-mode -f --delete-checkpoints="$cno"
	refuses inode-mode --to-checkpoint="$cno"
}
