#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Damage to the latest state never costs a snapshot, and damage to a snapshot
# neither the latest state nor any other snapshot.

bats_require_minimum_version 1.5.0
load ../kernel/lab
load damage
load repaired

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

# repair: fsck.nilfs2 repairs what it can; sets $said and $status.
repair() {
	status=0
	said=$(fsck.nilfs2 -fy "$image" 2>&1) || status=$?
	[ "$status" -eq 1 ] || [ "$status" -eq 4 ] || return
}

# others_same [CNO]: the latest state (0) and all snapshots but CNO are what
# they were, and there are as many.
others_same() {
	diff <(grep -v "^${1-none} " trees.sound) \
		<(trees_of "$image" | grep -v "^${1-none} ") &&
	diff <(cut -d ' ' -f 1 trees.sound) \
		<(trees_of "$image" | cut -d ' ' -f 1)
}

# loss_named CNO TEXT: something of that checkpoint alone is lost; TEXT is said,
# and nothing is left to be repaired.
loss_named() {
	repair
	[ "$status" -eq 1 ]
	[[ $said == *"$2"* ]]
	others_same "$1"
	is_clean
}

@test "damage to the latest state costs no snapshot" {
	begin cleaned
	mv "$image" sound
	ino=$(dump.nilfs2 bmap -s sound /overwritten |
		awk '/^Inode:/ { print $2 }')
	while read -r structure field; do
		cp --sparse=always sound "$image"
		damage "$structure" "$field"
		! is_clean
		repair
		others_same 0 || {
			echo "$structure $field"
			return 1
		}
	done <<-FIELDS
	inode:/overwritten i_mode=0
	inode:/after i_links_count=0
	inode:/after i_size=18446744073709551615
	inode:/ i_mode=0
	inode:/overwritten i_bmap[0]=$((0x10e01))
	inode:/after i_bmap[1]=18446744073709551615
	bmap:$ino/0 bn_level=2
	bmap:$ino/0 ptr[7]=0
	dirent:/after inode=9999
	dirent:/after rec_len=4
	dirent:/. inode=300
	bitmap:ifile/12 bit=0
	group:ifile/0 pg_nfrees=70000
	checkpoint:12 cp_cno=99
	checkpoint:12 cp_ifile_inode.i_bmap[1]=1
	checkpoint:12 cp_flags=invalid
	cpheader ch_nsnapshots=9
	FIELDS
}

@test "a block of inodes, of names, of a map of the latest state that is lost" {
	begin cleaned
	mv "$image" sound
	image=sound
	blocks="$(map_block ifile 2) $(map_block / 0)
		$(node_block /overwritten 0) $(map_block cpfile 0)"
	image=cleaned.image
	for block in $blocks; do
		cp --sparse=always sound "$image"
		spoil "$block"
		repair
		others_same 0 || {
			echo "block $block"
			return 1
		}
	done
}

# sizes: of all files of $image that are not empty.
sizes() {
	tree | awk '/^-/ && $5 { print $5 }' | sort
}

# By chance some of them have but one field that no inode may have.  Files that
# were removed since come back.
@test "inodes in a block of noise are had from the checkpoint before" {
	begin small-files
	sizes >sizes.sound
	spoil "$(map_block ifile 2)"
	run -1 fsck.nilfs2 -fy "$image"
	is_clean
	[[ $output == *"inode 12: restored from checkpoint 3"* ]]
	[[ $output != *"fields repaired"* ]]
	[ -z "$(comm -23 sizes.sound <(sizes))" ]
}

