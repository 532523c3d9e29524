# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Snapshots spread over several blocks of the checkpoint file, and the whole of
# a block's checkpoints deleted between them.
SIZE=64M
MKFS='-b 2048 -B 512'

fill() {
	local i

	nilfs_mount "$DEV1"
	for ((i = 2; i < 80; i++)); do
		echo "$i" >"$MNT/f$((i % 7))"
		case $i in
		5|6|40|41|70) mkcp -s "$DEV1" ;;
		*) mkcp "$DEV1" ;;
		esac
	done
	rmcp -f "$DEV1" 10..38
	nilfs_umount
}
