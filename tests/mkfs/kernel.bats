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
	# All but the root, whose mtime a pass of the cleaner changes, as it does on
	# volumes of nilfs-utils.
	coproc manifest --ask "$MNT" 4>&1 >>/mnt/tmp/seen
	entries() {
		: >/mnt/tmp/seen
		echo >&"${COPROC[1]}"
		read -r -u "${COPROC[0]}"
		sed '/\t\.$/d' /mnt/tmp/seen
	}
	unchanged() { entries >/mnt/tmp/now && diff /mnt/tmp/want /mnt/tmp/now; }
	dirty() { lssu -a "$1" | grep -c -- '-d-'; }
	live_on() {
		nilfs_mount "$1"
		[ "$(ls -A "$MNT")" = "" ]
		[ "$(stat -c %h:%a:%u "$MNT")" = 2:755:0 ]
		[ "$(df --output=iused "$MNT" | tail -1 | tr -d ' ')" = 1 ]
		cp large "$MNT"
		mkdir -p "$MNT/a/b/c"
		ln -s large "$MNT/a/link"
		ln "$MNT/large" "$MNT/a/b/hard"
		for i in 0 1 2 3; do
			cp small/$i/* "$MNT/a/b/c"
			sync
		done
		rm "$MNT"/a/b/c/*[02468]
		sync
		entries >/mnt/tmp/want
		[ "$(wc -l </mnt/tmp/want)" -eq 206 ]
		nilfs_umount
		nilfs_mount "$1"
		unchanged
		dirty=$(dirty "$1")
		# On a busy host the cleaner is stopped before it got to anything,
		# or before what it freed was on the disk.
		for try in {1..10}; do
			clean "$1" "$MNT" || echo "attempt $try: nothing was cleaned"
			sync
			[ "$(dirty "$1")" -ge "$dirty" ] || break
		done
		[ "$(dirty "$1")" -lt "$dirty" ]
		unchanged
		nilfs_umount
		nilfs_mount "$1"
		unchanged
		nilfs_umount
	}
	filler 1 3000000 >large
	for i in 0 1 2 3; do
		mkdir -p small/$i
		noises small/$i/ ${i}00 ${i}99 0 37
	done
	for device in "$DEV1" "$DEV2" "$DEV3"; do
		echo "$device"
		live_on "$device"
	done
	EOF
}

@test "blocks of 1, 2 and 4 KiB" {
	for size in 1 2 4; do
		mkfs -q --size 64M -b ${size}K -B $((256 / size)) image.$size
	done
	script >script
	run "$guest" --timeout 600 --dmesg dmesg script image.{1,2,4}
	echo "$output"
	[ "$status" -eq 0 ]
	clean_log dmesg
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
