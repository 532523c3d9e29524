#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Broken maps of files, rebuilt: what the logs still have is found again, and
# every file, in the latest state and in each snapshot, is what it was before
# the damage; what is lost is reported.

bats_require_minimum_version 1.5.0
load ../kernel/lab
load damage

setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
}

# take NAME: a copy of an image of the corpus, and its trees.
take() {
	image=$(copy_image "$1")
	trees before
}

# trees NAME: archives of the latest state and of all snapshots of $image.
trees() {
	local cno

	# A socket, which no archive has, is a status too.
	dump.nilfs2 export -q "$image" - >"$1.latest" 2>/dev/null || true
	for cno in $(dump.nilfs2 checkpoints -s "$image" |
			awk '$1 ~ /^[0-9]+$/ { print $1 }'); do
		dump.nilfs2 export -q -c "$cno" "$image" - >"$1.$cno"
	done
}

ino() {
	dump.nilfs2 bmap -s "$image" "$1" | awk '/^Inode:/ { print $2 }'
}

# vblock FILE [BLKOFF [CNO]]
vblock() {
	dump.nilfs2 bmap -b ${3:+-c "$3"} "$image" "$1" |
		awk -v key="${2-0}" '$NF == "data" && $1 == key { print $4 }'
}

# repair [STATUS]: repairs; then nothing is found any more.
repair() {
	rm -f undo
	run -"${1-1}" fsck.nilfs2 -fy --undo-file undo "$image"
	said=$output
	# shellcheck disable=SC2086
	run -0 fsck.nilfs2 -fnq ${look---data} "$image"
	[ -z "$output" ]
}

# unchanged: the trees are what they were.
unchanged() {
	local file

	trees after
	for file in before.*; do
		cmp "$file" "after${file#before}" || return
	done
}

@test "a node of a B-tree, whatever is wrong with it" {
	while read -r field; do
		take cleaned
		damage "bmap:$(ino /overwritten)/0" "$field"
		repair
		[[ $said == *"inode 313: node of level 1 at block 0: restored"* ]]
		unchanged || return
	done <<-FIELDS
	bn_level=2
	bn_flags=1
	bn_nchildren=0
	bn_nchildren=3000
	key[9]=8
	key[0]=1
	ptr[7]=0
	FIELDS
}

# noise FILE: the second node of its map is nothing but noise.
noise() {
	local block

	block=$(dump.nilfs2 bmap -b --nodes "$image" "$1" |
		awk '$NF == "node" && $1 > 0 { print $5; exit }')
	put_noise "$image" $((block * 4096)) 4096
}

@test "a node that is nothing but noise" {
	take cleaned
	noise /overwritten
	# The log that has it stays wrong.
	look='' repair
	unchanged
}

@test "a node of a snapshot becomes what the kernel wrote, byte for byte" {
	take cleaned
	sum=$(image_sum "$image")
	noise /kept
	[ "$(image_sum "$image")" != "$sum" ]
	# So the checksum of its log is right again.
	repair
	unchanged
}

@test "a root of a B-tree, and a key of it" {
	for field in "i_bmap[0]=$((0x10e01))" "i_bmap[0]=$((0x40201))" \
			'i_bmap[2]=300' 'i_bmap[5]=999999'; do
		take cleaned
		damage inode:/overwritten "$field"
		repair
		unchanged || return
	done
}

@test "a pointer that leads nowhere, or to another's block" {
	take special
	for number in 30000 18446744073709551615 "$(vblock /links)" \
			"$(vblock /modes/0777)"; do
		damage inode:/modes/0000 "i_bmap[1]=$number"
		repair
		unchanged || return
	done
}

@test "of two files that share a block the right one keeps it" {
	for pair in '/modes/0777 /modes/0000' '/modes/0000 /modes/0777'; do
		take special
		read -r one other <<<"$pair"
		damage "inode:$one" "i_bmap[1]=$(vblock "$other")"
		repair
		unchanged || return
	done
}

@test "an entry of the DAT that is lost" {
	take special
	damage "dat:$(vblock /links/a)" de_blocknr=0
	repair
	unchanged
}

@test "a directory without one of its blocks, or with another size" {
	for field in 'i_bmap[1]=0' 'i_bmap[2]=0' i_size=4096 i_size=65536 \
			i_size=0; do
		take special
		damage inode:/links "$field"
		repair
		unchanged || return
	done
}

@test "a symbolic link without its target" {
	take special
	damage inode:/types/symlink-short 'i_bmap[1]=0'
	repair
	unchanged
}

@test "a node that has lost its last children, and does not look it" {
	take cleaned
	damage "bmap:$(ino /overwritten)/0" bn_nchildren=7
	repair
	[[ $said == *"node of level 1 at block 0: restored from the logs"* ]]
	unchanged
}