# Two files and a directory in it are younger than the checkpoint before, when
# their numbers were free; before that they were others'.  Names have their types
# and logs their blocks; how many bytes of the last one are theirs is not known.
@test "inodes in a block of zeros are, too, or from names and logs" {
	begin small-files
	sizes >sizes.sound
	tree | awk '{ print $NF }' >names.sound
	dump.nilfs2 cat "$image" /deep/level-1/level-2/file >file.sound
	dd if=/dev/zero of="$image" bs=4096 seek="$(map_block ifile 3)" \
		count=1 conv=notrunc status=none
	run -1 fsck.nilfs2 -fy "$image"
	is_clean
	[[ $output != *"no checkpoint has it"* ]]
	[ "$(grep -c ': rebuilt from the logs$' <<<"$output")" -eq 3 ]
	[ "$(comm -3 sizes.sound <(sizes))" = $'2\n2\n\t4096\n\t4096' ]
	tree | awk '{ print $NF }' | cmp - names.sound
	dump.nilfs2 cat "$image" /deep/level-1/level-2/file |
		head -c 2 | cmp - file.sound
}

@test "damage to a snapshot is repaired, and costs no other" {
	begin snapshots
	mv "$image" sound
	while read -r cno structure field; do
		cp --sparse=always sound "$image"
		damage -c "$cno" "$structure" "$field"
		! is_clean
		repairs || {
			echo "$cno $structure $field"
			return 1
		}
	done <<-FIELDS
	2 inode:/d/f3 i_mode=0
	4 inode:/d/f3 i_size=18446744073709551615
	4 inode:/soft i_size=99999
	2 inode:/d i_size=8192
	2 inode:/d i_ctime_nsec=4000000000
	2 inode:/d/f4 i_links_count=5
	2 inode:/d/f3 i_bmap[1]=123456789
	4 inode:/d/f20 i_bmap[0]=$((0x10e01))
	2 dirent:/d/.. inode=14
	2 dirent:/d/. inode=14
	2 dirent:/.. inode=1
	2 dirent:/d/f5 inode=9999
	2 dirent:/d/f5 rec_len=8
	4 dirent:/d/f3 rec_len=64
	4 dirent:/d/f3 rec_len=4000
	2 dirent:/d/f5 file_type=77
	2 dirent:/d/f7 name_len=0
	4 dirent:/d/f6 name_len=200
	4 dirent:/d/f4 inode=999
	FIELDS
}

# All logs can be read.  Checkpoint 3 has /d/f3 with the same blocks; no other has
# those of /deep, whose last one may be full or not.
@test "a size of a file of a snapshot that is too small for its blocks" {
	begin snapshots
	damage -c 2 inode:/d/f3 i_size=100
	run -1 fsck.nilfs2 -fy "$image"
	[[ $output == *"checkpoint 2: inode 15: size set to 21000,"* ]]
	is_clean
	same_trees
	begin cleaned-1k
	damage -c 17 inode:/deep i_size=4096
	damage -c 17 inode:/deep i_blocks=8
	loss_named 17 "checkpoint 17: inode 12: block count set to 1987"
	[[ $said == *"checkpoint 17: inode 12: size set to 2000896,"* ]]
	tree 17 | grep '^-.* 2000896 .*/deep$'
}

# The block has the root and all of /d; only /d/f2 was written again for the
# snapshot, so that no other checkpoint has its inode.
@test "inodes of a snapshot in a block that was zeroed" {
	begin snapshots
	tree 4 >sound
	dd if=/dev/zero of="$image" bs=4096 seek="$(map_block ifile 2 4)" \
		count=1 conv=notrunc status=none
	loss_named 4 "checkpoint 4: inode 12: restored from checkpoint 3"
	[[ $said == *"inode 14: restored from checkpoint 3, its map from the logs"* ]]
	[[ $said == *"lost: snapshot 4: inode"*" attributes are of checkpoint 3"* ]]
	diff <(grep -v '/d/f2$' sound) <(tree 4 | grep -v '/d/f2$')
}

# Every inode of the block has findings, and each is replaced, and noted, once.
@test "inodes of a snapshot in a block of noise are replaced once" {
	begin snapshots
	spoil "$(map_block ifile 2 2)"
	repair
	is_clean
	[[ $said == *"checkpoint 2: inode 12: restored from checkpoint 3"* ]]
	[ -z "$(grep '^repaired: ' <<<"$said" | sort | uniq -d)" ]
}

