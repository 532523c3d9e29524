#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Checkpoints become snapshots and plain checkpoints again, and the present state
# is kept as one: the list and all counts are right, and the kernel agrees.

bats_require_minimum_version 1.5.0

load ../kernel/lab
load ../fsck/repaired
load ../fsck/damage
load gc

# change OPTION...: of $image.
change() {
	gc.nilfs2 "$@" "$image"
}

# value KEY: of the report in $output.
value() {
	gojq ".snapshots.$1" <<<"$output"
}

# same_plain: the trees of begin's snapshots that still are some, and the latest.
same_plain() {
	diff <(grep -E "^($(trees_of "$image" | cut -d ' ' -f 1 |
		paste -sd '|')) " trees.sound) \
		<(grep -E "^($(cut -d ' ' -f 1 trees.sound | paste -sd '|')) " \
			<(trees_of "$image"))
}

@test "there and back, as chcp has it" {
	for name in $(names); do
		begin "$name"
		echo "$name:"
		checkpoints >all
		checkpoints -s >before
		run -0 change --json --to-snapshot ..
		[ "$(value made)" -eq $(($(wc -l <all) - $(wc -l <before))) ]
		diff all <(checkpoints -s)
		is_clean
		same_plain
		list=$(paste -sd , <(grep -vxFf before all))
		[ -n "$list" ] || continue
		run -0 change --json --to-checkpoint "$list"
		[ "$(value unmade)" -eq "$(tr , '\n' <<<"$list" | wc -l)" ]
		diff before <(checkpoints -s)
		is_clean
		same_trees
	done
}

@test "one in the middle of the list, at its ends, and alone" {
	for first in snapshots plain-checkpoints; do
		begin $first
		set -- $(checkpoints)
		for pick in "$1" "$5" "$3" "$2" "$9"; do
			checkpoints -s >before
			change --to-snapshot "$pick"
			diff <(checkpoints -s) <(sort -nu before - <<<"$pick")
			is_clean
		done
		for pick in "$5" "$1" "$9" "$2" "$3"; do
			checkpoints -s >before
			change --to-checkpoint "$pick"
			diff <(checkpoints -s) <(grep -vx "$pick" before)
			is_clean
		done
		same_plain
	done
}

@test "the present state is kept, and survives what follows" {
	begin plain-checkpoints
	latest=$(checkpoints | tail -n 1)
	run -0 change --json --take-snapshot
	[ "$(value taken)" -eq $((latest + 1)) ]
	[ "$(checkpoints -s)" = $((latest + 1)) ]
	[ "$(checkpoints | wc -l)" -gt 1 ]
	is_clean
	sum=$(grep '^0 ' trees.sound | cut -d ' ' -f 2-)
	diff <(trees_of "$image") - <<-EOT
	0 $sum
	$((latest + 1)) $sum
	EOT
	gc --compact --delete-checkpoints ..$latest
	is_clean
	diff <(trees_of "$image") - <<-EOT
	0 $sum
	$((latest + 1)) $sum
	EOT
}

# counted: the live-block counts of $image are marked as exact, and are.
counted() {
	local before

	is_clean || return
	before=$(state_of "$image")
	run -0 fsck.nilfs2 --rebuild-counters "$image"
	[ "$(state_of "$image")" = "$before" ]
}

@test "counts of live blocks follow" {
	for name in snapshots plain-checkpoints; do
		begin $name
		change -O sufile_live_blks_ext
		counted
		change --to-snapshot 3..6
		counted
		change --to-checkpoint ..4 --take-snapshot
		counted
		change --take-snapshot
		counted
		change --to-checkpoint ..
		counted
		[ -z "$(checkpoints -s)" ]
	done
}

@test "snapshots that became checkpoints are deleted without force" {
	begin snapshots
	held=$(checkpoints -s)
	run -0 gc -q --json --to-checkpoint .. --delete-checkpoints .. --free 0
	[ "$(gojq .deleted.snapshots <<<"$output")" -eq 0 ]
	run checkpoints
	! grep -qxF "$held" <<<"$output"
	is_clean
	begin plain-checkpoints
	set -- $(checkpoints)
	run -0 gc --to-snapshot "$4" --delete-checkpoints .. --keep-snapshots \
		--compact
	[ "$(checkpoints -s)" = "$4" ]
	is_clean
}

@test "nothing to change writes nothing, a forecast neither" {
	begin snapshots
	before=$(state_of "$image")
	run -0 change --json --to-snapshot "$(checkpoints -s | paste -sd ,)"
	[ "$(value made)" -eq 0 ]
	run -0 change -n --take-snapshot --to-snapshot 1..
	run -1 change --to-snapshot 4000..
	[[ $output == *"no checkpoint from 4000"* ]]
	run -2 change --to-snapshot 5..3
	run -2 change --to-snapshot 2..5 --to-checkpoint 5
	[[ $output == *"in a range of"* ]]
	run -2 change --take-snapshot --output copy
	[ "$(state_of "$image")" = "$before" ]
}

@test "a damaged checkpoint is not made a snapshot" {
	begin plain-checkpoints
	set -- $(checkpoints)
	damage "checkpoint:$4" "cp_ifile_inode.i_bmap[1]=1"
	is_clean
	before=$(state_of "$image")
	run -4 change --to-snapshot "$3..$5"
	echo "$output"
	[[ $output == *"a checkpoint of --to-snapshot is damaged"* ]]
	[ "$(state_of "$image")" = "$before" ]
	run -0 change --to-snapshot "$3,$5"
	is_clean
}

@test "volumes that others must repair or recover are left as they are" {
	spares_data_behind gc.nilfs2 --take-snapshot \
		"$BATS_TEST_TMPDIR/crash-dsync.image"
	image=$(copy_image snapshots)
	damage super:1 s_state=3
	damage super:2 s_state=3
	before=$(state_of "$image")
	run -4 change --to-snapshot ..
	[ "$(state_of "$image")" = "$before" ]
}

# Checkpoints show the kernel what export shows of them.
@test "the kernel lists, mounts, changes and deletes them" {
	need_guest uml
	begin plain-checkpoints
	set -- $(checkpoints)
	change --to-snapshot "$2,$5,$7" --take-snapshot
	change --to-checkpoint "$5"
	taken=$(checkpoints -s | tail -n 1)
	[ "$(checkpoints -s | wc -l)" -eq 3 ]
	lists_ours
	guest --share share "$image" <<-SCRIPT
	$kernel_lists
	for cno in $2 $7 $taken; do
		nilfs_mount -o ro,cp=\$cno "\$DEV1" /mnt/\$cno
		manifest /mnt/\$cno >"\$SHARE/manifest.\$cno"
		nilfs_umount /mnt/\$cno
	done
	! nilfs_mount -o ro,cp=$5 "\$DEV1" /mnt/plain
	chcp ss "\$DEV1" $5
	chcp cp "\$DEV1" $7
	rmcp "\$DEV1" $7
	noise 1 300000 >"\$MNT/more"; sync; rm "\$MNT/more"; sync
	clean "\$DEV1" "\$MNT" 0
	nilfs_mount -o ro,cp=$2 "\$DEV1" /mnt/$2
	manifest /mnt/$2 >"\$SHARE/again"
	nilfs_umount /mnt/$2
	nilfs_umount
	SCRIPT
	kernel_agrees plain-checkpoints
	diff share/manifest."$taken" share/manifest
	diff share/again share/manifest."$2"
	diff <(checkpoints -s) <(printf '%s\n' "$2" "$5" "$taken")
	is_clean
}
