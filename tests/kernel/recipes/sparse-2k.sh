# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Blocks of 2 KiB; holes at every kind of place: direct maps with holes, trees
# with far-apart keys, the last byte that a file can have, all-hole files,
# written zeroes, truncated and re-grown files.
SIZE=64M
MKFS='-b 2048 -B 128'

fill() {
	nilfs_mount "$DEV1"
	put "$MNT/direct-gap" $((4 * 2048)) 1 2048
	put "$MNT/far" 0 2 5000
	put "$MNT/far" $((5 << 30)) 3 5000
	put "$MNT/far" $((1 << 40)) 4 100
	put "$MNT/last-byte" $(((1 << 63) - 2)) 5 1
	truncate -s 10G "$MNT/all-hole"
	truncate -s 3000 "$MNT/small-hole"
	head -c 65536 /dev/zero >"$MNT/zeroes"
	put "$MNT/zeroes-far" $((3 << 32)) 6 2048
	head -c 8192 /dev/zero |
		dd of="$MNT/zeroes-far" bs=4096 seek=1000 conv=notrunc \
			status=none
	noise 7 400000 >"$MNT/regrown"
	sync
	truncate -s 1000 "$MNT/regrown"
	truncate -s 300000 "$MNT/regrown"
	scatter "$MNT/scattered" 2048 1000000000 700 8
	nilfs_umount
}