# The number of a file changes to that of another one, or to 10, which is an
# inode that mkfs.nilfs2 makes and nothing names.
@test "a name in a snapshot that leads to another inode gets its own again" {
	image=$(copy_image snapshots)
	trees_of "$image" >trees.sound
	cp --sparse=always "$image" sound
	said="'f2' leads to inode 14 again"
	for ino in 10 13 25; do
		cp --sparse=always sound "$image"
		dump.nilfs2 set -q --expert --fix-checksums -c 4 "$image" \
			dirent:/d/f2 "inode=$ino" >/dev/null
		run -4 fsck.nilfs2 -fn "$image"
		rm -f undo
		run fsck.nilfs2 -fy --undo-file undo "$image"
		echo "$output"
		[ "$status" -eq 1 ]
		[[ $output == *"checkpoint 4: "*"$said"* ]]
		[[ $ino != 10 || $output == *"lost: nothing"* ]]
		run -0 fsck.nilfs2 -fn "$image"
		diff trees.sound <(trees_of "$image")
	done
}

# Directory 12 has a name of its own, and the entry still has the type of a link.
@test "a name in a snapshot that leads to a directory gets its own inode again" {
	image=$(copy_image snapshots)
	trees_of "$image" >trees.sound
	dump.nilfs2 set -q --expert -c 21 "$image" dirent:/soft inode=12 >/dev/null
	run -4 fsck.nilfs2 -fn "$image"
	run -1 fsck.nilfs2 -fy --undo-file undo "$image"
	echo "$output"
	[[ $output == *"checkpoint 21: "*"'soft' leads to inode "*" again, not 12"* ]]
	[[ $output == *"lost: nothing"* ]]
	run -0 fsck.nilfs2 -fn "$image"
	diff trees.sound <(trees_of "$image")
}

@test "what is lost of a snapshot is reported, and the snapshot is kept" {
	begin snapshots
	mv "$image" sound
	image=sound
	ifile=$(dump.nilfs2 bmap -b -c 2 sound ifile |
		awk '$1 == 2 && $NF == "data" { print $5 }')
	image=snapshots.image
	cp --sparse=always sound "$image"
	spoil "$ifile"
	loss_named 2 'lost: snapshot 2: inode 2'
	# Which of two names is one too many is not known.
	cp --sparse=always sound "$image"
	damage -c 2 dirent:/d/f5 inode=18
	repair
	[ "$status" -eq 4 ]
	[[ $said == *'lost: snapshot 2: inode 17, /#17: its former name'* ]]
	others_same 2
}

# The block of the inode has been written again since: that of another file changed.
@test "a block that a snapshot's map has lost is missed, however new the inode is" {
	mkdir one two three
	head -c 9000 /dev/urandom | tee one/f >three/f
	echo x >>three/f
	echo 1 >one/g
	echo 22 >two/g
	mkfs.nilfs2 -q -B 64 --size 16M --snapshot -d one -d two -d three image
	gc.nilfs2 -q -f --free 0 --to-checkpoint 1 image >/dev/null
	gc.nilfs2 -q -f --free 0 --delete-checkpoints 1 image >/dev/null
	head -c 9000 one/f >want
	image=image
	damage -c 2 inode:/f 'i_bmap[2]=0'
	run -4 fsck.nilfs2 -fn image
	[[ $output == *"bmap-unmapped: checkpoint 2: inode 11: "* ]]
	run -1 fsck.nilfs2 -fy image
	dump.nilfs2 cat -c 2 image /f | cmp - want
}

# A check reports it in the latest state; all logs can be read.
@test "a wrong block count that a snapshot shares is right in both after one repair" {
	begin snapshots
	damage_raw inode:33 i_blocks=99999
	run -4 fsck.nilfs2 -fn "$image"
	run -1 fsck.nilfs2 -fy "$image"
	[[ $output == *'repaired: inode 33: block count set to 1'* ]]
	[[ $output == *'repaired: checkpoint 21: inode 33: block count set to 1'* ]]
	[[ $output == *'lost: nothing'* ]]
	run -0 fsck.nilfs2 -fn "$image"
	[ "$(dump.nilfs2 inode --json -c 21 "$image" 33 | gojq .inode.i_blocks)" -eq 8 ]
}