@test "numbers of blocks" {
	take special
	damage inode:/links/a i_blocks=7
	damage inode:/types/fifo i_blocks=1
	repair
	unchanged
}

@test "a size that is too small for the blocks becomes that which another checkpoint has" {
	take cleaned
	damage inode:/kept i_size=4097
	repair
	[[ $said == *"size set to 3000000"* ]]
	unchanged
}

@test "a size that no other checkpoint has becomes that of the blocks" {
	mkdir tree
	head -c 100000 /dev/urandom >tree/file
	image=image
	mkfs.nilfs2 -q -b 1024 -B 64 --size 4M -d tree $image
	damage inode:/file i_size=100
	repair
	[[ $said == *"size set to 100352"* ]]
	dump.nilfs2 cat $image /file | cmp -n 100000 - tree/file
}

@test "a block past the size that the logs have at another place goes there" {
	take special
	content=$(dump.nilfs2 cat "$image" /links/a)
	damage inode:/links/a i_size=0 "i_bmap[1]=0" \
		"i_bmap[3]=$(vblock /links/a 0)"
	repair
	[[ $said == *"map restored from the logs"* ]]
	[ "$(dump.nilfs2 cat "$image" /links/a | head -c ${#content})" = \
		"$content" ]
}

@test "what a snapshot shares is repaired for both" {
	while read -r structure field; do
		take cleaned
		structure=${structure/INO/$(ino /kept)}
		damage "$structure" "${field/VBLOCK/$(vblock /kept 6)}"
		repair
		unchanged || return
	done <<-FIELDS
	bmap:INO/0 bn_level=2
	bmap:INO/0 ptr[5]=VBLOCK
	bmap:INO/0 key[9]=8
	inode:/kept i_bmap[0]=$((0x10e01))
	inode:/kept i_bmap[5]=777
	FIELDS
}

