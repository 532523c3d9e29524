# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What scripts in a guest find that has a volume mounted, besides
# kernel/guest-lib.sh.

# same MODEL DIRECTORY: the files are those of the model.
same() {
	(cd "$2" && find . -type f ! -name .nilfs ! -path "./.taken/*" \
		-exec sha256sum {} + | LC_ALL=C sort -k 2) >/mnt/tmp/is
	LC_ALL=C sort -k 2 "$1" | cmp - /mnt/tmp/is
}

# all_same MODEL [FOLDER]: the files and those of all snapshots, read from the device.
all_same() {
	local model n=0

	echo 3 >/proc/sys/vm/drop_caches
	same "$1" "$MNT/${2-}" || return
	mkdir -p /mnt/tmp/snapshot
	for model in "$1".*[0-9]; do
		[ -e "$model" ] || continue
		nilfs_mount -o "ro,cp=${model##*.}" "$DEV1" /mnt/tmp/snapshot || return
		same "$model" "/mnt/tmp/snapshot/${2-}" || return
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
	lssu "$DEV1" | awk -v n="$1" '$1 + 0 > n && $4 ~ /a/ { at = 1 }
		END { exit !at }'
}
