# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Power cut while nilfs_cleanerd works: logs that moved blocks follow the one
# that the superblock points to.
SIZE=64M
MKFS='-b 4096 -B 32'
KILL_ON='cut now'

fill() {
	local i

	nilfs_mount "$DEV1"
	noise 1 16000000 >"$MNT/kept"
	sync
	for i in 1 2 3; do
		scatter "$MNT/kept" 4096 3906 1000 "$i"
		sync
	done
	# It pauses after its first segments: the image does not depend on how far
	# the machine gets with the next one.
	clean "$DEV1" "$MNT" 0 8/60 &
	until grep -qs 'segment .* cleaned' /mnt/tmp/cleaner.log; do sleep 0.1; done
	echo 'cut now'
	sleep 60
}

verify() {
	# Minor checkpoints, the cleaner's, past that of the first superblock.
	awk -v known="$(od -An -tu8 -j 1080 -N 8 image)" '
		$1 > known + 0 && $5 == "i" { found = 1 }
		END { exit !found }' lscp
}
