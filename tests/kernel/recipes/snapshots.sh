# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Snapshots and plain checkpoints with overwrites and deletions between; files
# that only a snapshot still holds; one snapshot turned back into a checkpoint,
# some checkpoints deleted.
SIZE=64M
MKFS='-b 4096 -B 64'

fill() {
	local i

	nilfs_mount "$DEV1"
	mkdir "$MNT/d"
	noises "$MNT/d/f" 1 20 0 7000
	ln "$MNT/d/f1" "$MNT/hard"
	ln -s d/f2 "$MNT/soft"
	snapshot "$DEV1"
	rm "$MNT"/d/f*5 "$MNT/hard"
	sync
	noise 100 300000 >"$MNT/d/f2"
	snapshot "$DEV1"
	rm -r "$MNT/d"
	sync
	mkdir "$MNT/d"
	echo new >"$MNT/d/f1"
	snapshot "$DEV1"
	for i in {1..12}; do
		put "$MNT/changing" $((i * 4096)) "$i" 9000
		mkcp "$DEV1"
	done
	i=$(snapshot "$DEV1")
	echo later >"$MNT/later"
	sync
	chcp cp "$DEV1" "$i"
	rmcp "$DEV1" $((i - 3))..$((i - 2))
	snapshot "$DEV1"
	rm "$MNT/changing"
	nilfs_umount
}

verify() {
	[ "$(find . -name 'manifest.*' | wc -l)" -eq 4 ]
	# Tests name checkpoints by number.
	[ -e manifest.2 ] && [ -e manifest.4 ] && [ -e manifest.7 ]
}
