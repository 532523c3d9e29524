#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# fsck.nilfs2 -y: directories, names and links.  What a repair must leave is
# known from the volume before the damage.

bats_require_minimum_version 1.5.0
load ../kernel/lab
load damage

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	image=image
}

# sample: the volume "image", filled from "tree".
sample() {
	local i

	mkdir -p tree/a/b/c tree/e
	for i in 1 2 3 4 5 6 7 8 9; do
		echo "$i" >"tree/a/f$i"
	done
	echo within >tree/a/b/c/deep
	ln tree/a/f1 tree/e/hard
	ln tree/a/f1 tree/e/harder
	ln -s nowhere tree/e/soft
	mkfifo tree/e/fifo
	mkfs.nilfs2 -q -B 64 --size 16M -d tree image
	cp image sound
}

# ino PATH: the number of an inode of the image.
ino() {
	dump.nilfs2 inode image "$1" | awk '$1 == "Inode:" { print $2 }'
}

# block_of PATH [N]: where the first, or Nth, block of a file is.
block_of() {
	dump.nilfs2 bmap -b image "$1" |
		awk '$NF == "data" { print $(NF - 2) }' | sed -n "${2-1}p"
}

# tree_of IMAGE [CNO]: an archive's content, one path with its bytes' sum a line.
tree_of() {
	local out

	out=$(mktemp -d "$PWD/out.XXXXXX")
	dump.nilfs2 export -q ${2:+-c "$2"} "$1" - | tar -C "$out" -xf - ||
		return
	(cd "$out" && find . -printf '%p %y %n %m %l\n' && find . -type f -print0 |
		xargs -0 -r cksum) | sort
}

# repaired: -y says that all is repaired, and nothing is found then.
repaired() {
	run fsck.nilfs2 -fy image
	echo "$output"
	[ "$status" -eq 1 ] || return
	again=$(fsck.nilfs2 -fn image 2>again) || {
		echo "left: $again"
		return 1
	}
	! grep -E '^[a-z-]+: ' <<<"$again" | grep -v '^image: '
}

# same_but PATTERN...: the tree is what it was, lines of these paths aside.
same_but() {
	local pattern args=()

	for pattern in "$@"; do
		args+=(-e "$pattern")
	done
	tree_of sound | grep -v "${args[@]}" >before
	tree_of image | grep -v "${args[@]}" >after
	diff before after
}

