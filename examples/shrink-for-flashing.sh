#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shrink-for-flashing.sh IMAGE: makes the image of a volume that was in use as small
# as possible, before it is written to devices.  Its files and snapshots stay, its
# other checkpoints do not.
#
# On the device, once:
#
#	dd if=IMAGE of=/dev/mmcblk0p2 bs=4M conv=fsync
#	gc.nilfs2 --grow /dev/mmcblk0p2
#
# or, after mounting it, "nilfs-resize /dev/mmcblk0p2".
set -eu
image=$1

before=$(stat -c %s "$image")
gc.nilfs2 -q --protect 0 --compact --shrink=min --punch "$image"
fsck.nilfs2 -n "$image"
echo "$image: $before bytes before, $(stat -c %s "$image") now"
