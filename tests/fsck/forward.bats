#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Data that was synced before a crash, put into its files as a mount would.

bats_require_minimum_version 1.5.0
load ../kernel/lab
load damage
load repaired
load cases

setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
}

# The kernel's recovery of a copy is the oracle.  It mounts what is marked
# valid and recovers nothing then, so what it finds was there.
@test "the files are what the kernel's own recovery makes of them" {
	need_guest uml
	for name in crash-dsync crash-dsync-1k; do
		echo "$name"
		image=$(copy_image "$name")
		run -1 fsck.nilfs2 -p "$image"
		[[ $output == *"as synced before the crash"* ]]
		expect
		run -0 dump.nilfs2 info --json "$image"
		[ "$(gojq -c '[.superblocks[].s_state]' <<<"$output")" = "[1,1]" ]
		guest "$image" <<-'SCRIPT'
		nilfs_mount -o ro,norecovery "$DEV1"
		manifest "$MNT"
		nilfs_umount
		nilfs_mount "$DEV1"
		put "$MNT/afterwards" 0 7 3000000
		sync
		rm "$MNT/afterwards"
		nilfs_umount
		SCRIPT
		[ "$status" -eq 0 ]
		kernel_content
		diff <(manifest --drop blocks - <"$corpus/$name/manifest.recovered") \
			<(manifest --drop blocks - <<<"$output")
		expect
	done
}

@test "where nothing can be recovered nothing is written" {
	for name in crash-sr crash-torn crash-cleaning; do
		echo "$name"
		image=$(copy_image "$name")
		before=$(state_of "$image")
		run -0 fsck.nilfs2 -p "$image"
		[ "$(state_of "$image")" = "$before" ]
	done
}

# The logs of the first try are younger than those of the second.
@test "a repair that was cut before the superblocks, and a clock set back" {
	make_case inode-free.synced
	second=$(($(stat -c %s image) / 4096 - 1))
	cp image before
	SOURCE_DATE_EPOCH=2000000000 run -1 fsck.nilfs2 -fy image
	for block in 0 "$second"; do
		dd if=before of=image bs=4096 skip="$block" seek="$block" \
			count=1 conv=notrunc status=none
	done
	run -4 fsck.nilfs2 -fn image
	[[ $output != *log-chain* ]]
	run -1 fsck.nilfs2 -fy image
	run -0 fsck.nilfs2 -fn image
	[[ $output == *clean* ]]
}

@test "a look changes nothing" {
	image=$(copy_image crash-dsync)
	before=$(state_of "$image")
	run -0 fsck.nilfs2 -n "$image"
	[[ $output == *"the next mount recovers the usable data"* ]]
	[ "$(state_of "$image")" = "$before" ]
}

# as_recovered: what the image has is what the kernel's own recovery found.
as_recovered() {
	guest "$image" <<-'SCRIPT'
	nilfs_mount -o ro,norecovery "$DEV1"
	manifest "$MNT"
	SCRIPT
	diff <(manifest --drop blocks - <"$corpus/crash-dsync/manifest.recovered") \
		<(manifest --drop blocks - <<<"$output")
}

# A log of a repair would hide the logs after the latest one.
@test "it comes before every other repair" {
	need_guest uml
	image=$(copy_image crash-dsync)
	damage_raw super:2 s_wtime=1
	run -1 fsck.nilfs2 -y "$image"
	[[ $output == *"lost: nothing"* ]]
	expect
	as_recovered
}

@test "where metadata is broken it comes last" {
	need_guest uml
	while read -r structure change; do
		echo "$structure $change"
		image=$(copy_image crash-dsync)
		damage "$structure" "$change"
		run -4 fsck.nilfs2 -fn "$image"
		run -1 fsck.nilfs2 -y "$image"
		[[ $output == *"as synced before the crash"* ]]
		[[ $output != *"given up"* ]]
		run -0 fsck.nilfs2 -fn "$image"
		as_recovered
	done <<-'END'
	bitmap:ifile/11 bit=0
	bitmap:dat/11 bit=0
	checkpoint:1 cp_cno=0
	segment:0 su_nblocks=0
	inode:cpfile i_bmap[1]=0
	END
}

