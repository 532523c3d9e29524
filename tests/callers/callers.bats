#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The command lines of programs that make, label and resize volumes for users, and what
# these read: udisks 2.9.4, libblockdev 3.3.0, GParted 1.3.1, kpmcore 22.12.3 and
# libguestfs 1.48.  doc/callers.md has them all.  Expected numbers are from blkid(8) and
# from nilfs-tune of nilfs-utils.

bats_require_minimum_version 1.5.0

load ../kernel/lab

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	PATH=$PATH:/usr/sbin:/sbin
	exec </dev/null
	truncate -s 200M device
}

need() {
	command -v "$1" >/dev/null || skip "$1 not found"
}

# property NAME: what libblkid finds.
property() {
	blkid -p -o value -s "$1" device
}

# value PATTERN: what the group of the pattern is in the first line of "said" with it.
value() {
	PATTERN=$1 perl -ne 'if (/$ENV{PATTERN}/) { print $1; exit }' said
}

# member NAME [IMAGE]
member() {
	dump.nilfs2 info --json "${2-device}" | gojq -r "$1"
}

@test "volumes are made by the command lines of each program" {
	need blkid
	while IFS='|' read -r command label block; do
		rm device
		truncate -s 200M device
		eval "run -0 --separate-stderr $command"
		[ "$(property TYPE)" = nilfs2 ]
		[ "$(property LABEL)" = "$label" ]
		[[ $(property UUID) =~ ^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$ ]]
		[ "$(member '.superblocks[0].s_log_block_size')" = "$block" ]
		run -0 fsck.nilfs2 -n device
	done <<-'END'
	mkfs.nilfs2 -L "a label" device|a label|2
	mkfs.nilfs2 -q device||2
	mkfs.nilfs2 -q -L test_label -K -f device|test_label|2
	mkfs.nilfs2 -L "" device||2
	mkfs.nilfs2 -f device||2
	mkfs -t nilfs2 -b 1024 device||0
	mkfs -t nilfs2 -O block_count device||2
	END
}

@test "a device that is not empty is refused without -f, and with -n not changed" {
	need mke2fs
	mke2fs -q -F device
	cksum <device >before
	for command in 'mkfs.nilfs2 -q' 'mkfs.nilfs2 -L label' 'mkfs -t nilfs2'; do
		run -1 --separate-stderr $command device
		# What the program shows.
		[[ $stderr == *"device: "*ext2* ]]
	done
	run -0 --separate-stderr mkfs.nilfs2 -q -n -f device
	cksum <device | diff before -
	run -0 --separate-stderr mkfs.nilfs2 -q -f device
	[ -z "$output$stderr" ]
}

