# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Power cut after data syncs: logs without a super root, flagged SYNDT, follow
# the last super root and are rolled forward by a mount.
SIZE=64M
MKFS='-b 4096 -B 64'
KILL_ON='cut now'

fill() {
	local i

	nilfs_mount -o order=relaxed "$DEV1"
	noise 1 400000 >"$MNT/a"
	noise 2 1200000 >"$MNT/b"
	sync
	for i in 1 3 60; do
		noise "$i" 4096 | dd of="$MNT/a" bs=4096 seek="$i" \
			conv=notrunc,fdatasync status=none
	done
	noise 4 600000 | dd of="$MNT/b" bs=4096 seek=5 iflag=fullblock \
		conv=notrunc,fdatasync status=none
	echo 'cut now'
	sleep 60
}

verify() {
	grep salvaged dmesg.recovered
	! cmp -s manifest.norecovery manifest.recovered
}