@test "a file that nothing names goes into lost+found, with what it has" {
	sample
	f2=$(ino /a/f2)
	damage dirent:/a/f2 inode=9999
	repaired
	[[ $output == *"removed 'f2' of inode 9999"* ]]
	[[ $output == *"lost: latest state: inode $f2, /lost+found/#$f2: its former name"* ]]
	[ "$(dump.nilfs2 cat image "/lost+found/#$f2")" = 2 ]
	same_but '\./a/f2 ' ' \./a/f2$' lost+found '^\. '
	[ "$(dump.nilfs2 ls -l image / | awk '/lost/ { print $1, $2 }')" = \
		'drwx------ 2' ]
}

# Too many links make a file one whose names are looked for, where the lost name
# of another file is: in what is left of entries and in older checkpoints.
@test "a file with too many links does not get its own name once more" {
	mkdir -p tree/a more/a
	for i in 1 2 3; do
		echo "$i" >"tree/a/f$i"
	done
	echo 4 >more/a/f4
	mkfs.nilfs2 -q -f -B 64 --size 16M -d tree -d more image
	tree_of image >before
	damage inode:/a/f1 i_links_count=3
	damage dirent:/a/f2 inode=9999
	repaired
	tree_of image >after
	diff before after
}

@test "the first block of another directory is none of this one's names" {
	mkdir -p tree/big tree/other
	for i in {100..299}; do
		echo "$i" >"tree/big/a long name of file $i"
	done
	echo x >tree/other/x
	mkfs.nilfs2 -q -f -B 64 --size 16M -d tree image
	cp image sound
	block=$(block_of /big 2)
	dd if=sound bs=4096 count=1 status=none skip="$(block_of /other)" |
		overwrite "$block"
	repaired
	[[ $output == *"rewritten from its readable entries"* ]]
	run ! dump.nilfs2 cat image /big/x
	[ "$(dump.nilfs2 cat image /other/x)" = x ]
	# All others are there, by name or by number.
	[ "$(tree_of image | grep -c ' f 1 ')" -eq 201 ]
}

@test "a name that leads to another inode leads to its own again" {
	mkdir -p tree/a more/a
	for i in 1 2 3; do
		echo "$i" >"tree/a/f$i"
	done
	echo 4 >more/a/f4
	mkfs.nilfs2 -q -f -B 64 --size 16M -d tree -d more image
	tree_of image >before
	cp image sound
	f3=$(ino /a/f3)
	for number in "$f3" 10; do
		cp sound image
		damage dirent:/a/f2 "inode=$number"
		repaired
		[[ $output != *lost+found* ]]
		tree_of image >after
		diff before after
	done
}

# The fifo has another name. No other fifo misses one, and no other checkpoint has the
# directory.
@test "a hard link that leads to a file of another type leads to its own again" {
	local mode

	for mode in -p -y; do
		rm -rf tree
		mkdir tree
		mkfifo tree/one tree/other
		ln tree/one tree/linked
		echo content >tree/file
		mkfs.nilfs2 -qf -B 64 --size 16M -d tree image
		cp image sound
		damage dirent:/linked "inode=$(ino /file)"
		run -1 fsck.nilfs2 -f "$mode" image
		[[ $output == *"'linked' leads to inode $(ino /one) again"* ]]
		[[ $output == *"lost: nothing"* ]]
		same_but nothing
	done
}

@test "symbolic links, fifos and hard links that nothing names" {
	sample
	soft=$(ino /e/soft) fifo=$(ino /e/fifo) f1=$(ino /a/f1)
	for name in soft fifo hard harder; do
		damage "dirent:/e/$name" inode=0
	done
	damage dirent:/a/f1 inode=0
	repaired
	tree_of image >now
	grep -qF "./lost+found/#$soft l 1 777 nowhere" now
	grep -qF "./lost+found/#$fifo p 1 " now
	grep -qF "./lost+found/#$f1 f 1 " now
}

@test "a directory that nothing names keeps all below it" {
	sample
	b=$(ino /a/b)
	damage dirent:/a/b inode=9999
	repaired
	[ "$(dump.nilfs2 cat image "/lost+found/#$b/c/deep")" = within ]
	[ "$(dump.nilfs2 ls -l image / | awk '$NF ~ /a$/ { print $2 }')" -eq 2 ]
	same_but '\./a/b' lost+found '^\. ' '^\./a d'
}

@test "a lost+found that is there, a file of that name, a name that is taken" {
	sample
	mkdir tree/lost+found
	f2=$(ino /a/f2)
	# Numbers of inodes are those of the first volume, and one more.
	mkfs.nilfs2 -q -f -B 64 --size 16M -d tree image
	f2=$(ino /a/f2)
	echo taken >"tree/lost+found/#$f2"
	mkfs.nilfs2 -q -f -B 64 --size 16M -d tree image
	[ "$(ino /a/f2)" = "$f2" ] || skip "numbers moved"
	damage dirent:/a/f2 inode=9999
	repaired
	[ "$(dump.nilfs2 cat image "/lost+found/#$f2")" = taken ]
	[ "$(dump.nilfs2 cat image "/lost+found/#$f2~1")" = 2 ]

	rm -r tree/lost+found
	echo mine >tree/lost+found
	mkfs.nilfs2 -q -f -B 64 --size 16M -d tree image
	f2=$(ino /a/f2)
	damage dirent:/a/f2 inode=9999
	repaired
	[ "$(dump.nilfs2 cat image /lost+found)" = mine ]
	[ "$(dump.nilfs2 cat image "/lost+found~1/#$f2")" = 2 ]
}

@test "entries after a broken one, and the broken one, are found again" {
	sample
	for field in rec_len=18 rec_len=8 rec_len=9000 name_len=40; do
		cp sound image
		damage dirent:/a/f3 "$field"
		repaired
		same_but '^$'
	done
}

@test "entries that a longer one hides are found again" {
	sample
	damage dirent:/a/f3 rec_len=64
	fsck.nilfs2 -fn image | grep -q '^inode-unreachable'
	repaired
	same_but '^$'
}

@test "a block full of nonsense: what it named is in lost+found" {
	sample
	f1=$(ino /a/f1) b=$(ino /a/b)
	# shellcheck disable=SC2046
	damage "block:$(block_of /a)" $(seq -f 'byte[%g]=255' 0 300)
	repaired
	[ "$(dump.nilfs2 cat image "/lost+found/#$b/c/deep")" = within ]
	[ "$(dump.nilfs2 cat image /e/hard)" = 1 ]
	[ "$(dump.nilfs2 ls image /lost+found | wc -l)" -eq 9 ]
	same_but '\./a' lost+found '^\. ' '\./e/hard'
}

@test "the block of another directory: no second names are made of it" {
	sample
	e=$(ino /e) soft=$(ino /e/soft) fifo=$(ino /e/fifo)
	block=$(block_of /e)
	dd if=sound bs=4096 count=1 status=none skip="$(block_of /a)" |
		overwrite "$block"
	run fsck.nilfs2 -fn image
	[[ $output == *"dir-another: "*": inode $e: "* ]]
	run fsck.nilfs2 -fp image
	[ "$status" -eq 4 ]
	repaired
	[[ $output == *"lost: latest state: inode $e, /e: bytes 0 to 4095 "* ]]
	[[ $output == *": inode $(ino /a/f1), /a/f1: the link count is 2, and was 3"* ]]
	[ "$(dump.nilfs2 export -q image - | tar -t | grep -c '^./e/.')" -eq 0 ]
	grep -qF "./lost+found/#$soft l 1 777 nowhere" < <(tree_of image)
	grep -qF "./lost+found/#$fifo p 1 " < <(tree_of image)
	same_but '\./e/' ' \./e/' lost+found '^\. ' 'a/f1'
}

@test "a name that is there twice: the second is changed, or goes" {
	sample
	f4=$(ino /a/f4)
	damage dirent:/a/f4 name=f3
	repaired
	[ "$(dump.nilfs2 cat image '/a/f3')" = 3 ]
	[ "$(ino '/a/f3~1')" = "$f4" ]
	same_but f4 'f3~1'
	cp sound image
	damage dirent:/e/harder name=hard name_len=4
	repaired
	[ "$(dump.nilfs2 ls -l image /e | awk '/hard/ { print $2 }')" = 2 ]
}

@test "names that cannot be" {
	sample
	damage dirent:/a/f3 name=a/
	damage dirent:/a/f4 name_len=0
	f4=$(ino /a/f5)
	f4=$((f4 - 1))
	repaired
	[ "$(dump.nilfs2 cat image /a/a_)" = 3 ]
	[ "$(dump.nilfs2 cat image "/a/#$f4")" = 4 ]
	same_but 'f3' 'f4' a_ '#'
}

@test "names of directories that have one already, loops" {
	sample
	damage dirent:/e/fifo "inode=$(ino /a/b)" file_type=2
	damage dirent:/a/b/c "inode=$(ino /a)"
	repaired
	[ "$(dump.nilfs2 ls image /lost+found | wc -l)" -eq 2 ]
	cp sound image
	b=$(ino /a/b)
	damage dirent:/a/b/c "inode=$(ino /a)"
	damage dirent:/a inode=0
	repaired
	[[ $output == *"lies within it"* ]]
}

@test "'.' and '..', types, links: without the loss of a name" {
	sample
	damage dirent:/a/b/c/. inode=3
	damage dirent:/a/b/.. "inode=$(ino /e)"
	damage dirent:/e/fifo file_type=1
	damage inode:/a/f1 i_links_count=77
	damage inode:/ i_links_count=3
	damage inode:/a/f5 i_links_count=0
	damage inode:/a i_size=100
	cp image damaged
	repaired
	same_but '^$'
	cp damaged image
	damage inode:/a i_size=4096
	damage inode:/a/f5 i_links_count=1
	run fsck.nilfs2 -fp image
	[ "$status" -eq 1 ]
	run -0 fsck.nilfs2 -fn image
	same_but '^$'
}

@test "-p takes no name away, and no file of which it may be one" {
	sample
	damage dirent:/a/f2 inode=9999
	damage dirent:/e/fifo file_type=1
	run fsck.nilfs2 -fp image
	[ "$status" -eq 4 ]
	run fsck.nilfs2 -fn image
	[[ $output == *dir-no-inode:* ]]
	[[ $output == *inode-unreachable:* ]]
	[[ $output != *dir-type-differs:* ]]
}

@test "deleted files that were in use are freed, and their blocks" {
	sample
	head -c 300000 /dev/urandom >tree/big
	mkfs.nilfs2 -q -f -B 64 --size 16M -d tree image
	cp image sound
	big=$(ino /big)
	damage "inode:$big" i_links_count=0
	damage dirent:/big inode=0
	run fsck.nilfs2 -fp image
	[ "$status" -eq 1 ]
	run -0 fsck.nilfs2 -fn image
	[[ $output != *-leaked* ]]
	dump.nilfs2 inode image "$big" | grep -q '^In use: *no$'
	same_but '/big$' '/big ' '^\. '
}

@test "blocks of a large directory stay where they are, but for the broken one" {
	mkdir -p tree/many
	(cd tree/many && seq -f 'a name that is neither short nor long %g' 9000 |
		xargs -d '\n' touch)
	mkfs.nilfs2 -q -b 1024 -B 256 --size 64M -d tree image
	cp image sound
	# A length, four entries before the end of block 7.
	damage "block:$(block_of /many 8)" byte[8]=9
	dump.nilfs2 bmap -b image /many | sort >before
	repaired
	dump.nilfs2 bmap -b image /many | sort >after
	[ "$(comm -13 before after | grep -c data)" -le 2 ]
	same_but '^$'
}

@test "a directory as the last checkpoint had it names what is missed" {
	need_corpus
	image=$(copy_image snapshots)
	cp "$image" sound
	mv "$image" image
	image=image
	# What was deleted since stays deleted.
	[ "$(dump.nilfs2 ls -c 21 image / | wc -l)" -gt \
		"$(dump.nilfs2 ls image / | wc -l)" ]
	# shellcheck disable=SC2046
	damage "block:$(block_of /)" $(seq -f 'byte[%g]=255' 0 300)
	repaired
	[[ $output == *"restored '"* ]]
	same_but '^$'
}

@test "snapshots keep what they were" {
	need_corpus
	image=$(copy_image snapshots)
	cp "$image" sound
	mv "$image" image
	image=image
	mapfile -t snapshots < <(dump.nilfs2 checkpoints -s image |
		awk '$1 ~ /^[0-9]+$/ { print $1 }')
	[ "${#snapshots[@]}" -gt 0 ]
	first=$(dump.nilfs2 ls image / | head -n 1)
	# In a copy of the block that no snapshot has.
	damage inode:/ i_links_count=99
	repaired
	for cno in "${snapshots[@]}"; do
		diff <(tree_of sound "$cno") <(tree_of image "$cno")
	done
	same_but '^$'
	[ -n "$first" ]
}

@test "the newest state is repaired, then a snapshot that shares the damage" {
	sample
	mkfs.nilfs2 -q -f -B 64 --size 16M --snapshot -d tree image
	cp image sound
	f2=$(ino /a/f2)
	damage dirent:/a/f2 inode=9999
	run fsck.nilfs2 -fy image
	[ "$status" -eq 1 ]
	[ "$(dump.nilfs2 cat image "/lost+found/#$f2")" = 2 ]
	same_but '\./a/f2' lost+found '^\. '
	tree_of image 1 | diff <(tree_of sound 1) -
	fsck.nilfs2 -fn image
}

@test "the kernel uses repaired directories and lost+found" {
	need_guest uml
	sample
	mkdir tree/many
	touch tree/many/{1..2000}
	mkfs.nilfs2 -q -f -b 1024 -B 256 --size 64M -d tree image
	f2=$(ino /a/f2) b=$(ino /a/b)
	damage dirent:/a/f2 inode=9999
	damage dirent:/a/b inode=9998
	damage dirent:/a/f4 name=f3
	damage dirent:/e/.. inode=9
	damage "block:$(block_of /many 3)" byte[8]=9
	repaired
	tree_of image >expected
	guest image <<-EOF
	set -e
	nilfs_mount "\$DEV1"
	cd "\$MNT"
	ls -lR >/dev/null
	find . -type f -exec cat {} + | wc -c
	cat "lost+found/#$f2" "lost+found/#$b/c/deep" 'a/f3~1'
	ls many | wc -l
	mv "lost+found/#$f2" a/f2
	mv "lost+found/#$b" a/b
	rmdir lost+found
	mkdir lost+found
	touch lost+found/new e/new many/new
	mv many/7 many/8000
	rm many/1???
	rm -r a/b
	ls many | wc -l
	ls -la a | wc -l
	cd /
	nilfs_umount
	nilfs_mount "\$DEV1"
	ls -lR "\$MNT" >/dev/null
	nilfs_umount
	EOF
	echo "$output"
	[ "$status" -eq 0 ]
	kernel_content
	[ "$(sed -n '2,$p' <<<"$output" | xargs)" = "2 within 4 2000 1001 12" ]
	run -0 fsck.nilfs2 -fn image
}
