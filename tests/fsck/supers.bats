#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The first pass: superblocks and super root, damaged field by field.

bats_require_minimum_version 1.5.0
load ../kernel/lab
load damage

# An image whose first copy is the newer, by a checkpoint and a segment.
setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
	image=$(copy_image cleaned)
}

# damage_both FIELD=VALUE: the same in both copies.
damage_both() {
	damage super:1 "$1" && damage super:2 "$1"
}

# alone SLUG FIELD=VALUE: in both copies, this breaks that rule and no other.
alone() {
	echo "$1: $2"
	image=$(copy_image cleaned)
	damage_both "$2"
	expect "$1"
}

# senseless SLUG FIELD=VALUE: it breaks that rule, and no program opens the
# volume.
senseless() {
	echo "$1: $2"
	image=$(copy_image cleaned)
	damage_both "$2"
	# shellcheck disable=SC2046
	expect $(printf '%s\n' "$1" sb-lost | sort)
}

@test "a copy that is only older is no finding" {
	run -0 dump.nilfs2 info --json "$image"
	[ "$(gojq -c '[.superblocks[].s_last_cno]' <<<"$output")" = "[12,11]" ]
	[ "$(gojq -c '[.superblocks[].s_state]' <<<"$output")" = "[1,0]" ]
	expect
}

@test "one copy that is not valid is named, and the other used" {
	damage_raw super:1 s_wtime=1
	expect sb-sum
	run -4 fsck.nilfs2 -n "$image"
	[[ $output == *"sb-sum: superblock 1: "* ]]
	blkid -p "$image" | grep -q 'TYPE="nilfs2"'
	image=$(copy_image cleaned)
	damage_raw super:2 s_magic=1
	run -4 fsck.nilfs2 -n "$image"
	[[ $output == *"sb-magic: superblock 2: "*"(found 1)"* ]]
}

@test "without any superblock nothing else is said" {
	damage_raw super:1 s_magic=0
	damage_raw super:2 s_bytes=2000
	expect sb-bytes sb-lost sb-wiped
	run -2 blkid -p "$image"
}

@test "without any superblock -y does not advise -y" {
	truncate -s 64M none
	run -4 fsck.nilfs2 -y none
	[[ $output == *"nothing was changed: no usable starting log found"* ]]
	run -4 fsck.nilfs2 -a none
	[[ $output == *"-y restores it"* ]]
}

@test "numbers that make no volume" {
	senseless sb-rev-level s_rev_level=1
	senseless sb-block-size s_log_block_size=7
	senseless sb-block-size s_log_block_size=0xffffffff
	senseless sb-inode-size s_inode_size=64
	senseless sb-inode-size s_inode_size=65535
	senseless sb-blocks-per-segment s_blocks_per_segment=15
	senseless sb-nsegments s_nsegments=0
	senseless sb-nsegments s_nsegments=0xffffffffffffffff
	senseless sb-dat-entry-size s_dat_entry_size=31
	senseless sb-checkpoint-size s_checkpoint_size=4097
	senseless sb-segment-usage-size s_segment_usage_size=0
	senseless sb-first-data-block s_first_data_block=0xffffffffffffffff
	alone sb-feature-incompat s_feature_incompat=0x80
}

@test "numbers that the kernel refuses, of a volume that can be read" {
	alone sb-first-ino s_first_ino=10
	alone sb-r-segments-percentage s_r_segments_percentage=100
}

@test "features that forbid writing are a warning" {
	damage_both s_feature_compat_ro=5
	run -0 fsck.nilfs2 -n "$image"
	[ "$(grep -c '^sb-feature-compat-ro: .*(found 5)$' <<<"$output")" = 2 ]
}

@test "copies of different volumes" {
	damage super:2 s_crc_seed=1
	run -4 fsck.nilfs2 -n "$image"
	[[ $output == *"sb-copies: superblock 2: "*": s_crc_seed"* ]]
}

@test "a change of size that only one copy knows" {
	damage super:2 s_nsegments=100
	expect sb-resize
	run -0 fsck.nilfs2 -n "$image"
}

@test "a device that has grown has its second copy elsewhere" {
	truncate -s +4096 "$image"
	expect sb-dev-size
	run -0 fsck.nilfs2 -n "$image"
	[[ $output == *"(expected 67108864, found 67112960)"* ]]
	blkid -p "$image" | grep -q 'TYPE="nilfs2"'
}

@test "a device that was cut" {
	truncate -s -4096 "$image"
	run -0 fsck.nilfs2 -n "$image"
	[ "$(found)" = sb-dev-size ]
	truncate -s 60M "$image"
	run -4 fsck.nilfs2 -n --quick "$image"
	[[ $output == *"sb-device-size: superblock 1: "* ]]
}

# As on volumes that were made before there was a second copy.
@test "segments up to the end leave no room for a second copy" {
	damage_both s_nsegments=128
	run -0 fsck.nilfs2 -n --quick "$image"
	[[ ${lines[0]} == "sb-place: superblock 2: "* ]]
	[[ ${lines[1]} == *" 0 errors, 1 warning, "* ]]
	damage_raw super:2 s_magic=0
	run -0 fsck.nilfs2 -n --quick "$image"
	[[ $output == *": clean, "* ]]
}

