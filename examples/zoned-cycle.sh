#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# zoned-cycle.sh DEVICE DIR: a zoned device from mkfs to full, to cleaned, to full
# again; DIR is where it is mounted.  All its content is lost.  Needs root.
#
# An emulated one, of 1 GiB with zones of 16 MiB, the first of which is conventional:
#
#	modprobe null_blk nr_devices=1 memory_backed=1 zoned=1 gb=1 \
#		zone_size=16 zone_nr_conv=1
set -eu
device=$1 dir=$2

# fill NAME: files of 4 MiB until nothing more fits.
fill()
{
	n=0
	while dd if=/dev/urandom of="$dir/$1.$n" bs=1M count=4 conv=fsync \
		2>/dev/null; do
		n=$((n + 1))
	done
	rm -f "$dir/$1.$n"
	echo "$1: full with $n files"
}

# Without its helper, which would start a cleaner.
attach()
{
	mount -i -t nilfs2 "$device" "$dir"
}

mkfs.nilfs2 -q -f --zoned=require "$device"
attach
fill first
rm "$dir"/first.*[02468]
umount -i "$dir"

# Full segments are zones that only a cleaner can reset.
gc.nilfs2 --protect 0 --min-reclaimable 0 "$device"
fsck.nilfs2 -n "$device"

attach
fill second
umount -i "$dir"
fsck.nilfs2 -n "$device"
