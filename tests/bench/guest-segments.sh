# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# guest-segments.sh BUILD ROUNDS MIB: runs in a guest.  lssu -l and ours on the same
# mounted device, and how long the first MIB of it take to read.

set -eu

interleave=$1/tests/bench/interleave
device=${DEV1#/dev/}
commands=(
	"lssu -l=lssu -l -p 0 $DEV1"
	"lssu (no live blocks)=lssu $DEV1"
	"ours, 1 thread=$1/dump/dump.nilfs2 segments -j 1 $DEV1"
	"ours, 2 threads=$1/dump/dump.nilfs2 segments -j 2 $DEV1"
	"limit: start of ours=$1/dump/dump.nilfs2 --version"
	"limit: read the segments=dd if=$DEV1 of=/dev/null bs=1M count=$3 status=none"
)

nilfs_mount -o ro,norecovery "$DEV1"
echo
echo "segments, in the guest, nothing cached"
"$interleave" -n "$2" -d "$device" -b 'echo 3 >/proc/sys/vm/drop_caches' \
	"${commands[@]}"
echo
echo "segments, in the guest, all cached"
"$interleave" -n "$2" -d "$device" "${commands[@]}"
nilfs_umount