@test "the word of the kernel that it met errors" {
	damage super:1 s_state=valid,error
	expect sb-state-error
	run -0 fsck.nilfs2 -n "$image"
	run -0 fsck.nilfs2 -n --json "$image"
	[ "$(gojq -c '.summary | [.error_state, .complete]' <<<"$output")" = \
		"[true,true]" ]
	run -1 fsck.nilfs2 -a --json "$image"
	[ "$(gojq -c '.summary | [.error_state, .complete]' <<<"$output")" = \
		"[false,true]" ]
	expect
}

# The kernel says "trying rollback from an earlier position" of these.
@test "a superblock that leads nowhere, and the other that does" {
	damage super:1 s_last_seq=1000
	run -4 --separate-stderr fsck.nilfs2 -n --quick "$image"
	[[ ${lines[0]} == "sb-no-super-root: superblock 1: "* ]]
	[[ ${lines[0]} == *": log at block 5632: "* ]]
	[[ ${lines[1]} == *" 1 error, 0 warnings, "* ]]
	image=$(copy_image cleaned)
	damage super:1 s_last_pseg=0
	run -4 fsck.nilfs2 -n --quick "$image"
	[[ $output == *"sb-last-pseg: superblock 1: "*"(found 0)"* ]]
}

@test "the other way round it is a warning" {
	damage super:2 s_last_seq=1000
	expect sb-spare
	run -0 fsck.nilfs2 -n "$image"
}

@test "no way to any super root" {
	damage super:1 s_last_seq=1000
	damage super:2 s_last_seq=1000
	expect sb-no-super-root
	run -4 fsck.nilfs2 -n --json "$image"
	[ "$(gojq .summary.complete <<<"$output")" = false ]
	[ "$(gojq .summary.checkpoint <<<"$output")" = null ]
}

@test "a number of the latest checkpoint that its log does not have" {
	damage super:1 s_last_cno=13
	expect sb-last-cno
	run -4 fsck.nilfs2 -n --quick "$image"
	[[ $output == *"sb-last-cno: superblock 1: "*"(expected 12, found 13)"* ]]
}

@test "the super root itself" {
	damage superroot sr_flags=1
	expect sr-flags
	damage superroot sr_nongc_ctime=5
	expect sr-flags sr-nongc-ctime
	damage inode:sufile i_mode=0
	expect inode-metadata-mode sr-flags sr-nongc-ctime
}

@test "a metadata file without a map" {
	damage inode:dat 'i_bmap[0]=0x0000000000000e01'
	expect bmap-root-level su-unreadable
	image=$(copy_image cleaned)
	damage inode:dat 'i_bmap[0]=0x0000000009000201'
	expect bmap-root-nchildren su-unreadable
}

@test "a log that the crash cut off is noted, and so is a damaged last one" {
	for name in crash-torn crash-sr; do
		image=$(copy_image "$name")
		if [ "$name" = crash-sr ]; then
			log=$(dump.nilfs2 logs -s "$image" |
				awk 'END { print $2 }')
			dd if=/dev/zero of="$image" bs=4096 seek=$((log + 5)) \
				count=1 conv=notrunc status=none
		else
			log="[0-9]+"
		fi
		run -0 --separate-stderr fsck.nilfs2 -n "$image"
		[[ $stderr =~ ": the log at block "$log" was not written" ]]
	done
	image=$(copy_image crash-dsync)
	run -0 --separate-stderr fsck.nilfs2 -n "$image"
	[[ $stderr != *"was not written"* ]]
}

@test "a crash is reported but is no finding" {
	image=$(copy_image crash-dsync)
	run -0 --separate-stderr fsck.nilfs2 -n "$image"
	[[ $stderr == *": not unmounted cleanly; "*" checkpoint 2"* ]]
	[[ $stderr == *"the next mount recovers "* ]]
	[[ ${lines[0]} == *": clean, "* ]]
	run -0 --separate-stderr fsck.nilfs2 -n -q "$image"
	[ -z "$output$stderr" ]
}

# victim NAME STRUCTURE FIELD=VALUE...: a damaged image; adds its verdict, 0 or
# 4, to verdicts.
victim() {
	local status=0

	cp --sparse=always "$corpus/cleaned/image" "$1"
	image=$1
	shift
	[ $# -eq 0 ] || damage "$@"
	fsck.nilfs2 -n --quick "$image" || status=$?
	verdicts+=("$image $status")
	victims+=("$image")
}

@test "the kernel mounts what has a warning, and refuses what has an error" {
	need_guest uml
	victim sound
	victim spare super:2 s_last_seq=1000
	victim state super:1 s_state=valid,error
	victim flags superroot sr_flags=1 sr_nongc_ctime=5
	victim cno super:1 s_last_cno=13
	victim mode inode:dat i_mode=0
	victim rollback super:1 s_last_seq=1000
	guest "${victims[@]}" <<-'SCRIPT'
		for device in $DEV1 $DEV2 $DEV3 $DEV4 $DEV5 $DEV6 $DEV7; do
			mount -i -t nilfs2 -o ro,norecovery $device /mnt &&
			umount -i /mnt
			echo $?
		done
	SCRIPT
	# The last is mounted, from an older position.
	[ "$(xargs <<<"$output")" = "0 0 0 0 32 32 0" ]
	[ "$(grep -c 'trying rollback' <<<"$dmesg")" = 1 ]
	[ "${verdicts[*]}" = \
		"sound 0 spare 0 state 0 flags 0 cno 4 mode 4 rollback 4" ]
}
