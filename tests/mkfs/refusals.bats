#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What mkfs.nilfs2 does not do: status 1, a reason, nothing changed.

bats_require_minimum_version 1.5.0

load mkfs

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

@test "bad values" {
	image 128M
	for words in '-b 512' '-b 131072' '-b 3000' '-b x' '-b -1' '-b 0' \
		'-B 8' '-B 17' '-B 0' '-B x' '-B 16x' '-B 4294967296' \
		'-m 0' '-m 100' '-m -1' '-m 5x' '-P x' '-P -5' \
		'--size x' '-U x' '-O x' '-Z' '--nonsense'; do
		refused 1 mkfs.nilfs2 $words image
	done
}

@test "a number of words other than one" {
	image 128M
	refused 1 'too few' -q
	refused 1 unexpected image other
	SOURCE_DATE_EPOCH=never refused 1 SOURCE_DATE_EPOCH image
}

@test "a device that is too small, to the byte" {
	image 134221823
	refused 1 134221824 image
	image 134221824
	mkfs -q image
	for size in 0 1 511 1023 4095 8192; do
		image $size
		refused 1 '' image
	done
}

@test "no file, a directory, a FIFO, a character device" {
	refused 1 'missing: does not exist' missing
	refused 1 'Is a directory' .
	mkfifo fifo
	run timeout 20 "$NILFS2_BUILD/mkfs/mkfs.nilfs2" fifo
	[ "$status" -eq 1 ]
	[[ $output == *"fifo: neither an image file nor a block device" ]]
	refused 1 'neither' /dev/zero
}

@test "a file that may not be written" {
	need setpriv
	image 128M
	chmod 444 image
	before=$(state_of image)
	run unprivileged "$NILFS2_BUILD/mkfs/mkfs.nilfs2" image
	[ "$status" -eq 1 ]
	[[ $output == *"Permission denied"* ]]
	[ "$before" = "$(state_of image)" ]
}

# held WORD: "image" is refused as holding WORD, and formatted with -f, after
# which nothing else is seen on it.
held() {
	refused 1 "$1" -B 64 image
	[[ $output == *"-f overwrites it"* ]]
	refused 1 "$1" -n -B 64 image
	mkfs -qf ${2-} -B 64 image
	[ "$(blkid -p -o value -s TYPE image)" = nilfs2 ]
	[ -z "$(blkid -p -o value -s PTTYPE image)" ]
	run wipefs -n image
	[ "$(grep -c 0x image <<<"$output" || true)" -le 2 ]
}

@test "an existing file system" {
	need mke2fs
	need wipefs
	for keep in '' -K; do
		image 128M
		mke2fs -qF -L inside image
		held 'ext2 (filesystem "inside")' $keep
	done
}

@test "an existing volume" {
	need wipefs
	image 128M
	mkfs -q -B 64 -b 1024 -L old image
	held 'nilfs2 (filesystem "old")'
}

@test "other signatures at both ends" {
	need mkswap
	need wipefs
	image 128M
	mkswap image >/dev/null
	held swap -K
	need mkfs.btrfs
	image 128M
	mkfs.btrfs -q image
	held btrfs -K
}

@test "a partition table" {
	need wipefs
	for keep in '' -K; do
		image 128M
		# One Linux partition from sector 2048 on.
		printf '\200\0\0\0\203\0\0\0\0\010\0\0\0\0\001\0' |
			dd of=image bs=1 seek=446 conv=notrunc status=none
		printf '\125\252' |
			dd of=image bs=1 seek=510 conv=notrunc status=none
		held 'dos (partition table)' $keep
	done
}

# The loop device over "image", detached when the test ends.
loop_device() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	need losetup
	loop=$(losetup -f --show image) || skip "no loop devices"
}

teardown() {
	! mountpoint -q mnt || umount mnt
	[ -z "${loop-}" ] || losetup -d "$loop"
}

@test "an image file behind a loop device" {
	image 128M
	loop_device
	refused 1 "the loop device $loop" -B 64 image
	mkfs -qf -B 64 image
}

@test "a block device: what it holds, what it is mounted on" {
	need mke2fs
	image 128M
	loop_device
	mke2fs -qF -L inside "$loop"
	refused 1 'ext2 (filesystem "inside")' -B 64 "$loop"
	mkdir mnt
	mount "$loop" mnt || skip "cannot mount"
	refused 1 'mounted on' -f -B 64 "$loop"
	refused 1 'mounted on' -f -B 64 image
	umount mnt
	refused 1 'block device' -f -B 64 --size 64M "$loop"
	for options in '' -K -c -cc; do
		mkfs -qf $options -B 64 --size 128M -L made "$loop"
		[ "$(blkid -p -o value -s LABEL "$loop")" = made ]
		[ "$(blkid -p -o value -s TYPE "$loop")" = nilfs2 ]
	done
}