# A node that several checkpoints share is gone, and with it the log that lists
# some of its blocks: these are what they were before that node was made.
@test "what no log has is what an older checkpoint has" {
	take cleaned
	dump.nilfs2 cat "$image" /overwritten >new
	dump.nilfs2 cat -c 2 "$image" /overwritten >old
	cp new wanted
	dump.nilfs2 bmap -b "$image" /overwritten >map
	segment=$(awk '$1 == 0 && $NF == "data" { print int($5 / 128) }' map)
	for block in $(awk -v s="$segment" '$NF == "data" && $1 < 255 &&
			int($5 / 128) == s { print $1 }' map); do
		dd if=old of=wanted bs=4096 skip="$block" seek="$block" \
			count=1 conv=notrunc status=none
	done
	run -1 cmp new wanted
	damage "bmap:$(ino /overwritten)/0" bn_level=2
	damage_raw "log:$((segment * 128))" ss_magic=0
	# What is left of the log stays where it is.
	look='' repair
	[[ $said == *"restored from checkpoint 2"* ]]
	[[ $said == *"there may be holes"* ]]
	dump.nilfs2 cat "$image" /overwritten | cmp - wanted
	trees after
	cmp before.2 after.2
}

@test "what only a snapshot has" {
	take snapshots
	damage -c 2 inode:/d/f3 "i_bmap[1]=$(vblock /d/f1 0 2)"
	repair
	[[ $said == *"inode "*": map restored from the logs"* ]]
	unchanged
}

@test "several inodes of one block in a snapshot" {
	take snapshots
	damage -c 4 inode:/d/f1 'i_bmap[1]=123456789'
	damage -c 4 inode:/d/f3 'i_bmap[1]=123456789'
	repair
	unchanged
}

@test "the kernel reads a repaired snapshot, and moves its blocks" {
	need_guest uml
	share=$BATS_TEST_TMPDIR/share
	mkdir "$share"
	take cleaned
	for block in $(dump.nilfs2 bmap -b --nodes "$image" /kept |
			awk '$NF == "node" { print $5 }'); do
		damage "node:$block" bn_flags=1
	done
	repair
	unchanged
	guest --share "$share" "$image" <<-'END'
	nilfs_mount -o ro,cp=2 "$DEV1"
	manifest "$MNT" >"$SHARE/snapshot"
	nilfs_umount
	nilfs_mount "$DEV1"
	manifest "$MNT" >"$SHARE/latest"
	rm "$MNT/kept" "$MNT/after"
	rewrite "$MNT/passing" 1 3 9000000
	rm "$MNT/passing"
	sync
	clean "$DEV1" "$MNT" 0
	clean "$DEV1" "$MNT" 0
	nilfs_umount
	nilfs_mount -o ro,cp=2 "$DEV1"
	manifest "$MNT" >"$SHARE/moved"
	nilfs_umount
	END
	kernel_content
	[ "$status" -eq 0 ]
	diff "$corpus/cleaned/manifest" "$share/latest"
	diff "$corpus/cleaned/manifest.2" "$share/snapshot"
	diff "$corpus/cleaned/manifest.2" "$share/moved"
	run -0 fsck.nilfs2 -fnq "$image"
	[ -z "$output" ]
}

@test "the kernel reads what was repaired" {
	need_guest uml
	share=$BATS_TEST_TMPDIR/share
	mkdir "$share"
	take cleaned
	damage inode:/overwritten "i_bmap[0]=$((0x10e01))"
	damage inode:/after "i_bmap[0]=$((0x40201))"
	damage inode:/small-1 "i_bmap[1]=$(vblock /small-101)"
	repair
	unchanged
	guest --share "$share" "$image" <<-'END'
	nilfs_mount "$DEV1"
	manifest "$MNT" >"$SHARE/first"
	nilfs_umount
	nilfs_mount "$DEV1"
	scatter "$MNT/overwritten" 4096 732 100 7
	rm "$MNT/after"
	sync
	clean "$DEV1" "$MNT" 0
	nilfs_umount
	nilfs_mount "$DEV1"
	find "$MNT" -type f -exec cat {} + | wc -c
	nilfs_umount
	END
	kernel_content
	[ "$status" -eq 0 ]
	diff "$corpus/cleaned/manifest" "$share/first"
	run -0 fsck.nilfs2 -fnq "$image"
	[ -z "$output" ]
}

@test "without -y a log that has the right place of a block is kept for it" {
	take cleaned
	node=$(dump.nilfs2 bmap -b --nodes "$image" /kept |
		awk '$NF == "node" { at = $5 } END { print at }')
	# The last key of the last node.
	damage "node:$node" "key[253]=36028797018963968"
	expect bmap-place inode-past-limit
	run -4 fsck.nilfs2 -fp "$image"
	expect bmap-place inode-past-limit
	repair
	unchanged
}

@test "a block past the largest file, by its log too, is none in any checkpoint" {
	take cleaned
	read -r node < <(dump.nilfs2 bmap -b --nodes "$image" /kept |
		awk '$NF == "node" { at = $5 } END { print at }')
	read -r block < <(dump.nilfs2 bmap -b "$image" /kept |
		awk '$NF == "data" { at = $5 } END { print at }')
	read -r log index < <(dump.nilfs2 logs --json -b "$image" |
		gojq -r ".logs[] | .blocknr as \$log | .blocks[]? |
			select(.blocknr == $block) | \"\(\$log) \(.index)\"")
	damage "node:$node" "key[253]=36028797018963968"
	damage "binfo:$log/$index" bi_blkoff=36028797018963968
	expect inode-past-limit
	# A hole is where it was.
	trees before
	repair
	unchanged
}

@test "a node that says a level less is restored, and no map is rebuilt" {
	image=$(copy_image deep-1k)
	dump.nilfs2 cat "$image" /large >before
	node=$(dump.nilfs2 bmap --nodes "$image" /large |
		awk '$NF == "node" && $(NF - 1) == 2 { print $(NF - 2); exit }')
	dump.nilfs2 set -q --expert --fix-checksums "$image" "node:$node" \
		bn_level=1
	repair
	[[ $said == *"node of level 2 at block 0: restored from the logs"* ]]
	[[ $said == *"lost: nothing"* ]]
	dump.nilfs2 cat "$image" /large | cmp - before
}

# Blocks of both nodes are listed by sound logs, each for its own file. The log of
# another checkpoint cannot be read.
@test "nodes that changed places are restored beside a log that is lost" {
	local size

	take snapshots
	size=$(block_size)
	cp --sparse=always "$image" sound
	mapfile -t nodes < <(for file in /d/f5 /d/f9; do
		dump.nilfs2 bmap -b --nodes -c 2 "$image" "$file" |
			awk '$NF == "node" { print $5 }'
	done)
	[ "${#nodes[@]}" -eq 2 ]
	log=$(dump.nilfs2 logs --json -b "$image" |
		gojq 'first(.logs[] | select(.ss_cno == 3)) | .blocknr')
	dd if=sound of="$image" bs="$size" skip="${nodes[0]}" \
		seek="${nodes[1]}" count=1 conv=notrunc status=none
	dd if=sound of="$image" bs="$size" skip="${nodes[1]}" \
		seek="${nodes[0]}" count=1 conv=notrunc status=none
	dd if=/dev/zero of="$image" bs="$size" seek="$log" count=1 \
		conv=notrunc status=none
	repair
	[[ $said == *"inode 17: node of level 1 at block 0: restored from the logs"* ]]
	unchanged
}
