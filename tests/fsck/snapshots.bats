#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Damage to the latest state never costs a snapshot, and damage to a snapshot
# neither the latest state nor any other snapshot.

bats_require_minimum_version 1.5.0
load ../kernel/lab
load damage
load mended

setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
}

# vblock FILE [BLKOFF [CNO]]
vblock() {
	dump.nilfs2 bmap -b ${3:+-c "$3"} "$image" "$1" |
		awk -v key="${2-0}" '$NF == "data" && $1 == key { print $4 }'
}

# node_block FILE N [CNO]: where its Nth node is.
node_block() {
	dump.nilfs2 bmap -b --nodes ${3:+-c "$3"} "$image" "$1" |
		awk -v n="$2" '$NF == "node" && n-- == 0 { print $5 }'
}

# spoil BLOCK: noise, and the log that has it stays wrong.
spoil() {
	noise "$1" | head -c 4096 |
		dd of="$image" bs=4096 seek="$1" iflag=fullblock conv=notrunc \
			status=none
}

@test "the kernel reads a mended snapshot, moves its blocks, and drops them" {
	need_guest uml
	share=$BATS_TEST_TMPDIR/share
	mkdir "$share"
	begin cleaned
	spoil "$(node_block /kept 1)"
	damage -c 2 inode:/small-1 i_mode=0
	damage -c 2 inode:/small-101 i_size=18446744073709551615
	mends
	mended=$(node_block /kept 1 2)
	guest --share "$share" "$image" <<-'END'
	nilfs_mount "$DEV1"
	lssu -a -l -p 0 "$DEV1" >"$SHARE/lssu"
	manifest "$MNT" >"$SHARE/latest"
	nilfs_mount -o ro,cp=2 "$DEV1" /mnt/tmp/cp
	manifest /mnt/tmp/cp >"$SHARE/snapshot"
	nilfs_umount /mnt/tmp/cp
	rm "$MNT/kept" "$MNT/after"
	for i in 1 2 3; do
		noise "$i" 9000000 >"$MNT/passing"
		sync
	done
	rm "$MNT/passing"
	sync
	clean "$DEV1" "$MNT" 0
	clean "$DEV1" "$MNT" 0
	nilfs_mount -o ro,cp=2 "$DEV1" /mnt/tmp/cp
	manifest /mnt/tmp/cp >"$SHARE/moved"
	nilfs_umount /mnt/tmp/cp
	nilfs_umount
	END
	kernel_content
	[ "$status" -eq 0 ]
	diff "$corpus/cleaned/manifest" "$share/latest"
	diff "$corpus/cleaned/manifest.2" "$share/snapshot"
	diff "$corpus/cleaned/manifest.2" "$share/moved"
	is_clean
	# The cleaner did have them in its hands.
	[ "$(node_block /kept 1 2)" != "$mended" ]
	guest "$image" <<-'END'
	nilfs_mount "$DEV1"
	chcp cp "$DEV1" 2
	clean "$DEV1" "$MNT" 0
	clean "$DEV1" "$MNT" 0
	lscp "$DEV1" | awk '$1 == 2 { exit 1 }'
	nilfs_umount
	END
	kernel_content
	[ "$status" -eq 0 ]
	is_clean
}