# spoil_segments FIRST LAST: marked as erroneous, in the SUFILE itself, as one write of
# each block takes less time than one of each entry.
spoil_segments() {
	local size per block n

	size=$(block_size)
	# A header of the size of two entries of 16 bytes is before the first one.
	per=$((size / 16))
	for ((n = 0; n * per < $2 + 2; n++)); do
		block=$(map_block sufile "$n")
		dd if="$image" bs="$size" skip="$block" count=1 status=none |
			perl -e '
				my ($from, $first, $last) = @ARGV;
				local $/;
				my $text = <STDIN>;
				for ($first .. $last) {
					my $at = ($_ - $from) * 16 + 12;
					substr($text, $at, 4, pack "V", 4)
						if $at >= 0 && $at < length $text;
				}
				print $text' -- $((n * per - 2)) "$1" "$2" |
			overwrite "$block"
	done
}

# Nearly all segments are erroneous: there is room for the repair alone.
@test "where there is no room for it, it is given up, and reported" {
	image=$(copy_image crash-dsync)
	spoil_segments 12 253
	damage bitmap:ifile/11 bit=0
	run -1 fsck.nilfs2 -y "$image"
	[[ $output == *"inode 11: marked as in use"* ]]
	[[ $output == *"logs from block 428 to 576: given up"* ]]
}

@test "what is given up of it is listed, as much as the kernel would recover" {
	image=$(copy_image crash-dsync)
	blocks=$(sed -n 's/.*salvaged \([0-9]*\) blocks/\1/p' \
		"$corpus/crash-dsync/dmesg.recovered")
	spoil_segments 12 253
	damage bitmap:ifile/11 bit=0
	run -1 --separate-stderr fsck.nilfs2 -y --json "$image"
	[ "$(gojq '[.losses[] | select(.latest) | .length] | add' \
		<<<"$output")" = $((blocks * 4096)) ]
	[ "$(gojq -c '[.losses[].path] | unique' <<<"$output")" = \
		'["/a","/b"]' ]
	run -0 fsck.nilfs2 -fn "$image"
}

# Block 428 begins the first of them, 430 a log of one block that others follow,
# 448 is in the middle of what one fdatasync() wrote.
@test "what a damaged log among them has is lost, and nothing that follows it" {
	while read -r block count inode; do
		echo "$block"
		image=$(copy_image crash-dsync)
		dd if=/dev/zero of="$image" bs=4096 seek="$block" count=1 \
			conv=notrunc status=none
		run -1 fsck.nilfs2 -y "$image"
		[[ $output == *"$count blocks of 2 files: recovered as synced"* ]]
		[[ $output == *"lost: latest state: inode $inode, "* ]]
		[[ $output != *"given up"* ]]
		run -0 fsck.nilfs2 -fn "$image"
	done <<-'END'
	429 149 12
	431 149 12
	450 87 13
	END
}

@test "a log among them that is no log any more is named" {
	image=$(copy_image crash-dsync)
	dd if=/dev/zero of="$image" bs=4096 seek=428 count=1 conv=notrunc \
		status=none
	expect log-chain
	run -1 fsck.nilfs2 -y "$image"
	[[ $output == *"149 blocks of 2 files: recovered as synced"* ]]
	[[ $output == *"lost: latest state: data of fdatasync() in the log at block 428"* ]]
	run -0 fsck.nilfs2 -fn "$image"
}

# None of it is of a block that the files have, or of a file, unless the bit is
# flipped back; checksums match.
@test "a bit that was flipped in a listing before it was written is corrected" {
	begin crash-dsync
	fsck.nilfs2 -y "$image" || [ $? -eq 1 ]
	trees_of "$image" >want
	while read -r structure change; do
		echo "$structure $change"
		image=$(copy_image crash-dsync)
		damage "$structure" "$change"
		run -1 fsck.nilfs2 -fy "$image"
		[[ $output == *"lost: nothing"* ]]
		run -0 fsck.nilfs2 -fn "$image"
		diff want <(trees_of "$image")
	done <<-'END'
	binfo:448/5 bi_blkoff=4398046511126
	finfo:428/0 fi_ino=140
	log:428 ss_seq=262150
	END
}
