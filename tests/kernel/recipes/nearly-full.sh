# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The smallest segments there are (16 blocks of 1 KiB), written until the kernel
# says that there is no space, then a little removed: thousands of segments,
# many logs that continue over several of them.
SIZE=32M
MKFS='-b 1024 -B 16'

fill() {
	local i

	nilfs_mount "$DEV1"
	for ((i = 0; i < 100; i++)); do
		noise "$i" 1000000 >"$MNT/fill-$i" || break
		sync
	done 2>/mnt/tmp/why
	grep 'No space' /mnt/tmp/why
	rm "$MNT/fill-3"
	nilfs_umount
}

verify() {
	[ "$(awk '$(NF - 1) == "---"' lssu | wc -l)" -lt 300 ]
}
