#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# factory-image.sh ROOTFS.tar IMAGE [SPACE]: makes IMAGE of an archive of a root
# file system (as of mmdebstrap, "podman export" or a build system), with SPACE
# (64M) bytes free.
#
# Its first checkpoint is a snapshot: the factory state, which is kept whatever
# is changed later.  "mount -o ro,cp=1 DEVICE DIR" shows it on the device, and
# factory-reset.sh goes back to it.
#
# The same archive and the same SOURCE_DATE_EPOCH, the time of the volume, make the
# same bytes on any machine: the UUID follows from the content.  Without it the time
# is that of the archive.
set -eu
rootfs=$1 image=$2 space=${3-64M}

SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH-$(stat -c %Y "$rootfs")}
export SOURCE_DATE_EPOCH

mkfs.nilfs2 -q --size "auto+$space" -U content -L factory --snapshot \
	-d "$rootfs" "$image"
fsck.nilfs2 -n "$image"
sha256sum "$image"
