#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Super roots that are lost: the newest state that is whole becomes the latest.

bats_require_minimum_version 1.5.0
load ../kernel/lab
load damage
load repaired

setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
	image=$(copy_image cleaned)
}

# zero_block NUMBER
zero_block() {
	dd if=/dev/zero of="$image" bs=4096 seek="$1" count=1 conv=notrunc \
		status=none
}

# zero_log NUMBER: the first block of a log and the last, its super root.
zero_log() {
	local length

	length=$(dump.nilfs2 logs -s "$image" $(($1 / 128)) |
		awk -v at="$1" '$2 == at { print $7 }')
	zero_block "$1"
	zero_block $(($1 + length - 1))
}

latest() {
	dump.nilfs2 info --json "$image" | gojq "$1"
}

# kernel_writes_on: the kernel mounts $image, reads all of it, writes on, and
# finds what it wrote after a mount.
kernel_writes_on() {
	need_guest uml
	guest "$image" <<-'SCRIPT'
	nilfs_mount "$DEV1"
	find "$MNT" -type f -exec cat {} + >/dev/null
	put "$MNT/afterwards" 0 7 3000000
	sync
	cksum <"$MNT/afterwards"
	nilfs_umount
	nilfs_mount "$DEV1"
	cksum <"$MNT/afterwards"
	nilfs_umount
	SCRIPT
	[ "$status" -eq 0 ] && kernel_content || return
	[ "$(sort -u <<<"$output" | wc -l)" -eq 1 ] || return
	expect
}

# The newer superblock leads to a log whose ends are gone, the older one
# to none.  Segments that were cleaned since then have super roots
# that are right; a search from there ends in one of them.
@test "one state is lost with its log, and no other" {
	damage super:2 s_last_seq=1000
	tree 10 >want
	zero_log 5632
	expect sb-no-super-root
	repairs
	[[ $output == *"lead to checkpoint 11 again"* ]]
	[ "$(latest '.superblocks[0].s_last_cno')" = 12 ]
	# Checkpoint 11 was made by the cleaner, who changes no file.
	tree >got
	diff want got
	kernel_writes_on
}

@test "two states are lost with the logs of both superblocks" {
	tree 10 >want
	zero_log 5632
	zero_log 5504
	expect sb-no-super-root
	repairs
	[[ $output == *"lead to checkpoint 10 again"* ]]
	tree >got
	diff want got
	kernel_writes_on
}

@test "nothing is lost where only the superblocks name the wrong log" {
	tree 12 >want
	damage super:1 s_last_seq=1000
	damage super:2 s_last_seq=1000
	repairs
	[[ $output == *"lead to checkpoint 12 again"* ]]
	tree >got
	diff want got
	kernel_uses cleaned
}

# No log that is given up can be taken for one that follows: the first of the
# logs of checkpoint 12 is left in segment 43, after the one of checkpoint 11.
@test "the new log has a number above all others, in a segment of its own" {
	damage super:2 s_last_seq=1000
	zero_log 5632
	repairs
	run -0 dump.nilfs2 logs -s --stale "$image"
	[ "$(awk '$1 == 43 { print $3, $10 }' <<<"$output" | xargs)" = \
		"43 11 43 12" ]
	[ "$(latest '.superblocks[0] | [.s_last_seq, .s_state]' | gojq -c .)" = \
		"[44,1]" ]
	[ "$(latest '.superblocks[0].s_last_pseg % 128')" = 0 ]
}

# Segment 35, which the cleaner filled, was written again: a log of checkpoint 8
# is there with a number above all others.  Its own state is none that could be,
# and those of checkpoints 11 and 12 have lost their blocks there.
@test "states of which a part was overwritten are passed over" {
	tree 10 >want
	dd if="$image" of="$image" bs=4096 skip=3200 seek=4480 count=48 \
		conv=notrunc status=none
	damage log:4480 ss_seq=50
	damage super:1 s_last_seq=1000
	damage super:2 s_last_seq=1000
	repairs
	[[ $output == *"lead to checkpoint 10 again"* ]]
	tree >got
	diff want got
	kernel_writes_on
}

# The kernel mounts no volume whose latest log is not what was written.
@test "a latest log with a spoilt block is followed by one that is whole" {
	local block

	mkdir source
	seq 100000 >source/spoilt
	seq 5000 >source/kept
	image=$PWD/fresh
	mkfs.nilfs2 -q --size 256M -d source "$image"
	block=$(dump.nilfs2 bmap -b "$image" /spoilt |
		awk '$NF == "data" { print $5; exit }')
	printf X | dd of="$image" bs=1 seek=$((block * 4096 + 100)) \
		conv=notrunc status=none
	expect sb-no-super-root
	repairs
	[[ $output == *"some blocks have wrong content: check inodes "* ]]
	dump.nilfs2 cat "$image" /kept | cmp - source/kept
	kernel_writes_on
}
