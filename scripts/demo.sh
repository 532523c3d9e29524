#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds the tools and shows the main job end to end on a small image: format
# it, let the stock Linux driver fill it, and look at it without mounting it.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
. "$source/scripts/packages.sh"
install_packages $build_packages $kernel_packages

build=${BUILD_DIR:-$source/build}
"$source/scripts/build.sh" "$build"
PATH=$build/mkfs:$build/dump:$build/fsck:$PATH
image=$build/demo.img
rm -f "$image"

say()
{
	printf '\n$ %s\n' "$*"
	"$@"
}

say mkfs.nilfs2 -q --size 64M -B 64 -L demo "$image"
cat >"$build/fill.sh" <<FILL
set -e
mount -i -t nilfs2 \$DEV1 /mnt
cp -a '$source/lib' '$source/dump' '$source/mkfs' /mnt
dd if=/dev/urandom of=/mnt/random bs=1M count=8 status=none
sync
mkcp -s \$DEV1
rm -r /mnt/mkfs /mnt/lib/out
dd if=/dev/urandom of=/mnt/random bs=64K count=32 conv=notrunc status=none
sync
umount -i /mnt
FILL
printf '\n# the Linux kernel (user-mode Linux) fills it and takes a snapshot\n'
"$source/tests/kernel/guest.sh" "$build/fill.sh" "$image"
say fsck.nilfs2 -n "$image"
say dump.nilfs2 info "$image"
say dump.nilfs2 checkpoints "$image"
say dump.nilfs2 ls -l "$image"
say dump.nilfs2 segments --totals "$image"
say dump.nilfs2 map "$image"
