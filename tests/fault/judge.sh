#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# judge.sh [-w] IMAGE: what fsck.nilfs2 and dump.nilfs2 see of a volume after some
# fault: the content of the latest state and of all snapshots.  It is repaired
# as at boot first, if need be; that must make it sound and give nothing up.
# Fails where it does not; prints "no volume" where there is none.
#
# With -w a superblock may have been wiped: by mkfs.nilfs2, which does that
# first.  At boot it is not brought back, as it may have been meant.  The last
# line is the size of the volume.
set -u
repair=-fp
[ "$1" != -w ] || { repair=-fy; shift; }
image=$1

case $(dump.nilfs2 ls "$image" 2>&1 >/dev/null) in
*"no NILFS2 superblock"* | *"file is empty"* | *"No such file"*)
	echo "no volume"
	exit 0
	;;
esac
said=$(fsck.nilfs2 $repair "$image" 2>&1)
status=$?
case $status,$said in
0,* | 1,*) ;;
*) echo "fsck.nilfs2 $repair: status $status: $said"; exit 1 ;;
esac
said=$(fsck.nilfs2 -fn --data "$image" 2>&1) || {
	echo "fsck.nilfs2 -n: status $?: $said"
	exit 1
}
echo "$said" | grep -q ': clean' || { echo "$said"; exit 1; }
for cno in 0 $(dump.nilfs2 checkpoints -s --fast "$image" |
	awk '$1 ~ /^[0-9]+$/ { print $1 }'); do
	sum=$(set -o pipefail
		dump.nilfs2 export -q -c "$cno" "$image" - | sha256sum) || exit 1
	echo "$cno ${sum%% *}"
done
dump.nilfs2 info --json "$image" | gojq -c "[.superblocks[0] |
	.s_volume_name, .s_uuid, .s_checkinterval, .s_max_mnt_count, .s_c_interval,
	.s_c_block_max, .s_feature_compat], .superblocks[0].s_nsegments"
