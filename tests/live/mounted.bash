# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For the bats files here: volumes that are mounted in a guest.  Load it with:
# load mounted

load ../kernel/lab

setup() {
	backend=$(guest_with dump.nilfs2)
	need_guest "$backend"
	tools="PATH=$NILFS2_BUILD/mkfs:$NILFS2_BUILD/dump:$NILFS2_BUILD/fsck"
	tools="$tools:$NILFS2_BUILD/gc:\$PATH; live=$NILFS2_SOURCE/tests/live"
}

# live_volume [OPTION...]: a new volume of segments of 256 KiB.
live_volume() {
	image=$BATS_TEST_TMPDIR/live.img
	truncate -s 96M "$image"
	mkfs.nilfs2 -q -B 64 "$@" "$image"
}

# live_guest: runs the commands of standard input with the volume, mounted.  live_devices
# has other devices than $image, and options of guest.sh.
live_guest() {
	{
		echo "$tools"
		echo ". \$live/guest.bash; nilfs_mount \$DEV1 || exit"
		cat
	} >"$BATS_TEST_TMPDIR/script"
	guest --backend "$backend" "${live_devices[@]-$image}" \
		<"$BATS_TEST_TMPDIR/script"
	echo "$output"
	echo "$errors"
}