# The nodes of the map and the log that lists them are lost, so nothing shows which
# virtual blocks the nodes had.
@test "a lost map that two snapshots share is rebuilt from the logs" {
	local cno block blocks sound=$((368 * 1024))

	mkdir one two
	head -c 400K /dev/urandom >one/f
	echo 1 >two/g
	mkfs.nilfs2 -q -b 1024 -B 64 --size 16M --snapshot -d one -d two image
	# The log of segment 6 has the last 32 blocks of the file and all nodes.
	blocks=$(dump.nilfs2 bmap --nodes image /f | awk '$NF == "node" { print $5 }')
	[ "$(wc -w <<<"$blocks")" -eq 8 ]
	for block in 384 $blocks; do
		dd if=/dev/urandom of=image bs=1024 seek="$block" count=1 \
			conv=notrunc status=none
	done
	run -4 fsck.nilfs2 -fn image
	run -1 fsck.nilfs2 -fy image
	[ "$(grep -c "^lost: .*bytes $sound to 409599 may have wrong content$" \
		<<<"$output")" -eq 3 ]
	[ "$(grep -c '^lost: ' <<<"$output")" -eq 3 ]
	for cno in 1 2 "$(dump.nilfs2 checkpoints image | awk 'END { print $1 }')"; do
		dump.nilfs2 cat -c "$cno" image /f | cmp -n "$sound" - one/f
	done
	run -0 fsck.nilfs2 -fn image
}

# Its map is a tree without nodes, and a log is missing that might list others.
@test "a wrong pointer of a sparse file in a snapshot is restored from the logs" {
	mkdir one two three
	for block in 0 10 20; do
		dd if=/dev/urandom of=one/f bs=4096 seek="$block" count=1 \
			conv=notrunc status=none
	done
	echo 1 >two/g
	echo 22 >three/g
	mkfs.nilfs2 -q -B 64 --size 16M --snapshot -d one -d two -d three image
	image=image
	damage -c 1 inode:/f "i_bmap[6]=$(vblock /f 10 1)"
	dump.nilfs2 set --expert -q image finfo:15/0 fi_cno=9
	run -1 fsck.nilfs2 -fy image
	[[ $output == *'checkpoint 1: inode 11: map rebuilt, 1 block restored from the logs'* ]]
	[[ $output == *'lost: nothing'* ]]
	dump.nilfs2 cat -c 1 image /f | cmp - one/f
}

# emptied BLOCK [BYTES]: of a directory, entries from there on are removed.
emptied() {
	local at=${2-0} left

	left=$((4096 - at))
	dd if="$image" bs=4096 skip="$1" count=1 status=none | head -c "$at"
	head -c 8 /dev/zero
	# shellcheck disable=SC2059
	printf "$(printf '\\x%02x\\x%02x' $((left % 256)) $((left / 256)))"
	head -c $((left - 10)) /dev/zero
}

