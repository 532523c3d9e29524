# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Blocks of 1 KiB, a large file overwritten at random in several checkpoints:
# B-trees of many levels, data scattered over all segments.
SIZE=96M
MKFS='-b 1024 -B 1024'

fill() {
	local i

	nilfs_mount "$DEV1"
	noise 1 16000000 >"$MNT/large"
	sync
	for i in 1 2 3; do
		scatter "$MNT/large" 1024 15625 2000 "$i"
		sync
	done
	scatter "$MNT/holes" 1024 4000000 3000 4
	noise 2 3072 >"$MNT/direct-3"
	noise 3 6144 >"$MNT/direct-6"
	noise 4 7168 >"$MNT/tree-7"
	nilfs_umount
}
