#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Superblocks that are repaired: from each other, from themselves, from logs.

bats_require_minimum_version 1.5.0
load ../kernel/lab
load damage
load repaired

setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
	image=$(copy_image cleaned)
}

# fields FIELD...: of both copies of $image, as JSON.
fields() {
	dump.nilfs2 info --json "$image" |
		gojq -c "[.superblocks[] | [$(printf '.%s,' "$@" | sed 's/,$//')]]"
}

# wipe_both: no copy is left at all.
wipe_both() {
	dd if=/dev/zero of="$image" bs=1024 seek=1 count=1 conv=notrunc status=none
	dd if=/dev/zero of="$image" bs=4096 conv=notrunc status=none count=1 \
		seek=$(($(stat -c %s "$image") / 4096 - 1))
}

@test "a copy that is not valid becomes what the other is" {
	damage_raw super:2 s_wtime=1
	run -1 fsck.nilfs2 -p "$image"
	[[ $output == *"superblock 2: rewritten"* ]]
	expect
	[ "$(fields s_last_cno s_last_seq s_state)" = "[[12,44,1],[12,44,1]]" ]
	for_the_kernel
}

# The older copy leads to checkpoint 11; the chain of logs goes on to 12.
@test "the older copy is no way back" {
	damage_raw super:1 s_wtime=1
	run -1 fsck.nilfs2 -p "$image"
	expect
	[ "$(fields s_last_cno s_last_seq)" = "[[12,44],[12,44]]" ]
	for_the_kernel
}

@test "two copies with wrong checksums lead to the volume still" {
	damage_raw super:1 s_sum=1
	damage_raw super:2 s_wtime=1
	run -1 fsck.nilfs2 -p "$image"
	expect
	[ "$(fields s_last_cno s_state)" = "[[12,1],[12,1]]" ]
	for_the_kernel
}

@test "one field that is wrong in each, and not the same" {
	damage_raw super:1 s_inode_size=7 s_magic=0
	damage_raw super:2 s_sum=0
	repairs
	[ "$(fields s_last_cno s_inode_size)" = "[[12,128],[12,128]]" ]
}

@test "the number of the checkpoint is that of the log" {
	damage super:1 s_last_cno=20
	repairs
	[ "$(fields s_last_cno)" = "[[12],[12]]" ]
	for_the_kernel
}

@test "a copy that leads nowhere, beside one that does" {
	damage super:2 s_last_seq=1000
	repairs
	[ "$(fields s_last_seq)" = "[[44],[44]]" ]
	image=$(copy_image cleaned)
	damage super:1 s_last_pseg=0
	repairs
	[ "$(fields s_last_cno s_last_pseg)" = "[[12,5632],[12,5632]]" ]
	for_the_kernel
}

@test "numbers that the kernel refuses" {
	damage super:1 s_first_ino=10 s_r_segments_percentage=100
	repairs
	[ "$(fields s_first_ino s_r_segments_percentage)" = "[[11,5],[11,5]]" ]
	for_the_kernel
}

@test "a device that grew gets its second copy where it is looked for" {
	truncate -s 65M "$image"
	repairs
	[ "$(fields s_dev_size s_last_cno)" = "[[68157440,12],[68157440,12]]" ]
	blkid -p "$image" | grep -q 'TYPE="nilfs2"'
	damage_raw super:1 s_magic=0
	need_guest uml
	guest "$image" <<-'SCRIPT'
	nilfs_mount "$DEV1"
	manifest "$MNT"
	SCRIPT
	diff "$corpus/cleaned/manifest" - <<<"$output"
}

# nilfs-resize sets the flag while it works.
@test "a change of size that was not completed" {
	damage super:1 s_state=valid,resize
	damage super:2 s_nsegments=100
	repairs
	[ "$(fields s_nsegments s_state)" = "[[127,1],[127,1]]" ]
	for_the_kernel
}

@test "a copy of another volume" {
	damage super:2 s_crc_seed=1 s_blocks_per_segment=64
	run -4 fsck.nilfs2 -p "$image"
	repairs
	[ "$(fields s_blocks_per_segment | gojq -c unique)" = "[[128]]" ]
}

# The kernel's own numbers for the volume are the oracle.
layout() {
	fields s_crc_seed s_log_block_size s_nsegments s_first_data_block \
		s_blocks_per_segment s_inode_size s_dat_entry_size \
		s_checkpoint_size s_segment_usage_size s_rev_level | gojq -c '.[0]'
}

@test "both copies are lost: the logs have what they said" {
	for name in $(sample 2 cleaned cleaned-1k many-snapshots-2k empty \
			nearly-full); do
		echo "$name"
		image=$(copy_image "$name")
		before=$(layout)
		wipe_both
		run -4 fsck.nilfs2 -p "$image"
		[[ $output == *"sb-lost: volume: "* ]]
		repairs
		[ "$(layout)" = "$before" ]
		kernel_uses "$name"
	done
}

