# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A directory of thousands, a deep path, many files removed again: the inode
# file and the DAT have gaps and more than one bitmap group is touched.
SIZE=64M
MKFS='-b 4096 -B 256'

fill() {
	local i path=$MNT/deep

	nilfs_mount "$DEV1"
	mkdir "$MNT/many" "$MNT/removed"
	for ((i = 0; i < 3000; i++)); do
		echo "file $i" >"$MNT/many/name-of-entry-number-$i"
	done
	for ((i = 0; i < 500; i++)); do
		echo "$i" >"$MNT/removed/$i"
	done
	sync
	rm "$MNT"/removed/*[13579] "$MNT"/many/*7
	sync
	mkdir "$path"
	for i in {1..40}; do
		path=$path/level-$i
		mkdir "$path"
		echo "$i" >"$path/file"
	done
	: >"$MNT/nothing"
	nilfs_umount
}

verify() {
	[ "$(grep -c ' many/\|	many/' manifest)" -eq 2700 ]
}
