#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The stock driver lives on a volume of ours: it fills it, finds everything
# again after each mount, and its cleaner moves blocks on it.

bats_require_minimum_version 1.5.0

load mkfs

guest=$BATS_TEST_DIRNAME/../kernel/guest.sh

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	reason=$("$guest" --available uml)
	[ -z "$reason" ] || skip "$reason"
}

# Every second small file goes, so each segment that the cleaner takes holds
# blocks that must be moved; nothing may be lost in the six mounts.
script() {
	cat <<-'EOF'
	set -e
	# All but the root, whose mtime a pass of the cleaner changes,
	# as it does on volumes of nilfs-utils.
	entries() { manifest "$MNT" | sed '/\t\.$/d'; }
	nilfs_mount "$DEV1"
	[ "$(ls -A "$MNT")" = "" ]
	[ "$(stat -c %h:%a:%u "$MNT")" = 2:755:0 ]
	[ "$(df --output=iused "$MNT" | tail -1 | tr -d ' ')" = "$INODES" ]
	filler 1 3000000 >"$MNT/large"
	mkdir -p "$MNT/a/b/c"
	ln -s large "$MNT/a/link"
	ln "$MNT/large" "$MNT/a/b/hard"
	for ((i = 0; i < 400; i += 50)); do
		noises "$MNT/a/b/c/" $i $((i + 49)) 0 37
		sync
	done
	rm "$MNT"/a/b/c/*[02468]
	sync
	entries >/mnt/tmp/want
	nilfs_umount
	nilfs_mount "$DEV1"
	entries | diff /mnt/tmp/want -
	dirty() { lssu -a "$DEV1" | grep -c -- '-d-'; }
	dirty=$(dirty)
	# On a busy host the cleaner is stopped before it got to anything,
	# or before what it freed was on the disk.
	for try in {1..10}; do
		clean "$DEV1" "$MNT" || echo "attempt $try: nothing was cleaned"
		sync
		[ "$(dirty)" -ge "$dirty" ] || break
	done
	[ "$(dirty)" -lt "$dirty" ]
	entries | diff /mnt/tmp/want -
	nilfs_umount
	nilfs_mount "$DEV1"
	entries | diff /mnt/tmp/want -
	nilfs_umount
	EOF
}

lives_on() {
	image 64M
	mkfs -q "$@" image
	{ echo INODES=1; script; } >script
	run "$guest" --timeout 600 --dmesg dmesg script image
	echo "$output"
	[ "$status" -eq 0 ] || return
	clean_log dmesg
}

@test "blocks of 1 KiB" {
	lives_on -b 1024 -B 256
}

@test "blocks of 2 KiB" {
	lives_on -b 2048 -B 128
}

@test "blocks of 4 KiB" {
	lives_on -b 4096 -B 64
}

@test "the least device, reformatted over a used volume" {
	image 1M
	truncate -s 270336 image
	for round in 1 2; do
		mkfs -qf -b 1024 -B 16 -K image
		"$guest" --dmesg dmesg - image <<-'EOF'
		set -e
		nilfs_mount "$DEV1"
		[ "$(ls -A "$MNT")" = "" ]
		noise 1 20000 >"$MNT/file"
		sync
		nilfs_umount
		nilfs_mount "$DEV1"
		noise 1 20000 | cmp - "$MNT/file"
		nilfs_umount
		EOF
		clean_log dmesg
	done
}

# 63 * 63 blocks fill a node of level 2; the kernel deletes from the last leaf.
@test "files with one leaf more than a node has room for are cut, and go" {
	mkdir source
	head -c $((3970 << 10)) /dev/urandom >source/cut
	head -c $(((3969 * 2 + 30) << 10)) /dev/urandom >source/gone
	head -c $((3969 << 10)) source/cut >want
	mkfs -q -b 1024 -B 256 --size 40M -d source image
	cat >script <<-'EOF2'
	set -e
	nilfs_mount "$DEV1"
	truncate -s 3969K "$MNT/cut"
	rm "$MNT/gone"
	sync
	nilfs_umount
	nilfs_mount "$DEV1"
	[ "$(ls "$MNT")" = cut ]
	cmp - "$MNT/cut" <"$SHARE/want"
	nilfs_umount
	EOF2
	run "$guest" --share "$PWD" --dmesg dmesg script image
	echo "$output"
	[ "$status" -eq 0 ]
	clean_log dmesg
	fsck.nilfs2 -fn image
}