# As in the sources: /src/plugins/fs/nilfs.c of libblockdev, from bd_fs_nilfs2_get_info()
# (a prefix of a line, and a number after its colon); /src/nilfs2.cc of GParted, from
# set_used_sectors(), read_label() and read_uuid(); /src/fs/nilfs2.cpp of kpmcore, from
# readUsedCapacity().
@test "nilfs-tune prints of our volumes what each program reads, and sets label and UUID" {
	need_guest uml
	mkdir share
	truncate -s 200M labelled
	mkfs.nilfs2 -q -b 2048 device
	mkfs.nilfs2 -q -b 2048 -L 'a label' labelled
	for name in device labelled; do
		member .geometry.device_bytes $name
		member '.superblocks[0].s_free_blocks_count' $name
		member '.superblocks[0].s_uuid' $name
	done >known
	guest --share "$PWD/share" device labelled <<-'SCRIPT'
	nilfs-tune -l "$DEV1" >"$SHARE/device"
	nilfs-tune -l "$DEV2" >"$SHARE/labelled"
	nilfs-tune -L label2 "$DEV1"
	nilfs-tune -U 4d7086c4-a4d3-432f-819e-73da03870df9 "$DEV1"
	nilfs-tune -L '' "$DEV2"
	SCRIPT
	[ "$status" -eq 0 ]
	hex='[[:xdigit:]]'
	uuid="^Filesystem UUID:[[:blank:]]*($hex{8}-$hex{4}-[1-9a-fA-F]$hex{3}-$hex{4}-$hex{12})"
	for name in device labelled; do
		cp share/$name said
		for pattern in '^Device size.*?:\s*(\d+)' \
			'^Free blocks count.*?:\s*(\d+)' "$uuid"; do
			value "$pattern"
			echo
		done
		for pattern in '^Block size:\s*(\d+)' 'Block size:\s+(\d+)'; do
			[ "$(value "$pattern")" -eq 2048 ]
		done
		for pattern in 'Device size' 'Free blocks count'; do
			[ "$(value "^$pattern.*?:\s*(\d+)")" -eq \
				"$(value "$pattern:\s+(\d+)")" ]
		done
	done | tr -d '"' >printed
	diff <(tr -d '"' <known) printed
	label='^Filesystem volume name:[\t ]*(.*)$'
	[ "$(value "$label")" = 'a label' ]
	cp share/device said
	[ "$(value "$label")" = '(none)' ]
	[ "$(value '^Device size.*?:\s*(\d+)')" -eq $((200 << 20)) ]
	[ "$(member '.superblocks[0].s_volume_name')" = label2 ]
	[ "$(member '.superblocks[0].s_uuid')" = 4d7086c4-a4d3-432f-819e-73da03870df9 ]
	[ "$(member '.superblocks[0].s_volume_name' labelled)" = '' ]
	for name in device labelled; do
		run -0 fsck.nilfs2 -n $name
	done
}

# What doc/callers.md offers to libblockdev: statuses and members.
@test "check, repair and resize without a mount" {
	mkdir tree
	seq 100000 >tree/file
	mkfs.nilfs2 -q -B 64 -f -d tree device
	for command in 'fsck.nilfs2' 'fsck.nilfs2 -n' 'fsck.nilfs2 -p -f' 'fsck.nilfs2 -y'; do
		run -0 $command device
	done
	# Progress, as filter_line_fsck() of the plugin for ext4 reads it: pass, part, whole,
	# device.
	run -0 fsck.nilfs2 -n --json -C 9 "$PWD/device" 9>progress
	grep -qE "^[1-5] [0-9]+ [0-9]+ $PWD/device" progress
	! grep -vE "^[1-5] [0-9]+ [0-9]+ $PWD/device" progress
	smallest=$(gc.nilfs2 -n --json --protect 0 --shrink device | gojq .shrink.bytes)
	[ "$smallest" -lt $((20 << 20)) ]
	run -1 gc.nilfs2 -q --protect 0 --shrink=$((smallest - 4096)) device
	[ "$output" = "gc.nilfs2: device: cannot shrink to $((smallest - 4096)) bytes: the blocks in use need $smallest" ]
	run -0 gc.nilfs2 -q --shrink=$((50 << 20)) device
	[ "$(member '.superblocks[0].s_dev_size')" -eq $((50 << 20)) ]
	truncate -s 150M device
	run -0 gc.nilfs2 -q --grow=$((100 << 20)) device
	[ "$(member '.superblocks[0].s_dev_size')" -eq $((100 << 20)) ]
	run -0 gc.nilfs2 -q --grow device
	[ "$(member '.superblocks[0].s_dev_size')" -eq $((150 << 20)) ]
	run -0 gc.nilfs2 -q -L new -U random device
	[ "$(member '.superblocks[0].s_volume_name')" = new ]
	dump.nilfs2 set --expert device inode:/file i_links_count=9 >said
	cksum <device >before
	for command in 'fsck.nilfs2' 'fsck.nilfs2 -n'; do
		run -4 timeout 60 $command device
	done
	cksum <device | diff before -
	run -1 fsck.nilfs2 -y device
	run -0 fsck.nilfs2 -n device
}
