# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Power cut in the middle of a log: the last log's summary is there, its last
# block, the super root, is not.  The checkpoint before it is the latest.
SIZE=64M
MKFS='-b 4096 -B 64'
KILL_ON='cut now'

fill() {
	local i last

	nilfs_mount "$DEV1"
	for i in 1 2 3 4; do
		noise "$i" 100000 >"$MNT/file-$i"
		sync
	done
	echo lost >"$MNT/lost"
	sync
	last=$(dumpseg "$DEV1" "$(lssu "$DEV1" |
			awk '$(NF - 1) ~ /a/ && $NF > 0 { print $1 }')" |
		sed -n 's/.*blocknr = \(.*\), nblocks = /\1 - 1 + /p' |
		tail -n 1)
	dd if=/dev/zero of="$DEV1" bs=4096 seek=$((last)) count=1 \
		oflag=direct conv=notrunc status=none
	echo 'cut now'
	sleep 60
}

verify() {
	grep -q 'file-4$' manifest
	! grep 'lost$' manifest
}
