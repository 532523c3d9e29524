#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# delta-apply.sh BASE DELTA.tar IMAGE [SPACE]: makes IMAGE of a base, which is an
# archive or the image of a volume, and a delta of delta-export.sh, with SPACE
# (64M) bytes free.  Both states are snapshots: 1 is the base, 2 the new one.
set -eu
base=$1 delta=$2 image=$3 space=${4-64M}

make_image()
{
	mkfs.nilfs2 -q --oci --snapshot --size "auto+$space" -U content \
		-d "$1" -d "$delta" "$image"
}

SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH-$(stat -c %Y "$delta")}
export SOURCE_DATE_EPOCH

if dump.nilfs2 info -q "$base" >/dev/null 2>&1; then
	dump.nilfs2 export "$base" - | make_image -
else
	make_image "$base"
fi
fsck.nilfs2 -n "$image"
