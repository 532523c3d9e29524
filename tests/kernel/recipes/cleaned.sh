# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# After nilfs_cleanerd moved blocks: of the current tree, of a snapshot, of
# B-tree nodes; segments that hold stale logs are clean again.
SIZE=64M
MKFS='-b 4096 -B 128'

fill() {
	local i

	nilfs_mount "$DEV1"
	noise 1 3000000 >"$MNT/kept"
	for ((i = 0; i < 300; i++)); do
		echo "$i" >"$MNT/small-$i"
	done
	noise 2 3000000 >"$MNT/overwritten"
	snapshot "$DEV1"
	rm "$MNT"/small-*[02468]
	for i in 1 2 3; do
		scatter "$MNT/overwritten" 4096 732 200 "$i"
		sync
		noise "$i" 1000000 >"$MNT/passing"
		sync
	done
	rm "$MNT/passing"
	sync
	clean "$DEV1" "$MNT"
	noise 9 500000 >"$MNT/after"
	nilfs_umount
}

verify() {
	# Freed segments lie before those in use.
	awk '$1 == 0 { exit $(NF - 1) != "---" }' lssu
	[ -e manifest.2 ]
}