@test "both copies make no sense, but have the label still" {
	dump.nilfs2 info --json "$image" | gojq -r '.superblocks[0].s_uuid' >uuid
	damage super:1 s_log_block_size=9 s_volume_name=mine
	damage super:2 s_log_block_size=9 s_volume_name=mine
	repairs
	[ "$(fields s_volume_name s_log_block_size)" = \
		'[["mine",2],["mine",2]]' ]
	[ "$(fields s_uuid)" = "[[\"$(<uuid)\"],[\"$(<uuid)\"]]" ]
}

@test "sizes of a copy without a right checksum are held against the logs" {
	local field

	before=$(layout)
	for field in s_checkpoint_size s_dat_entry_size s_inode_size \
			s_segment_usage_size s_nsegments s_first_data_block; do
		echo "$field"
		image=$(copy_image cleaned)
		damage_raw super:1 $field=$((first = ${first:-96} + 32))
		damage_raw super:2 $field=$((first + 256))
		repairs
		[ "$(layout)" = "$before" ]
	done
}

@test "what only superblocks know is a loss if they are lost" {
	wipe_both
	run -1 fsck.nilfs2 -fy "$image"
	[[ $output == *"lost: superblock: label, UUID"* ]]
	[[ $output == *"lost: data written after checkpoint 12 of "* ]]
	[ "$(grep -c '^lost: ' <<<"$output")" -eq 2 ]
	run -0 fsck.nilfs2 -fn "$image"
}

@test "one copy that is right has all that superblocks know" {
	damage_raw super:1 s_sum=1
	run -1 fsck.nilfs2 -fy "$image"
	[[ $output == *"lost: nothing"* ]]
	image=$(copy_image cleaned)
	damage_raw super:1 s_volume_name=a
	damage_raw super:2 s_volume_name=b
	run -1 fsck.nilfs2 -fy "$image"
	[ "$(grep -c '^lost: ' <<<"$output")" -eq 1 ]
	[[ $output == *"lost: superblock: label"* ]]
}

@test "a label is that of the copy whose checksum is right" {
	local block

	damage super:1 s_volume_name=right
	damage_raw super:2 s_volume_name=wrong
	block=$(dump.nilfs2 info --json "$image" |
		gojq '.superblocks[0].s_last_pseg')
	noise 1 | head -c 4096 | dd of="$image" bs=4096 seek="$block" \
		iflag=fullblock conv=notrunc status=none
	run -1 fsck.nilfs2 -fy "$image"
	[ "$(fields s_volume_name)" = '[["right"],["right"]]' ]
}

# Its logs are older than those of the volume that the device has now.
@test "the logs of a former volume are distinguished from those of the last" {
	mkfs.nilfs2 -q -f -K -b 2048 -B 64 "$image"
	before=$(layout)
	wipe_both
	repairs
	[ "$(layout)" = "$before" ]
}

@test "a device that holds something else is not touched" {
	wipe_both
	mkswap "$image" >/dev/null
	before=$(image_sum "$image")
	run -8 fsck.nilfs2 -y "$image"
	[ "$(image_sum "$image")" = "$before" ]
}

@test "a change of features, cut off between the two superblocks" {
	for old in sufile_live_blks_ext ^sufile_live_blks_ext; do
		[ "$old" = "${old#^}" ] && new=^$old || new=${old#^}
		mkfs.nilfs2 -q --size 16M -B 64 -O "$old" -f volume
		tail -c 4096 volume >second
		gc.nilfs2 -q -O "$new" volume >/dev/null
		dump.nilfs2 info --json volume |
			gojq .superblocks[0].s_segment_usage_size >size
		dd if=second of=volume bs=4096 seek=4095 conv=notrunc \
			status=none
		run -0 fsck.nilfs2 -n volume
		[[ $output == *"sb-features: superblock 2: "* ]]
		run -1 fsck.nilfs2 -a -f volume
		run -0 fsck.nilfs2 -fn volume
		[[ $output == *": clean,"* ]]
		dump.nilfs2 info --json volume |
			gojq .superblocks[1].s_segment_usage_size | cmp - size
		rm volume
	done
}

# Three checkpoints of the same second, and both superblocks are lost.
@test "of states of the same second the later one has the checkpoint of the other" {
	local layer log seq

	for layer in 1 2 3; do
		mkdir "$layer"
		seq 50000 >"$layer/a$layer"
		seq 60000 >"$layer/b$layer"
	done
	image=image
	SOURCE_DATE_EPOCH=1700000000 mkfs.nilfs2 -q --size 16M -B 64 \
		-d 1 -d 2 -d 3 sound
	dump.nilfs2 export sound - >sound.tar
	log=$(dump.nilfs2 logs --json sound | gojq '.logs[] |
		select(.ss_cno == 2 and (.ss_flags_names | index("sr"))).blocknr')
	for seq in 9 99; do
		cp sound image
		damage "log:$log" "ss_seq=$seq"
		wipe_both
		run -1 fsck.nilfs2 -fy image
		[[ $output == *"superblocks: lead to checkpoint 3 again"* ]]
		[ "$(grep -c '^lost: ' <<<"$output")" -eq 2 ]
		run -0 fsck.nilfs2 -fn image
		dump.nilfs2 export image - | cmp - sound.tar
	done
}

@test "the kernel takes what was repaired" {
	kernel_uses cleaned "$BATS_FILE_TMPDIR"/kept/*
}
