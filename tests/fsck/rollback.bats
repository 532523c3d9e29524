#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# An older checkpoint whose files become the latest again.

bats_require_minimum_version 1.5.0
load ../kernel/lab
load damage
load repaired

setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
}

# to CNO: roll back, and nothing is wrong then.
to() {
	run -1 fsck.nilfs2 --rollback="$1" "$image"
	[[ $output == *"rolled back to checkpoint $1,"* ]] && expect
}

latest() {
	dump.nilfs2 info --json "$image" |
		gojq '[.superblocks[].s_last_cno] | max'
}

@test "to each snapshot: the kernel finds the files that it had" {
	need_guest uml
	for name in snapshots cleaned many-snapshots-2k; do
		for file in "$corpus/$name"/manifest.[0-9]*; do
			echo "$name: ${file##*.}"
			image=$(copy_image "$name")
			to "${file##*.}"
			guest "$image" <<-'SCRIPT'
			nilfs_mount "$DEV1"
			manifest "$MNT"
			nilfs_umount
			SCRIPT
			kernel_content
			diff "$file" - <<<"$output"
			[ "$name" != many-snapshots-2k ] || break
		done
	done
}

# A block that the DAT calls dead, and is not, would be gone after cleaning.
@test "the kernel writes on, and cleans, and the files are there" {
	need_guest uml
	share=$BATS_TEST_TMPDIR/share
	mkdir "$share"
	image=$(copy_image cleaned)
	to 2
	guest --share "$share" "$image" <<-'SCRIPT'
	nilfs_mount "$DEV1"
	put "$MNT/afterwards" 0 7 3000000
	sync
	rm "$MNT/afterwards"
	sync
	clean "$DEV1" "$MNT" 0
	nilfs_umount
	nilfs_mount "$DEV1"
	manifest "$MNT" >"$SHARE/after"
	nilfs_umount
	SCRIPT
	[ "$status" -eq 0 ]
	kernel_content
	diff <(grep -v $'\t\.$' "$corpus/cleaned/manifest.2") \
		<(grep -v $'\t\.$' "$share/after")
	expect
}

@test "and back again" {
	image=$(copy_image snapshots)
	cno=$(latest)
	tree >want
	to 8
	run ! diff want <(tree)
	to "$cno"
	tree >got
	diff want got
	[ "$(latest)" -eq $((cno + 2)) ]
	kernel_uses snapshots
}

@test "to the checkpoint of a time" {
	image=$(copy_image snapshots)
	time=$(awk '$1 == 8 { print $2 "T" $3 "Z" }' "$corpus/snapshots/lscp")
	newest=$(awk -v t="$time" '$2 "T" $3 "Z" == t { cno = $1 }
		END { print cno }' "$corpus/snapshots/lscp")
	run -1 fsck.nilfs2 --rollback="$time" "$image"
	[[ $output == *"rolled back to checkpoint $newest,"* ]] && expect
	run -8 fsck.nilfs2 --rollback=1999-12-31 "$image"
	[[ $output == *"1999-12-31T00:00:00Z: there was no checkpoint yet"* ]]
	run -16 fsck.nilfs2 --rollback=2026-13-01 "$image"
}

@test "after two of them snapshots are right, whatever was deleted" {
	image=$(copy_image snapshots)
	cno=$(latest)
	to 8
	to "$cno"
	gc.nilfs2 -q --free 0 --delete-checkpoints "8..20,22..$((cno + 1))" \
		"$image" >/dev/null
	run -0 fsck.nilfs2 -fn "$image"
}

@test "without a number it is the one before, and no minor one" {
	image=$(copy_image cleaned)
	run -1 fsck.nilfs2 --rollback "$image"
	[[ $output == *"rolled back to checkpoint 10,"* ]]
	tree 10 >want
	tree >got
	diff want got
}

@test "other checkpoints stay what they were" {
	image=$(copy_image snapshots)
	cnos=$(dump.nilfs2 checkpoints --json "$image" |
		gojq '.checkpoints[].checkpoint')
	for cno in $cnos; do tree "$cno"; done >want
	to 8
	for cno in $cnos; do tree "$cno"; done >got
	diff want got
}

# The counts say what is live, and what only snapshots keep.
@test "exact counts of live blocks stay exact" {
	mkdir a b
	head -c 70000 /dev/urandom >a/one
	head -c 30000 /dev/urandom >a/two
	head -c 50000 /dev/urandom >b/one
	for snapshot in '' --snapshot; do
		image=counted$snapshot.image
		mkfs.nilfs2 -q -b 1K -B 16 --size 4M -O sufile_live_blks_ext \
			$snapshot -d a -d b "$image"
		to 1
		dump.nilfs2 cat "$image" /one | cmp - a/one
		to 2
		dump.nilfs2 cat "$image" /one | cmp - b/one
		run -0 fsck.nilfs2 --rebuild-counters "$image"
	done
}

@test "there has to be such a checkpoint, and no damage" {
	image=$(copy_image snapshots)
	before=$(state_of "$image")
	run -8 fsck.nilfs2 --rollback=1000 "$image"
	[[ $output == *"checkpoint 1000: "* ]]
	run -16 fsck.nilfs2 --rollback=x "$image"
	run -16 fsck.nilfs2 -n --rollback "$image"
	[ "$(state_of "$image")" = "$before" ]
	damage suheader sh_ncleansegs=1
	before=$(state_of "$image")
	run -4 fsck.nilfs2 --rollback "$image"
	[[ $output == *"damaged, no rollback"* ]]
	[ "$(state_of "$image")" = "$before" ]
}

@test "nothing is left of it where there is no room" {
	image=$(copy_image nearly-full)
	before=$(state_of "$image")
	run fsck.nilfs2 --rollback "$image"
	[ "$status" -eq 1 ] || [ "$(state_of "$image")" = "$before" ]
	expect
}

# Checkpoint 5 was made in the middle of "rm -r": it has a file without links.
@test "to each checkpoint that is sound, whatever a deletion had left in it" {
	local cno

	for cno in 1 2 3 4 5 6 8 20; do
		image=$(copy_image snapshots)
		dump.nilfs2 export -c "$cno" "$image" then.tar
		run -1 fsck.nilfs2 --rollback="$cno" "$image"
		dump.nilfs2 export "$image" now.tar
		cmp then.tar now.tar
		rm then.tar now.tar
	done
}

@test "what is damaged in the checkpoint is named" {
	image=$(copy_image snapshots)
	damage -c 8 inode:/changing i_size=18446744073709551615
	before=$(cksum <"$image")
	run -8 fsck.nilfs2 --rollback=8 "$image"
	[[ $output == *"checkpoint 8 is damaged: "*"inode "*"; nothing was changed"* ]]
	[ "$(cksum <"$image")" = "$before" ]
}
