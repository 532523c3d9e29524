# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Blocks of 1 KiB, small segments, cleaned twice with writing between, so that
# segment numbers and sequence numbers no longer agree.
SIZE=10M
MKFS='-b 1024 -B 64'

fill() {
	local i

	nilfs_mount "$DEV1"
	noise 1 2000000 >"$MNT/deep"
	snapshot "$DEV1"
	for i in 1 2 3 4; do
		scatter "$MNT/deep" 1024 1950 300 "$i"
		sync
	done
	clean "$DEV1" "$MNT"
	for i in 5 6 7 8; do
		scatter "$MNT/deep" 1024 1950 300 "$i"
		sync
	done
	snapshot "$DEV1"
	rm "$MNT/deep"
	noise 2 1000000 >"$MNT/other"
	sync
	clean "$DEV1" "$MNT"
	nilfs_umount
}

verify() {
	# A reused segment's sequence number is greater than its number.
	awk '/segnum = / { number = $NF }
	     /sequence number = / && $4 + 0 > number { reused = 1 }
	     END { exit !reused }' dumpseg
	[ -e manifest.2 ]
}
