# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# guest-text.sh BUILD ROUNDS: runs in a guest.  The contents of all logs.

set -eu

nilfs_mount -o ro,norecovery "$DEV1"
segments=$(lssu "$DEV1" | awk 'NR > 1 { printf "%s ", $1 }')
nilfs_umount
echo "dumpseg $DEV1 $segments" >dumpseg-all
echo
echo "logs, in the guest, all cached"
"$1/tests/bench/interleave" -n "$2" \
	"dumpseg=sh dumpseg-all" \
	"ours, logs --blocks=$1/dump/dump.nilfs2 logs --blocks $DEV1"
echo "dumpseg: $(sh dumpseg-all | wc -lc) lines and bytes"
