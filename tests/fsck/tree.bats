#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The pass over files: one field of a map, of the DAT or of an inode wrong, and
# the rules about maps and inodes that it breaks.  What other passes say of it
# is asked in their tests.

bats_require_minimum_version 1.5.0
load ../kernel/lab
load damage

setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
}

# rules: the slugs of rules about maps and inodes, those about links left out.
rules() {
	fsck.nilfs2 --list-rules |
		awk '/^(bmap|inode)-/ && $2 < 9020 { print $1 }'
}

# broken SLUG...: of these rules these and no others are broken.
broken() {
	local slugs

	slugs=$(found) || return
	slugs=$(xargs -n 1 <<<"$slugs" | grep -Fxf <(rules) | xargs)
	[ "$slugs" = "$*" ] && return
	echo "wanted: $*"
	fsck.nilfs2 -n -j 1 "$image"
	return 1
}

# ino PATH; vblock PATH [BLKOFF]: of a file of $image.
ino() {
	dump.nilfs2 bmap -s "$image" "$1" | awk '/^Inode:/ { print $2 }'
}

vblock() {
	dump.nilfs2 bmap -b "$image" "$1" |
		awk -v key="${2-0}" '$NF == "data" && $1 == key { print $4 }'
}

@test "nothing that the kernel left is wrong" {
	for image in "$corpus"/*/image; do
		broken || return
	done
}

@test "counts of blocks are the kernel's, where a feature says they count" {
	for image in "$corpus"/*/image; do
		image=$(copy_image "$(basename "$(dirname "$image")")")
		for copy in 1 2; do
			damage "super:$copy" s_feature_compat_ro=1
		done
		broken || return
		rm "$image"
	done
}

@test "volumes filled by mkfs.nilfs2, of each block size" {
	mkdir -p tree/sub
	(
		cd tree || exit
		yes | head -c 3000000 >large
		printf x | dd of=sparse bs=1 seek=900000000 status=none
		truncate -s 123456789 hole
		mkfifo sub/fifo
		ln large sub/hard
		ln -s large short
		ln -s "$(printf '%0900d' 1)" long
		for i in $(seq 300); do
			echo "$i" >"sub/a-file-with-a-longer-name-$i"
		done
	)
	image=filled
	for size in 1024 2048 4096 8192; do
		mkfs.nilfs2 -q -f --size 64M -B 256 -b "$size" --snapshot \
			-d tree -d tree/sub "$image"
		broken || return
		run -0 fsck.nilfs2 -n "$image"
		rm "$image"
	done
}

@test "a node of a B-tree, one thing wrong at a time" {
	nchildren=255
	while read -r field rule; do
		image=$(copy_image cleaned)
		damage "bmap:$(ino /overwritten)/0" "$field"
		broken "$rule" || return
	done <<-FIELDS
	bn_level=2 bmap-node-level
	bn_level=14 bmap-node-level
	bn_flags=1 bmap-node-flags
	bn_nchildren=0 bmap-node-nchildren
	bn_nchildren=$((nchildren + 1)) bmap-node-nchildren
	key[1]=0 bmap-key-order
	key[9]=8 bmap-key-order
	ptr[7]=0 bmap-null-pointer
	FIELDS
}

@test "keys of a node against those of its parent" {
	image=$(copy_image cleaned)
	dump.nilfs2 bmap -b --nodes "$image" /overwritten >map
	key=$(awk '$NF == "node" && $1 > 0 { print $1; exit }' map)
	damage "bmap:$(ino /overwritten)/$key" "key[0]=$((key - 1))"
	broken bmap-first-key
	image=$(copy_image cleaned)
	last=$(awk -v k="$key" '$NF == "data" && $1 < k' map | wc -l)
	damage "bmap:$(ino /overwritten)/0" "key[$((last - 1))]=$key"
	broken bmap-key-range
}

@test "the root of a B-tree" {
	image=$(copy_image cleaned)
	damage inode:/overwritten "i_bmap[0]=$((0x10e01))"
	broken bmap-root-level
	damage inode:/overwritten "i_bmap[0]=$((0x40201))"
	broken bmap-root-nchildren
}

