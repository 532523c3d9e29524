#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The callers of a checker in a system: fsck(8) by a line of fstab, and
# systemd-fsck on a block device, each in a mount namespace with a /run and a
# console of its own.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	device=
	mkfs.nilfs2 -q --size 16M -B 64 image
}

teardown() {
	[ -z "$device" ] || losetup -d "$device"
}

# A byte of the label of the first superblock, which is empty; its checksum
# covers it.
break_super() {
	printf '\377' | dd of=image bs=1 seek=$((1024 + 0xc8)) conv=notrunc \
		status=none
}

need_loop() {
	device=$(losetup -f --show "$PWD/image" 2>/dev/null) ||
		skip "no loop device"
}

# system COMMAND...: as at boot, with the console in a file.
system() {
	: >console
	# shellcheck disable=SC2016
	unshare -m bash -c 'mount -t tmpfs tmpfs /run && mkdir /run/systemd &&
		: >/run/systemd/show-status &&
		mount --bind console /dev/console && "$@"' - "$@"
}

need_systemd() {
	systemd_fsck=/lib/systemd/systemd-fsck
	[ -x "$systemd_fsck" ] || skip "no systemd-fsck"
	need_loop
	system true 2>/dev/null || skip "no mount namespace"
}

@test "fsck -A checks what a line of fstab says, fsck DEVICE what is on it" {
	[ -x "$(command -v fsck)" ] || skip "no fsck"
	echo "$PWD/image /nowhere nilfs2 defaults 0 2" >fstab
	export FSTAB_FILE=$PWD/fstab
	run -0 fsck -A -a
	[[ $output == *"$PWD/image: clean, "* ]]
	break_super
	run -4 fsck -A -n
	[[ $output == *"sb-sum: superblock 1: "* ]]
	run -1 fsck -A -a
	run -0 fsck -A -a
	echo "$PWD/image /nowhere nilfs2 defaults 0 0" >fstab
	run -0 fsck -A -a
	[[ $output != *clean* ]]
	unset FSTAB_FILE
	need_loop
	run -0 fsck -a -C "$device"
	[[ $output == *"$device: clean, "* ]]
}

@test "systemd-fsck has it repair, and goes on with the boot" {
	need_systemd
	break_super
	run -0 system "$systemd_fsck" "$device"
	[[ $output == *"$device: repaired, "* ]]
	run -0 system "$systemd_fsck" "$device"
	[[ $output == *"$device: clean, "* ]]
	[[ $output != *repaired* ]]
	# What -a does not repair stops the boot.
	dd if=/dev/zero of=image bs=1K seek=8 count=64 conv=notrunc status=none
	run -1 system "$systemd_fsck" "$device"
}

# Its own fsck(8) hands on no -C for NILFS2; one that does shows its reader.
@test "systemd-fsck shows the progress on the console, up to the last line" {
	need_systemd
	mkdir bin
	cat >bin/fsck <<-'EOF'
	#!/bin/bash
	for word; do
		case $word in
		-C*) fd=${word#-C} ;;
		esac
	done
	eval "exec 7>&$fd"
	fsck.nilfs2 -fa -C 7 "${!#}"
	status=$?
	sleep 0.1
	echo "5 50 50 the-last" >&7
	exit $status
	EOF
	chmod 755 bin/fsck
	PATH=$PWD/bin:$PATH run -0 system "$systemd_fsck" "$device"
	[[ $output != *parse* ]]
	tr '\r' '\n' <console >lines
	grep -q "^$device: fsck *[0-9.]*% complete\.\.\.$" lines
	grep -q "^the-last: fsck 100.0% complete\.\.\.$" lines
}
