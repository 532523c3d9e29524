# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# guest-gc.sh BUILD: runs in a guest, with the same aged volume twice.  What the
# daemon gains on the first is what gc.nilfs2 is asked for on the second.

set -eu

gc=$1/gc/gc.nilfs2

clean_segments() {
	lssu -a "$1" | awk 'NR > 1 && $4 !~ /d/ { n++ } END { print n }'
}

# counts DEVICE: MiB read and written so far.
counts() {
	awk '{ printf "%.1f %.1f", $3 / 2048, $7 / 2048 }' \
		"/sys/block/${1#/dev/}/stat"
}

now() {
	cut -d ' ' -f 1 /proc/uptime
}

# line NAME FROM TO "READ WRITTEN" "READ WRITTEN" SEGMENTS
line() {
	echo "$1 $2 $3 $4 $5 $6" | awk '{
		s = $3 - $2; r = $6 - $4; w = $7 - $5
		printf "%-16s %8.2f %10.1f %10.1f %10d %12.3f %12.3f\n",
			$1, s, r, w, $8, r ? w / r : 0, w / ($8 * 8) }'
}

printf '%-16s %8s %10s %10s %10s %12s %12s\n' '' s 'read MiB' 'written' \
	'segments' 'writ./read' 'writ./gained'
nilfs_mount "$DEV1"
before=$(clean_segments "$DEV1")
from=$(now) io=$(counts "$DEV1")
clean "$DEV1" "$MNT" 0
sync
to=$(now) io2=$(counts "$DEV1")
gained=$(($(clean_segments "$DEV1") - before))
nilfs_umount
line nilfs_cleanerd "$from" "$to" "$io" "$io2" "$gained"

echo 3 >/proc/sys/vm/drop_caches
from=$(now) io=$(counts "$DEV2")
"$gc" -q --protect 0 --min-reclaimable 0 --free "$gained" "$DEV2" >/dev/null
to=$(now) io2=$(counts "$DEV2")
line gc.nilfs2 "$from" "$to" "$io" "$io2" "$gained"
