#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# ci-image.sh ROOTFS OUT LIMIT: for continuous integration.  ROOTFS, a directory or
# an archive, becomes OUT/root.img.  The job fails if a second build differs, if the
# image is not sound, or if it has more than LIMIT bytes; OUT/report.html shows what
# holds the space, and OUT/check.json has the findings.
#
# The time of the image is SOURCE_DATE_EPOCH, or else that of the last commit.
set -eu
rootfs=$1 out=$2 limit=$3

SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH

mkdir -p "$out"
for name in root again; do
	mkfs.nilfs2 -q -f --size auto+16M -U content --owner 0:0 --snapshot \
		-d "$rootfs" "$out/$name.img"
done
cmp "$out/root.img" "$out/again.img"
rm "$out/again.img"

dump.nilfs2 report --force "$out/root.img" "$out/report.html"
fsck.nilfs2 -n --data --json "$out/root.img" >"$out/check.json"

size=$(stat -c %s "$out/root.img")
[ "$size" -le "$limit" ] || {
	echo "root.img: $size bytes, more than $limit" >&2
	exit 1
}
(cd "$out" && sha256sum root.img >root.img.sha256 && cat root.img.sha256)
