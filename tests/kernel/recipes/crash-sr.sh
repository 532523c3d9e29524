# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Power cut while writing: the superblocks point to the log of the mount, later
# logs with super roots follow it, none written by a data sync.
SIZE=64M
MKFS='-b 4096 -B 64'
KILL_ON='cut now'

fill() {
	local i

	nilfs_mount "$DEV1"
	for i in {1..12}; do
		noise "$i" $((i * 30000)) >"$MNT/file-$i"
		# fsync(2), because sync(2) writes a superblock too.
		sync "$MNT/file-$i"
	done
	rm "$MNT/file-5"
	sync "$MNT"
	echo 'cut now'
	noise 99 30000000 >"$MNT/never-synced"
	sleep 60
}

verify() {
	local last place

	last=$(awk 'END { print $1 }' lscp)
	# s_last_cno of the superblock and of the spare one.
	for place in 1024 $(((64 << 20) - 4096)); do
		[ "$(od -An -tu8 -j $((place + 56)) -N 8 image)" -lt \
			$((last - 5)) ]
	done
	! grep salvaged dmesg.recovered
}