# Directory /d is the same block from checkpoint 7 on.
@test "a file that several snapshots share gets a name in each of them" {
	begin snapshots
	ino=$(dump.nilfs2 inode "$image" /d/f1 | awk '/^Inode:/ { print $2 }')
	block=$(map_block /d 0 7)
	[ "$(map_block /d 0 21)" = "$block" ]
	sum=$(dump.nilfs2 cat -c 7 "$image" /d/f1 | cksum)
	emptied "$block" 32 | overwrite "$block"
	loss_named '[0-9]*' "lost: snapshot 7: inode $ino, /#$ino: its former name"
	[[ $said == *"lost: snapshot 21: inode $ino, /#$ino: its former name"* ]]
	[ "$(dump.nilfs2 cat -c 7 "$image" "/#$ino" | cksum)" = "$sum" ]
}

@test "files without names are named where the root directory has room" {
	begin cleaned
	count=$(dump.nilfs2 ls -c 2 "$image" / | wc -l)
	block=$(map_block / 1 2)
	emptied "$block" | overwrite "$block"
	loss_named 2 'checkpoint 2: directory 2: block 1: repaired'
	[ "$(dump.nilfs2 ls -c 2 "$image" / | wc -l)" -eq "$count" ]
}

# A link that was removed is there once more.
@test "a name in an older version of a block of names is removed" {
	begin snapshots
	block=$(map_block / 0 4)
	dd if="$image" bs=4096 skip="$(map_block / 0 2)" count=1 status=none |
		overwrite "$block"
	[ "$(dump.nilfs2 ls -c 4 "$image" / | grep -c hard)" -eq 1 ]
	run -1 fsck.nilfs2 -fy "$image"
	[[ $output == *"checkpoint 4: directory 2: removed 'hard' of inode "* ]]
	same_trees
	is_clean
}

# Every second of the files that the older version names was removed.
@test "names of files that were deleted before the damage are no losses" {
	begin small-files
	block=$(map_block /removed 0)
	dd if="$image" bs=4096 skip="$(map_block /removed 0 2)" count=1 \
		status=none | overwrite "$block"
	repairs
	[ "$(grep -c ": removed '" <<<"$output")" -gt 99 ]
	grep -qx 'lost: nothing' <<<"$output"
}

# Files of the block exist in later checkpoints, every second one.
@test "inodes of a snapshot that were replaced by others get what was theirs" {
	begin cleaned
	names=$(dump.nilfs2 ls -i -c 2 "$image" / |
		awk '$1 >= 64 && $1 < 96 && $1 % 2 == 0 { print $2 }')
	for name in $names; do
		dump.nilfs2 inode -c 2 "$image" "/$name"
	done | grep -v ' block:' >inodes.sound
	dd if="$image" bs=4096 skip="$(map_block ifile 8 2)" count=1 \
		status=none | overwrite "$(map_block ifile 4 2)"
	loss_named 2 'lost: snapshot 2: inode 65, /small-52: attributes'
	for name in $names; do
		dump.nilfs2 inode -c 2 "$image" "/$name"
	done | grep -v ' block:' | diff inodes.sound -
	[ "$(grep -c '^Inode:' inodes.sound)" -eq 16 ]
	[ "$(grep -c '^lost: ' <<<"$said")" -eq 16 ]
}

@test "an empty file of a snapshot with a pointer is empty again" {
	begin snapshots
	damage -c 2 inode:/.nilfs "i_bmap[6]=$((1 << 59))"
	! is_clean
	repairs
}

@test "the kernel reads a repaired snapshot, moves its blocks, and drops them" {
	need_guest uml
	share=$BATS_TEST_TMPDIR/share
	mkdir "$share"
	begin cleaned
	spoil "$(node_block /kept 1)"
	damage -c 2 inode:/small-1 i_mode=0
	damage -c 2 inode:/small-101 i_size=18446744073709551615
	repairs
	repaired=$(node_block /kept 1 2)
	dump.nilfs2 segments "$image" |
		awk '$1 ~ /^[0-9]+$/ { print $1, $8 + $9 }' >live
	guest --share "$share" "$image" <<-'END'
	nilfs_mount "$DEV1"
	lssu -a -l -p 0 "$DEV1" >"$SHARE/lssu"
	manifest "$MNT" >"$SHARE/latest"
	nilfs_mount -o ro,cp=2 "$DEV1" /mnt/tmp/cp
	manifest /mnt/tmp/cp >"$SHARE/snapshot"
	nilfs_umount /mnt/tmp/cp
	rm "$MNT/kept" "$MNT/after"
	rewrite "$MNT/passing" 1 3 9000000
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
	echo "$errors"
	[ "$status" -eq 0 ]
	# Segments that are protected count as full, whatever is in them.
	awk 'NR == FNR { live[$1] = $2; next }
		$4 == "-d--" { n++; bad += live[$1] != $6 }
		END { exit bad || !n }' live "$share/lssu"
	diff "$corpus/cleaned/manifest" "$share/latest"
	diff "$corpus/cleaned/manifest.2" "$share/snapshot"
	diff "$corpus/cleaned/manifest.2" "$share/moved"
	is_clean
	# The cleaner did have them in its hands.
	[ "$(node_block /kept 1 2)" != "$repaired" ]
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
