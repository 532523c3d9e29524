# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Plain checkpoints only, each overwriting parts of the one before: nearly every
# segment holds a few live blocks among dead ones.  Many checkpoints, so that
# the checkpoint file has several blocks.
SIZE=64M
MKFS='-b 4096 -B 128'

fill() {
	local i

	nilfs_mount "$DEV1"
	noise 1 4000000 >"$MNT/base"
	sync
	for ((i = 0; i < 150; i++)); do
		scatter "$MNT/base" 4096 900 15 "$i"
		echo "$i" >"$MNT/step"
		mkcp "$DEV1"
	done
	rm "$MNT/step"
	nilfs_umount
}

verify() {
	[ "$(wc -l <lscp)" -gt 150 ]
}