@test "a pointer that leads nowhere, to an unused or to another's block" {
	image=$(copy_image special)
	own=$(vblock /links/a)
	for number in 30000 18446744073709551615 123456789; do
		damage inode:/links/a "i_bmap[1]=$number"
		broken bmap-vblock-missing
	done
	damage inode:/links/a "i_bmap[1]=$(vblock /links)"
	broken bmap-twice
	damage inode:/links/a "i_bmap[1]=$own"
	broken
	damage inode:/links/a "i_bmap[1]=0"
	broken inode-blocks
}

@test "an entry of the DAT against the pointer to it" {
	image=$(copy_image special)
	vblock=$(vblock /links/a)
	damage "bitmap:dat/$vblock" bit=0
	broken bmap-vblock-free
	damage "bitmap:dat/$vblock" bit=1
	damage "dat:$vblock" de_blocknr=0
	broken bmap-vblock-unwritten
	damage "dat:$vblock" de_blocknr=100000000
	broken bmap-block-unused
	# The last segment is clean.
	damage "dat:$vblock" "de_blocknr=$(dump.nilfs2 info -v "$image" |
		awk '/s_nsegments/ { n = $2 }
			/s_blocks_per_segment/ { b = $2 }
			END { print (n - 1) * b }')"
	broken bmap-block-unused
}

@test "lifetimes of blocks include those of their holders" {
	image=$(copy_image snapshots)
	vblock=$(vblock /d/f1)
	damage "dat:$vblock" de_start=22
	broken bmap-lifetime
	damage "dat:$vblock" de_start=1
	broken
	damage "dat:$vblock" de_end=22
	broken bmap-lifetime
}

@test "a wrong lifetime of a node is not one of all below it" {
	image=$(copy_image cleaned)
	vblock=$(dump.nilfs2 bmap -b --nodes "$image" /overwritten |
		awk '$NF == "node" { print $4; exit }')
	damage "dat:$vblock" de_start=12
	broken bmap-lifetime
	[ "$(fsck.nilfs2 -n -j 1 "$image" | grep -c ^bmap-lifetime)" -eq 1 ]
}

@test "a lost bitmap of the DAT frees whole groups, reported once a block" {
	image=$(copy_image special)
	damage inode:dat 'i_bmap[2]=0'
	[ "$(fsck.nilfs2 -n -j 1 "$image" | grep -c ^bmap-vblock-free)" -le 2 ]
}

@test "an inode without links, one that is empty, one that is marked free" {
	image=$(copy_image special)
	damage inode:/links/a i_links_count=0
	broken inode-orphan
	image=$(copy_image special)
	file=$(ino /links/a)
	damage "bitmap:ifile/$file" bit=0
	broken inode-count inode-free
	image=$(copy_image special)
	damage bitmap:ifile/90 bit=1
	broken inode-count inode-empty
	image=$(copy_image special)
	damage bitmap:ifile/5 bit=0
	broken inode-reserved-free
}

@test "orphans are no error" {
	image=$(copy_image special)
	damage inode:/types/fifo i_links_count=0
	fsck.nilfs2 -n -j 1 "$image" | grep -F inode-orphan
	fsck.nilfs2 --list-rules | grep -w inode-orphan | grep -i warning
}

@test "sizes against blocks" {
	image=$(copy_image special)
	damage inode:/types i_size=8192
	broken inode-dir-blocks
	damage inode:/types i_size=4097
	broken inode-dir-size
	damage inode:/types i_size=4096
	damage inode:/types/symlink-short 'i_bmap[1]=0'
	broken inode-blocks inode-symlink-block
	image=$(copy_image special)
	damage inode:/links/a i_size=0
	broken inode-past-size
	damage inode:/links/a i_size=100000
	broken
}

@test "counts of blocks and of inodes" {
	image=$(copy_image special)
	damage inode:/links/a i_blocks=7
	broken inode-blocks
	damage inode:/links/a i_blocks=8
	damage inode:/types/fifo i_blocks=1
	broken inode-mode
	damage inode:/types/fifo i_blocks=0
	damage checkpoint:3 cp_inodes_count=65 cp_blocks_count=1
	broken inode-count
	for copy in 1 2; do
		damage "super:$copy" s_feature_compat_ro=1
	done
	broken inode-count inode-count-blocks
}

