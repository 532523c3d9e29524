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

# live_guest: runs the commands of standard input with the volume, mounted.
live_guest() {
	{
		echo "$tools"
		cat <<-'EOF'
			nilfs_mount $DEV1 || exit
			# same MODEL DIRECTORY: the files are those of the model.
			same() {
				(cd "$2" && find . -type f ! -name .nilfs \
					! -path "./.taken/*" \
					-exec sha256sum {} + | LC_ALL=C sort -k 2) \
					>/mnt/tmp/is
				LC_ALL=C sort -k 2 "$1" | cmp - /mnt/tmp/is
			}
			# all_same MODEL: the files and those of all snapshots, read
			# from the device.
			all_same() {
				local model n=0

				echo 3 >/proc/sys/vm/drop_caches
				same "$1" $MNT || return
				mkdir -p /mnt/tmp/snapshot
				for model in "$1".*[0-9]; do
					nilfs_mount -o ro,cp=${model##*.} $DEV1 \
						/mnt/tmp/snapshot || return
					same $model /mnt/tmp/snapshot || return
					nilfs_umount /mnt/tmp/snapshot
					n=$((n + 1))
				done
				echo "$n snapshots"
			}
			# wait_until COMMAND...: a minute at most.
			wait_until() {
				local i

				for ((i = 0; i < 600; i++)); do
					! "$@" || return 0
					sleep 0.1
				done
				echo "in vain: $*" >&2
				exit 1
			}
			# writes_after N: whether the kernel writes after segment N.
			writes_after() {
				lssu $DEV1 | awk -v n="$1" '$1 + 0 > n && $4 ~ /a/ { at = 1 }
					END { exit !at }'
			}
		EOF
		cat
	} >"$BATS_TEST_TMPDIR/script"
	guest --backend "$backend" "$image" <"$BATS_TEST_TMPDIR/script"
	echo "$output"
	echo "$errors"
}
