#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# fsck.nilfs2: directories, names and links.  A volume with one thing wrong
# breaks the rules named, in that order, and no other.

bats_require_minimum_version 1.5.0
load ../kernel/lab

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

# sample [OPTION...]: the volume "image".
# /a has the directory b (with c), the files f1 to f9 and many others.
sample() {
	local i

	mkdir -p tree/a/b/c tree/e
	for i in 1 2 3 4 5 6 7 8 9; do
		echo "$i" >"tree/a/f$i"
	done
	ln tree/a/f1 tree/e/hard
	ln tree/a/f1 tree/e/harder
	ln -s nowhere tree/e/soft
	mkfifo tree/e/fifo
	mkfs.nilfs2 -q -B 64 --size 16M -d tree "$@" image
}

# ino PATH: the number of an inode of the image.
ino() {
	dump.nilfs2 inode image "$1" | awk '$1 == "Inode:" { print $2 }'
}

damage() {
	dump.nilfs2 set -q --expert --fix-checksums image "$@" >/dev/null
}

# breaks RULE...: what fsck.nilfs2 says of the image, rule by rule.
breaks() {
	run fsck.nilfs2 -n --json-lines image
	echo "$output"
	[ "$(sed -n 's/^{"record":"finding","rule":"\([^"]*\)".*/\1/p' \
		<<<"$output")" = "$(printf '%s\n' "$@")" ]
}

# said TEXT: in the words of fsck.nilfs2.
said() {
	run fsck.nilfs2 -n image
	echo "$output"
	[[ $output == *"$1"* ]]
}

# block_of PATH: where block 0 of a file is.
block_of() {
	dump.nilfs2 bmap -b image "$1" | awk '$NF == "data" { print $(NF - 2) }' |
		head -n 1
}

# set_byte BLOCK BYTE VALUE
set_byte() {
	damage "block:$1" "byte[$2]=$3"
}

@test "volumes that we fill are sound: types, links, layers, 1 KiB blocks" {
	sample
	breaks
	mkdir -p many more
	for i in {1..3000}; do
		echo >"many/a rather long name for a file, number $i"
	done
	mkdir -p more/d{1..200}
	mkfs.nilfs2 -q -f -B 64 -b 1024 --size 32M --snapshot -d tree -d many \
		-d more image
	breaks
	run -0 fsck.nilfs2 -n --max-memory 1M image
}

@test "what the kernel made is sound" {
	need_corpus
	for name in $(corpus_names); do
		echo "$name"
		run -0 fsck.nilfs2 -n "$corpus/$name/image"
		echo "$output"
		run ! grep -E '^(dir|inode)-' <<<"$output"
	done
}

@test "an entry that names an inode that is not there" {
	sample
	f2=$(ino /a/f2)
	damage dirent:/a/f2 inode=9999
	breaks dir-no-inode inode-unreachable
	said '(found 9999)'
	said "inode $f2: no directory entry"
}

@test "an entry that names a deleted inode" {
	sample
	f2=$(ino /a/f2)
	damage "inode:$f2" i_links_count=0
	breaks inode-orphan dir-no-inode
	said "(found $f2)"
}

@test "an entry that names a reserved inode" {
	sample
	damage dirent:/a/f2 inode=5
	breaks dir-private-ino inode-links-unknown
}

@test "an entry that names another file" {
	sample
	damage dirent:/a/f2 "inode=$(ino /a/f3)"
	breaks inode-unreachable inode-links-names
	said "inode $(ino /a/f3): the link count of an inode differs from the number of its names (expected 2, found 1)"
}

@test "links of a file, of a directory, of the root" {
	sample
	damage inode:/a/f1 i_links_count=2
	breaks inode-links-names
	said '(expected 3, found 2)'
	damage inode:/a/f1 i_links_count=3
	damage inode:/a i_links_count=2
	breaks inode-links-names
	said '(expected 3, found 2)'
	damage inode:/a i_links_count=3
	damage inode:/ i_links_count=3
	breaks inode-links-names
	said 'inode 2: '
	said '(expected 4, found 3)'
}

@test "a file type that is not the inode's" {
	sample
	damage dirent:/e/fifo file_type=1
	breaks dir-type-differs
	said '(expected 5, found 1)'
	run -0 fsck.nilfs2 -n image
	damage dirent:/e/fifo file_type=0
	breaks dir-type
}

@test "an inode of another type: the entry and the names within" {
	sample
	damage inode:/a/b/c i_mode=0100644
	run fsck.nilfs2 -n image
	[[ $output == *"inode-type: "* ]]
	[[ $output != *inode-unreachable* ]]
}

@test "a name twice, a name with a slash" {
	sample
	# Entries of 16 bytes: ".", "..", b, f1, f2.
	set_byte "$(block_of /a)" 77 0x33
	breaks dir-duplicate
	said 'block 0: byte 80: '
	set_byte "$(block_of /a)" 77 0x2f
	breaks dir-name
	said 'block 0: byte 64: '
	set_byte "$(block_of /a)" 77 0
	breaks dir-name
}

@test "names of one directory in many blocks, and of little memory" {
	mkdir many
	for i in {1000..4999}; do
		echo >"many/file $i"
	done
	mkfs.nilfs2 -q -B 64 --size 64M -d many image
	breaks
	# "file 1001", the second name, becomes the first.
	set_byte "$(block_of /)" $((32 + 24 + 12 + 8)) 0x30
	run -4 fsck.nilfs2 -n image
	[ "$(grep -c '^dir-duplicate: ' <<<"$output")" -eq 1 ]
	run -4 fsck.nilfs2 -n --max-memory 64K image
	[ "$(grep -c '^dir-duplicate: ' <<<"$output")" -eq 1 ]
}

@test "the first entry is not the directory, the second not its parent" {
	sample
	damage dirent:/a/. "inode=$(ino /e)"
	breaks dir-another
	said "(expected $(ino /a), found $(ino /e))"
	damage dirent:/a/. "inode=$(($(ino /a) + 4096))"
	breaks dir-dot
	damage dirent:/a/. "inode=$(ino /a)"
	damage dirent:/a/.. "inode=$(ino /e)"
	breaks dir-dotdot
	said "(expected 2, found $(ino /e))"
	damage dirent:/a/.. inode=2
	damage dirent:/.. "inode=$(ino /e)"
	breaks dir-dotdot
}

# As mkfs.nilfs2 of 2010 made it: the entries of ".." and ".nilfs" are free, and
# the kernel gives them to the next names.
@test "a root without .. is a warning, and the name in its place is kept" {
	need_corpus
	need_guest uml
	image=$(copy_image empty)
	mv "$image" image
	damage dirent:/.. inode=0
	damage dirent:/.nilfs inode=0
	run -0 fsck.nilfs2 -fn image
	[[ $output == *"dir-no-dotdot: "*"inode 2: "* ]]
	guest image <<-'EOF'
	nilfs_mount "$DEV1"
	mkdir "$MNT/d"
	echo hello >"$MNT/d/f"
	mkdir "$MNT/e"
	EOF
	[ "$status" -eq 0 ]
	kernel_content
	run -0 fsck.nilfs2 -fn image
	[ "$(grep -cE '^(dir|inode)-' <<<"$output")" -eq 1 ]
	[[ $output == *"dir-no-dotdot: "*"inode 2: "* ]]

	run -1 fsck.nilfs2 -fp image
	[[ $output != *removed* && $output != *lost+found* ]]
	run -0 fsck.nilfs2 -fn image
	[[ $output != *dir-* ]]
	[ "$(dump.nilfs2 inode image /.. | awk '$1 == "Inode:" { print $2 }')" \
		-eq 2 ]
	guest image <<-'EOF'
	nilfs_mount "$DEV1"
	cat "$MNT/d/f"
	mv "$MNT/d" "$MNT/e/d"
	ls -a "$MNT/e" "$MNT"
	EOF
	[ "$status" -eq 0 ]
	[[ $output == *hello* ]]
	kernel_content
	run -0 fsck.nilfs2 -fn image
	[[ $output != *dir-* ]]
}

@test "a directory without .., its place free or that of a file or directory" {
	sample
	damage dirent:/a/.. inode=0
	breaks dir-parent-missing
	run -1 fsck.nilfs2 -fp image
	breaks
	# f9 and b/c move into the place: as after a removal and two new names.
	damage dirent:/a/.. inode=0
	damage "dirent:/a/b/.." inode=0
	mkdir before after
	dump.nilfs2 export -q image before
	block=$(block_of /a/b)
	c=$(ino /a/b/c)
	damage dirent:/a/b/c inode=0
	damage "block:$block" "byte[16]=$c" "byte[26]=1" "byte[28]=0x63" \
		"byte[29]=0"
	run -4 fsck.nilfs2 -fn image
	[ "$(grep -c '^dir-' <<<"$output")" -eq 2 ]
	[ "$(grep -c '^dir-parent-missing: ' <<<"$output")" -eq 2 ]
	run -1 fsck.nilfs2 -fp image
	breaks
	dump.nilfs2 export -q image after
	diff -r before/a after/a
}

@test "entries . and .. that lost their names" {
	sample
	block=$(block_of /a)
	set_byte "$block" 12 0x78
	breaks dir-dot
	set_byte "$block" 12 0x2e
	set_byte "$block" 29 0x78
	breaks dir-dotdot
}

@test "a directory with a second name" {
	sample
	damage dirent:/e/fifo "inode=$(ino /a/b/c)" file_type=2
	breaks dir-second-name inode-unreachable
}

@test "a directory in itself" {
	sample
	c=$(ino /a/b/c)
	damage dirent:/a/b/c "inode=$(ino /a)"
	breaks dir-second-name inode-links-names inode-unreachable
	said "inode $c: no directory entry names"
}

@test "a loop that the root does not reach" {
	sample
	a=$(ino /a) c=$(ino /a/b/c)
	damage dirent:/a/b/c "inode=$a"
	damage dirent:/a "inode=$c"
	run fsck.nilfs2 -n image
	echo "$output"
	[[ $output == *"dir-loop: "* ]]
	[[ $output != *dir-second-name* && $output != *inode-unreachable* ]]
}

@test "a block that cannot be decoded is one finding" {
	sample
	set_byte "$(block_of /a)" 8 3
	breaks dir-rec-len-short inode-links-unknown
}

@test "a directory without its block, with too large or no size" {
	sample
	damage inode:/a i_size=8192
	breaks inode-dir-blocks inode-links-unknown
	said '(expected 2, found 1)'
	damage inode:/a i_size=0
	breaks inode-dir-blocks inode-links-unknown
}

@test "a directory whose block has no place on the disk" {
	sample
	vblock=$(dump.nilfs2 bmap -b image /a | awk '$NF == "data" { print $3 }')
	damage "dat:$vblock" de_blocknr=99999999
	run fsck.nilfs2 -n image
	echo "$output"
	[ "$(grep -c '^inode-links-unknown: ' <<<"$output")" -eq 1 ]
	[[ $output != *inode-unreachable* && $output != *inode-links-names* ]]
}

@test "what a crash left of a deleted file is no error" {
	sample
	f2=$(ino /a/f2)
	damage dirent:/a/f2 inode=0
	damage "inode:$f2" i_links_count=0
	run fsck.nilfs2 -n image
	echo "$output"
	[[ $output == *"inode-orphan: "*"inode $f2: "* ]]
	[[ $output != *dir-no-inode* && $output != *inode-unreachable* ]]
}

# The first snapshot's directory d has the files f1 to f20.
@test "damage of a snapshot alone is reported for the snapshot" {
	need_corpus
	image=$(copy_image snapshots)
	mv "$image" image
	dump.nilfs2 set -q --expert -c 2 image dirent:/d/f2 inode=9999 >/dev/null
	run fsck.nilfs2 -n image
	echo "$output"
	[ "$(grep -c '^dir-no-inode: checkpoint 2: ' <<<"$output")" -eq 1 ]
	[ "$(grep -c '^inode-unreachable: checkpoint 2: ' <<<"$output")" -eq 1 ]
	[ "$(grep -cE '^(dir|inode)-' <<<"$output")" -eq 2 ]
}

@test "damage that checkpoints share is reported once, of the newest" {
	mkdir one two
	echo 1 >one/first
	echo 2 >two/second
	mkdir one/d
	echo 3 >one/d/third
	mkfs.nilfs2 -q -B 64 --size 16M --snapshot -d one -d two image
	[ "$(dump.nilfs2 checkpoints -s image | wc -l)" -ge 2 ]
	damage dirent:/d/third file_type=2
	breaks dir-type-differs
}

@test "the latest state alone" {
	mkdir one two
	echo 1 >one/first
	echo 2 >two/second
	mkfs.nilfs2 -q -B 64 --size 16M --snapshot -d one -d two image
	damage dirent:/first inode=7777
	breaks dir-no-inode inode-unreachable
	said 'dir-no-inode: checkpoint 2: inode 2: '
}

# layers: the volume "image" with eight snapshots.  Each adds a file to /d, with
# a new block of it; /s has another block from 3 on, and from 8 on; /x is a file
# in 1 and 3, a directory in 2, and a symbolic link from 4 on.
layers() {
	local i

	mkdir -p one/d one/s one/t/u two/x three four
	echo 0 | tee one/d/f{1..9} one/s/f{1..9} one/t/f one/x two/x/in \
		three/x >/dev/null
	ln one/t/f one/t/u/f
	ln -s nowhere four/x
	for i in one two three four five six seven eight; do
		mkdir -p "$i/d"
		echo >"$i/d/$i"
	done
	mkdir three/s eight/s
	echo | tee three/s/three eight/s/eight >/dev/null
	mkfs.nilfs2 -q -B 64 --size 16M --snapshot -d one -d two -d three \
		-d four -d five -d six -d seven -d eight image
}

# breaks_in CNO RULE...: what fsck.nilfs2 says, all of it of that checkpoint.
breaks_in() {
	local cno=$1

	shift
	run fsck.nilfs2 -n image
	echo "$output"
	[ "$(sed -nE 's/^([a-z]+-[a-z-]*): checkpoint ([0-9]+): .*/\2 \1/p' \
		<<<"$output")" = "$(printf "$cno %s\n" "$@")" ]
}

# ino_in CNO PATH
ino_in() {
	dump.nilfs2 inode -c "$1" image "$2" | awk '$1 == "Inode:" { print $2 }'
}

# damage_in CNO STRUCTURE FIELD
damage_in() {
	damage -c "$@"
}

@test "many snapshots: a name of one of them" {
	layers
	breaks
	damage_in 4 dirent:/d/f2 inode=9999
	breaks_in 4 dir-no-inode inode-unreachable
	damage_in 4 dirent:/d/f2 "inode=$(ino /d/f2)" name=f3
	breaks_in 4 dir-duplicate
	damage_in 4 dirent:/d/f3 inode="$(ino /d/f1)"
	breaks_in 4 dir-duplicate inode-links-names inode-unreachable
}

@test "many snapshots: a name in a directory that some of them share" {
	layers
	damage_in 5 dirent:/s/f2 file_type=2
	breaks_in 7 dir-type-differs
	damage_in 2 dirent:/s/f3 file_type=2
	run fsck.nilfs2 -n image
	[ "$(grep -c '^dir-type-differs: checkpoint 7: ' <<<"$output")" -eq 1 ]
	[ "$(grep -c '^dir-type-differs: checkpoint 2: ' <<<"$output")" -eq 1 ]
	[ "$(grep -cE '^(dir|inode)-' <<<"$output")" -eq 2 ]
}

@test "many snapshots: links and types of inodes of one of them" {
	layers
	cp image sound
	damage_in 3 inode:/t/f i_links_count=3
	breaks_in 3 inode-links-names
	cp sound image
	damage_in 6 inode:/d i_links_count=3
	breaks_in 6 inode-links-names
	cp sound image
	damage_in 3 inode:/d/f2 i_mode=$((0010644))
	run fsck.nilfs2 -n image
	[ "$(grep -c '^inode-type: checkpoint 3: ' <<<"$output")" -eq 1 ]
	[ "$(grep -c '^inode-mode: checkpoint 3: ' <<<"$output")" -eq 1 ]
	[ "$(grep -cE '^(dir|inode)-' <<<"$output")" -eq 2 ]
}

@test "many snapshots: links that the checkpoints around have as well" {
	layers
	gc.nilfs2 -q --free 0 --to-checkpoint 2,4,5 image >/dev/null
	for cno in 2 3 4 5; do
		damage_in "$cno" inode:/t/f i_links_count=3
	done
	breaks_in 3 inode-links-names
	run -1 fsck.nilfs2 -fy image
	run -0 fsck.nilfs2 -fn image
	dump.nilfs2 inode -c 3 image /t/f | grep 'i_links_count: *2$'
}

@test "many snapshots: a number that was given out again" {
	layers
	[ "$(ino_in 2 /x)" = "$(ino_in 4 /x)" ]
	[ "$(ino_in 3 /x)" = "$(ino_in 8 /d/five)" ]
	cp image sound
	damage_in 2 dirent:/x file_type=1
	breaks_in 2 dir-type-differs
	cp sound image
	damage_in 2 dirent:/x/in inode=0
	breaks_in 2 inode-unreachable
	cp sound image
	damage_in 2 dirent:/x/in "inode=$(ino /t)" file_type=2
	breaks_in 2 dir-second-name inode-unreachable
	cp sound image
	damage_in 4 dirent:/d/four "inode=$(ino_in 3 /x)"
	run fsck.nilfs2 -n image
	[ "$(grep -c '^dir-no-inode: checkpoint 4: ' <<<"$output")" -eq 1 ]
	[ "$(grep -c '^inode-unreachable: checkpoint 4: ' <<<"$output")" -eq 1 ]
	[ "$(grep -cE '^(dir|inode)-' <<<"$output")" -eq 2 ]
}
