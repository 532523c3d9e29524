# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# As crash-dsync, with blocks smaller than a page and segments smaller than a
# write: logs without a super root continue over several segments.
SIZE=64M
MKFS='-b 1024 -B 32'
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
