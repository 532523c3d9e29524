#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Label, UUID and intervals of an existing volume: nilfs-tune and blkid read
# what was set, the kernel mounts it, also with one of the superblocks old.

bats_require_minimum_version 1.5.0

load ../kernel/lab
load ../fsck/repaired
load ../fsck/damage
load gc

uuid=01234567-89ab-cdef-8123-456789abcdef

# properties OPTION...: of $image.
properties() {
	gc.nilfs2 "$@" "$image"
}

# field NAME: of the superblocks.
field() {
	dump.nilfs2 info --json "$image" | gojq -c "[.superblocks[].$1]"
}

# listed LABEL: what nilfs-tune said in the guest.
listed() {
	sed -n "s/^$1[^:]*:[[:space:]]*//p" share/listed
}

# same_body NAME: as that image has it, but for the superblocks.
same_body() {
	cmp -l "$corpus/$1/image" "$image" |
		awk -v size="$(stat -c %s "$image")" '
			$1 > 4096 && $1 <= size - 4096 { bad = 1 }
			END { exit !NR || bad }'
}

@test "blkid reads what was set" {
	for name in $(names); do
		begin "$name"
		echo "$name:"
		run -0 properties --json -L "a name" -U $uuid \
			--check-interval 3600 --max-mounts 7 \
			--commit-interval 9 --commit-blocks 500
		[ "$(gojq .properties.changed <<<"$output")" = true ]
		[ "$(blkid -p -o value -s LABEL "$image")" = "a name" ]
		[ "$(blkid -p -o value -s UUID "$image")" = $uuid ]
		[ "$(field s_checkinterval)" = '[3600,3600]' ]
		[ "$(field s_max_mnt_count)" = '[7,7]' ]
		[ "$(field s_c_interval)" = '[9,9]' ]
		[ "$(field s_c_block_max)" = '[500,500]' ]
		same_body "$name"
		is_clean
		same_trees
		before=$(state_of "$image")
		run -0 properties --json -L "a name" --max-mounts 7
		[ "$(gojq .properties.changed <<<"$output")" = false ]
		[ "$(state_of "$image")" = "$before" ]
	done
}

@test "values at their limits, and what does not fit" {
	begin snapshots
	long=$(printf '%080d' 0)
	properties -q -L "$long" --check-interval 4294967295 --max-mounts -1
	[ "$(blkid -p -o value -s LABEL "$image")" = "$long" ]
	[ "$(field s_checkinterval)" = '[4294967295,4294967295]' ]
	[ "$(field s_max_mnt_count)" = '[65535,65535]' ]
	properties -q --label= --check-interval 0 -U clear --max-mounts 0
	[ -z "$(blkid -p -o value -s LABEL "$image")" ]
	[ "$(field s_uuid)" = '["00000000-0000-0000-0000-000000000000","00000000-0000-0000-0000-000000000000"]' ]
	[ "$(field s_checkinterval)" = '[0,0]' ]
	[ "$(field s_max_mnt_count)" = '[65535,65535]' ]
	properties -q -U random
	first=$(blkid -p -o value -s UUID "$image")
	properties -q -U time
	second=$(blkid -p -o value -s UUID "$image")
	[ "${first:14:1}${second:14:1}" = 41 ]
	before=$(state_of "$image")
	for option in "-L ${long}0" "-U x" "--check-interval 4294967296" \
		"--check-interval -1" "--max-mounts 65535" "--max-mounts -2" \
		"--commit-interval -1" "--commit-interval x" \
		"--commit-blocks 4294967296" "--commit-blocks -1"; do
		# shellcheck disable=SC2086
		run -2 properties $option
	done
	run -2 properties -L x --output copy
	[[ $output == *"--output and --label exclude"* ]]
	run -0 properties -n -L other
	[[ $output == *other* ]]
	[ "$(state_of "$image")" = "$before" ]
	is_clean
}

@test "volumes that others must repair or recover are left as they are" {
	spares_data_behind gc.nilfs2 -L x "$BATS_TEST_TMPDIR/crash-dsync.image"
	image=$(copy_image snapshots)
	damage super:1 s_state=3
	damage super:2 s_state=3
	before=$(state_of "$image")
	run -4 properties -L x
	[ "$(state_of "$image")" = "$before" ]
	truncate -s 40M ext4
	mkfs.ext4 -q ext4
	before=$(state_of ext4)
	run gc.nilfs2 -L x ext4
	[ "$status" -ne 0 ]
	[ "$(state_of ext4)" = "$before" ]
}

@test "jobs that follow keep it, and are done" {
	begin snapshots
	run -0 gc --json -L name -U $uuid --free 1 -O sufile_live_blks_ext
	[ "$(gojq .properties.changed <<<"$output")" = true ]
	[ "$(gojq .features.changed <<<"$output")" = true ]
	[ "$(field s_volume_name)" = '["name","name"]' ]
	# As the kernel leaves a volume that it unmounts.
	[ "$(field s_state)" = '[1,1]' ]
	is_clean
	same_trees
}

# second: where the second superblock of $image begins.
second() {
	echo $((($(stat -c %s "$image") / 4096 - 1) * 4096))
}

# The power goes off between the two writes; of two superblocks with the same
# log the first one is used.
@test "fsck at boot and the kernel accept one new superblock" {
	need_guest uml
	for old in first second; do
		begin snapshots
		properties -q -L first -U clear
		cp --sparse=always "$image" before
		properties -q -L second -U $uuid
		at=1024
		[ $old = first ] || at=$(second)
		dd if=before of="$image" bs=1024 seek=$((at / 1024)) \
			skip=$((at / 1024)) count=1 conv=notrunc status=none
		cp --sparse=always "$image" half
		run -0 fsck.nilfs2 -a "$image"
		run -0 fsck.nilfs2 -fn "$image"
		same_trees
		properties -q -L second -U $uuid
		[ "$(field s_volume_name)" = '["second","second"]' ]
		mv half "$PWD/$old"
	done
	each_by_kernel snapshots "$PWD/first" "$PWD/second"
	image=$PWD/first
	[ "$(field s_volume_name)" = '["first","first"]' ]
	is_clean
	image=$PWD/second
	[ "$(field s_volume_name)" = '["second","second"]' ]
	is_clean
}

@test "the kernel reads, writes and cleans under another UUID" {
	need_guest uml
	begin snapshots
	properties -q -L new -U $uuid --commit-interval 2 --commit-blocks 9 \
		--max-mounts -1 --check-interval 77
	by_kernel snapshots 'nilfs-tune -f -l "$DEV1" >"$SHARE/listed"' \
		'cat "/sys/fs/nilfs2/${DEV1##*/}/uuid" >"$SHARE/uuid"'
	cat share/listed
	[ "$(cat share/uuid)" = $uuid ]
	[ "$(listed 'Filesystem volume name')" = new ]
	[ "$(listed 'Filesystem UUID')" = $uuid ]
	[ "$(listed 'Commit interval')" = 2 ]
	[ "$(listed '# of blks to create seg')" = 9 ]
	[ "$(field s_checkinterval)" = '[77,77]' ]
	[ "$(blkid -p -o value -s UUID "$image")" = $uuid ]
	[ "$(field s_max_mnt_count)" = '[65535,65535]' ]
	is_clean
}
