# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# guest-list.sh BUILD ROUNDS: runs in a guest.  All files by way of the kernel,
# and ours on the same mounted device.

set -eu

interleave=$1/tests/bench/interleave
commands=(
	"find -ls of the mount=find $MNT -ls"
	"ours=$1/dump/dump.nilfs2 ls -lR $DEV1"
)

nilfs_mount -o ro,norecovery "$DEV1"
echo
echo "list of $(find "$MNT" | wc -l) files, in the guest, nothing cached"
"$interleave" -n "$2" -d "${DEV1#/dev/}" \
	-b 'echo 3 >/proc/sys/vm/drop_caches' "${commands[@]}"
echo
echo "list, in the guest, all cached"
"$interleave" -n "$2" -d "${DEV1#/dev/}" "${commands[@]}"
nilfs_umount
