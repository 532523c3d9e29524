#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Repairs of full volumes: the kernel filled them until it had no segment left
# for its users, and one of them until it had none at all.

bats_require_minimum_version 1.5.0
load ../kernel/lab
load damage

setup() {
	need_guest uml
	cd "$BATS_TEST_TMPDIR" || return 1
	[ -e "$BATS_FILE_TMPDIR/empty" ] || fill_volumes
	# For damage(), in another file.
	# shellcheck disable=SC2034
	image=image
	cp "$BATS_FILE_TMPDIR/empty" image
}

# "filled" has files until writing fails; "empty" then has times of a file set
# and synchronized until there is no place for one more log.
fill_volumes() {
	mkdir source
	for n in 1 2 3 4 5; do
		echo "small $n" >"source/file$n"
	done
	mkfs.nilfs2 -q --size 16M -B 16 -d source filled
	cp filled empty
	guest filled empty <<-'SCRIPT'
	fill() {
		local i=0

		while [ $i -lt 200 ] && dd if=/dev/zero of="$MNT/fill.$i" \
			bs=64k count=3 conv=fsync status=none 2>/dev/null; do
			i=$((i + 1))
		done
		sync
	}
	wear() {
		local i=0

		while [ $i -lt 200 ] && touch -d @$i "$MNT/file1" &&
			sync -f "$MNT/file1" 2>/dev/null; do
			i=$((i + 1))
		done
		sync
	}
	nilfs_mount "$DEV1" && fill
	nilfs_umount
	nilfs_mount "$DEV2" && fill && wear
	nilfs_umount
	SCRIPT
	[ "$status" -eq 0 ]
	mv filled empty "$BATS_FILE_TMPDIR"
}

clean_segments() {
	dump.nilfs2 segments --json "$1" |
		gojq '[.. | .su_flags? | select(. == 0)] | length'
}

tree() {
	dump.nilfs2 export -q "$1" - | cksum
}

supers_of() {
	dd if="$1" of="$2" bs=1024 skip=1 seek=1 count=1 conv=notrunc \
		status=none
	dd if="$1" of="$2" bs=4096 skip=4095 seek=4095 count=1 conv=notrunc \
		status=none
}

# room_is_made: $image, damaged, is repaired, and everything is undone again, by
# the way of a repair that was cut short before the superblocks.
room_is_made() {
	rm -f undo
	cp image broken
	run -1 fsck.nilfs2 -y --undo-file undo image
	[[ $output == *"repaired: plain checkpoints from "*": given up to free "* ]]
	run -0 fsck.nilfs2 -n image
	cp image repaired
	supers_of broken image
	[ "$(tree image)" = "$(tree broken)" ]
	run -0 fsck.nilfs2 --undo undo image
	cmp image broken
	cp repaired image
	run -0 fsck.nilfs2 --undo undo image
	cmp image broken
}

@test "where the kernel allows no writes a repair has room" {
	cp "$BATS_FILE_TMPDIR/filled" image
	before=$(tree image)
	damage inode:/file2 i_links_count=5
	run -1 fsck.nilfs2 -p -f image
	[[ $output != *"given up"* ]]
	run -0 fsck.nilfs2 -n image
	[ "$(tree image)" = "$before" ]
}

@test "no room is no repair, and it is said what would make room" {
	damage inode:/file2 i_links_count=5
	cp image broken
	run -4 --separate-stderr fsck.nilfs2 -y image
	# shellcheck disable=SC2154
	[[ $stderr == *"no segment is free for a repair; -y --undo-file FILE"* ]]
	cmp image broken
	# That may be lost, but only if the user says so.
	run -4 fsck.nilfs2 -p -f --undo-file undo image
	cmp image broken
	[ ! -e undo ]
}

@test "a warning that is left for want of room is not repaired" {
	damage inode:/file2 i_blocks=99
	says "^inode-blocks: "
	cp image broken
	run -4 --separate-stderr fsck.nilfs2 -fy image
	[[ $stderr == *"no segment is free for a repair"* ]]
	cmp image broken
	run -0 fsck.nilfs2 -fn image
}

@test "an inode" {
	before=$(tree image)
	damage inode:/file2 i_links_count=5
	room_is_made
	[ "$(tree repaired)" = "$before" ]
}

@test "a name" {
	damage dirent:/file3 inode=99999
	room_is_made
	# Under this name, or another one.
	dump.nilfs2 export -q repaired - | grep -aq 'small 3'
	[ "$(dump.nilfs2 cat repaired /file4)" = "small 4" ]
}

# What is derived is written in its place, where an undo file keeps the rest.
@test "counts of checkpoints need no room" {
	before=$(tree image)
	damage cpheader ch_ncheckpoints=3
	cp image broken
	run -1 fsck.nilfs2 -y --undo-file undo image
	[[ $output != *"given up"* ]]
	run -0 fsck.nilfs2 -n image
	[ "$(tree image)" = "$before" ]
	run -0 fsck.nilfs2 --undo undo image
	cmp image broken
}

@test "the allocator of inodes" {
	before=$(tree image)
	damage group:ifile/0 pg_nfrees=7
	room_is_made
	[ "$(tree repaired)" = "$before" ]
}

@test "snapshots stay" {
	local cno

	cno=$(dump.nilfs2 checkpoints image | awk '$1 ~ /^[0-9]+$/ { n = $1 }
		END { print n - 8 }')
	damage "checkpoint:$cno" cp_flags=snapshot
	# The list and the counts are made by a repair, in the same way.
	run -1 fsck.nilfs2 -y --undo-file undo image
	dump.nilfs2 export -q -c "$cno" image - >of.snapshot
	cmp of.snapshot <(dump.nilfs2 export -q -c "$cno" \
		"$BATS_FILE_TMPDIR/empty" -)
	run -0 fsck.nilfs2 -n image
}

@test "the kernel mounts what was repaired, and goes on" {
	damage inode:/file2 i_links_count=5
	damage cpheader ch_ncheckpoints=3
	run -1 fsck.nilfs2 -y --undo-file undo image
	before=$(tree image)
	guest image <<-'SCRIPT'
	nilfs_mount -o ro,norecovery "$DEV1"
	cat "$MNT"/file*
	cat "$MNT"/fill.* | wc -c
	nilfs_umount
	nilfs_mount "$DEV1"
	rm "$MNT"/fill.1
	nilfs_umount
	SCRIPT
	[ "$status" -eq 0 ]
	kernel_content
	[ "$(head -n 5 <<<"$output")" = "$(printf 'small %s\n' 1 2 3 4 5)" ]
	run -0 fsck.nilfs2 -n image
}
