# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs in a guest.  A little of everything on a huge volume.

set -eu

nilfs_mount "$DEV1"
cp -a /usr/lib/os-release /usr/share/doc/bash "$MNT"
noise 1 20000000 >"$MNT/noise"
snapshot "$DEV1"
for seed in 1 2 3; do
	scatter "$MNT/noise" 4096 4882 200 "$seed"
	sync
done
rm -r "$MNT/bash"
nilfs_umount