@test "one inode too many, as old volumes count, does not fail a check at boot" {
	image=$(copy_image empty)
	damage checkpoint:1 cp_inodes_count=2
	run ! grep 2.0.22 <(fsck.nilfs2 -fn "$image")
	damage checkpoint:1 cp_inodes_count=3
	run -0 fsck.nilfs2 -fn "$image"
	[[ $output == *"(expected 2, found 3): "*" 2.0.22 "* ]]
	run -1 fsck.nilfs2 -fa "$image"
	run -0 fsck.nilfs2 -fa "$image"
}

@test "the inode itself" {
	image=$(copy_image special)
	damage inode:/links/a i_mode=0170000
	broken inode-mode
	damage inode:/links/a i_mode=0100644 i_links_count=32001
	broken inode-links
	image=$(copy_image special)
	damage inode:2 i_links_count=0
	broken inode-links-zero
	image=$(copy_image special)
	damage checkpoint:3 cp_ifile_inode.i_mode=0040755
	broken inode-metadata-mode
}

@test "what many snapshots share is reported once" {
	image=$(copy_image many-snapshots-2k)
	damage -c 6 inode:2 i_blocks=99
	broken inode-blocks
	fsck.nilfs2 -n -j 1 "$image" | grep -c ^inode-blocks >count
	[ "$(cat count)" -eq 1 ]
	fsck.nilfs2 -n -j 1 "$image" |
		grep '^inode-blocks: checkpoint 6: inode 2:'
}

@test "what is only in plain checkpoints is history" {
	image=$(copy_image snapshots)
	damage -c 13 inode:2 i_blocks=99
	run -0 fsck.nilfs2 -n "$image"
	[[ $output != *inode-blocks* ]]
	run -0 fsck.nilfs2 -n --all --json "$image"
	[ "$(gojq -c '.findings[] | [.rule, .place.checkpoint, .history]' \
		<<<"$output")" = '["inode-blocks",13,true]' ]
	[ "$(gojq -c .counts <<<"$output")" = '[]' ]
}

@test "what a snapshot shares with a newer plain checkpoint is the snapshot's" {
	image=$(copy_image snapshots)
	# In checkpoints 2, a snapshot, and 3.
	vblock=$(dump.nilfs2 dat -a "$image" |
		awk '$3 == 2 && $4 == 4 { print $1; exit }')
	damage "dat:$vblock" de_blocknr=0
	[ "$(fsck.nilfs2 -n "$image" | grep -c ^bmap-vblock-unwritten)" -eq 1 ]
	says '^bmap-vblock-unwritten: checkpoint 2: '
}

@test "a broken node, a broken root, a block of inodes hide nothing beside it" {
	image=$(copy_image cleaned)
	damage "bmap:$(ino /overwritten)/0" bn_level=2
	damage inode:/small-1 i_blocks=7
	damage inode:/after "i_bmap[0]=$((0x10e01))"
	broken bmap-node-level bmap-root-level inode-blocks
}

@test "several workers find the same" {
	image=$(copy_image small-files)
	for file in $(dump.nilfs2 ls -R "$image" | awk 'NR % 100 == 5'); do
		damage "inode:$file" i_blocks=3 || true
	done
	fsck.nilfs2 -n --all -j 1 "$image" | sort >one || [ $? -eq 4 ]
	fsck.nilfs2 -n --all -j 4 "$image" | sort >four || [ $? -eq 4 ]
	[ "$(grep -c ^inode-blocks one)" -gt 20 ]
	cmp one four
}

@test "a symbolic link whose block holds zeros is an error to every tool" {
	image=$(copy_image special)
	block=$(dump.nilfs2 bmap -b "$image" /types/symlink-short |
		awk '$NF == "data" { print $5 }')
	overwrite "$block" </dev/zero
	says '^inode-symlink-target: checkpoint'
	run -1 dump.nilfs2 export -q "$image" tree.tar
	[[ $output == *"/types/symlink-short: symbolic link to nothing"* ]]
	run -1 fsck.nilfs2 -fy "$image"
	[[ $output == *"/types/symlink-short: the file was removed"* ]]
	run -1 dump.nilfs2 export -q "$image" after.tar
	[ "$output" = 'dump.nilfs2: sockets left out: tar has none (files: 1)' ]
	tar tf after.tar >names
	grep -q 'types/symlink-255$' names
	run ! grep 'types/symlink-short$' names
}
