#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Metadata written twice: fsck.nilfs2 restores each block of it, and each segment of
# it, that is lost.  What must be restored is what the sound volume shows.

bats_require_minimum_version 1.5.0

load mkfs
load ../kernel/lab

# 64 files in nested directories, a link, and a file with nodes.
setup_file() {
	local i j

	cd "$BATS_FILE_TMPDIR" || return
	for i in {1..8}; do
		mkdir -p tree/d$i/sub/deep
		for j in 1 2 3 4; do
			yes $i.$j | head -c $((j * 3000)) >tree/d$i/f$j
			yes $i-$j | head -c $((j * 700)) >tree/d$i/sub/deep/g$j
		done
	done
	ln -s d1/f1 tree/link
	ln tree/d1/f2 tree/d2/sub/hard
	mkdir tree/empty
	yes large | head -c 2000000 >tree/large
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	ln -s "$BATS_FILE_TMPDIR/tree" .
	export SOURCE_DATE_EPOCH=1700000000
}

# make OPTION...: the volume "image", filled.
make() {
	mkfs -q -f -U clear -B 256 --size 64M -d tree/ "$@" image
}

# content [IMAGE]: content and attributes of all files of the latest state.
content() {
	dump.nilfs2 export "${1-image}" - | cksum
}

# segment_of CNO PATH: where the first block of a file is.
segment_of() {
	dump.nilfs2 --json bmap -b -c "$1" image "$2" |
		gojq '[.. | .blocknr? // empty][0] / 256 | floor'
}

@test "the volume is clean and has the files of a plain one" {
	need gojq
	make
	content >want
	make --redundant
	content | diff want -
	run -0 fsck.nilfs2 -fn image
	run -0 fsck.nilfs2 -fn --data image
	run -0 dump.nilfs2 diff image 1 2
	[ -z "$output" ]
	for path in / /d1/sub /d8/sub/deep /link; do
		[ "$(segment_of 1 $path)" -lt "$(segment_of 2 $path)" ]
	done
	[ "$(segment_of 1 /large)" -eq "$(segment_of 2 /large)" ]
}

@test "the same input gives the same volume" {
	make --redundant
	mv image first
	make --redundant -j 3
	cmp first image
}

@test "the cost is reported, by a dry run, too" {
	need gojq
	local get='.content | .redundant_blocks, .redundant_bytes, .written_bytes'
	mkfs -n --json -B 256 --size auto --redundant -d tree/ image |
		gojq "$get" >dry
	mkfs --json -B 256 --size auto --redundant -d tree/ image |
		gojq "$get" >wet
	diff dry wet
	run -0 fsck.nilfs2 -fn image
	read -r -d '' blocks bytes written <wet || :
	((bytes == blocks * 4096 && blocks > 33))
	# What the checkpoint has: 27 directories and more, not the files.
	((written / bytes > 10))
	mkfs -n --json -B 256 --size auto -d tree/ other |
		gojq -e '.content | has("redundant_blocks") | not'
	mkfs -n --json -B 256 --size auto --redundant other |
		gojq -e '.content.redundant_blocks > 3'
}

# survives DAMAGE: no single damaged block of metadata is lost.
survives() {
	timeout -s KILL 600 "$NILFS2_BUILD/tests/damage/damage" --list \
		--damage "$1" --sums left --kinds \
		DAT,DAT-node,cpfile,SUFILE,ifile,ifile-node,directory,file-node \
		--fail named,refused,gone,unseen,LOST,status,crash image
}

@test "every single block of metadata is restored" {
	make --redundant
	run -0 survives zeros
	run -0 survives random
}

@test "without a second copy they are not" {
	make
	run ! survives zeros
	[[ $output == *" directory "*" named "* ]]
}

# loses_segments OPTION...: each of the segments with metadata only, which is written
# after the data, is restored.  There are many, as they have 16 blocks.
loses_segments() {
	local first last segnum want

	mkfs -q -f -U clear -B 16 --size 32M -d tree/ "$@" image
	want=$(content)
	dump.nilfs2 --json ls -R image / |
		gojq '[.files[] | select(.type == "file") | .inode]' >files
	dump.nilfs2 --json logs image >logs
	first=$(gojq --slurpfile files files '[.logs[] | select(any(.files[];
		.fi_ndatablk and any(.fi_ino == $files[0][]; .))) | .segment] |
		max + 1' logs)
	last=$(gojq '[.logs[].segment] | max' logs)
	[ $((last - first)) -ge 2 ] || return
	for ((segnum = first; segnum <= last; segnum++)); do
		cp --sparse=always image lost
		dd if=/dev/zero of=lost bs=4096 seek=$((segnum * 16)) count=16 \
			conv=notrunc status=none
		echo "$*: segment $segnum of $first to $last"
		fsck.nilfs2 -fy lost >said && return 1
		[ "$(content lost)" = "$want" ] || return
		fsck.nilfs2 -fn lost || return
	done
}

@test "every segment of metadata is restored" {
	need gojq
	local n

	run ! loses_segments
	loses_segments --redundant --collect 1
	# More directories move the end of a segment along the metadata.
	mkdir upper
	for n in {1..9}; do
		mkdir upper/more$n
		((n % 3)) || loses_segments --redundant -d upper/
	done
}

@test "a symbolic link is restored" {
	need gojq
	make --redundant
	content >want
	blocknr=$(dump.nilfs2 --json bmap -b image /link |
		gojq '[.. | .blocknr? // empty][0]')
	dd if=/dev/zero of=image bs=4096 seek="$blocknr" count=1 conv=notrunc \
		status=none
	run -1 fsck.nilfs2 -fy image
	content | diff want -
}

@test "layers, and the snapshot of the last one" {
	need gojq
	local flags

	mkdir upper
	echo new >upper/new
	make --redundant --snapshot=last -d upper/
	flags=$(dump.nilfs2 --json checkpoints image |
		gojq -c '[.checkpoints[] | .mode]')
	[ "$flags" = '["cp","ss","cp"]' ]
	run -0 dump.nilfs2 diff image 2 3
	[ -z "$output" ]
	content >want
	run -0 gc.nilfs2 -q --compact --protect 0 image
	content | diff want -
	run -0 fsck.nilfs2 -fn image
	run -0 dump.nilfs2 cat -c 2 image /new
	[ "$output" = new ]
}

@test "on zones" {
	make --zone-size 1M --redundant
	run -0 fsck.nilfs2 -fn image
	make -O sufile_live_blks_ext,track_live_blks --redundant
	run -0 fsck.nilfs2 -fn image
}

@test "an empty volume" {
	mkfs -q -U clear --size 64M -B 64 --redundant image
	run -0 fsck.nilfs2 -fn image
	run -0 survives zeros
}

@test "metadata of a volume is written twice with what is added to it" {
	make
	mkdir -p more/d1
	echo more >more/d1/more
	mkfs -q --add --redundant -d more/ image
	run -0 fsck.nilfs2 -fn image
	run -0 dump.nilfs2 diff image 2 3
	[ -z "$output" ]
	dump.nilfs2 export -q image out
	diff out/d1/more more/d1/more
	rm out/d1/more
	diff -r --no-dereference tree/ out/
	run -0 survives zeros
}

@test "the kernel mounts both checkpoints, and writes" {
	need_guest uml
	make --redundant --snapshot
	guest --share "$PWD" image <<-'EOF'
		set -e
		content() {
			(cd "$MNT" && find . -type f | sort | xargs cksum &&
				readlink link)
		}
		nilfs_mount "$DEV1"
		content >$SHARE/latest
		rm -r "$MNT/d1"
		cp "$MNT/large" "$MNT/copy"
		nilfs_umount
		nilfs_mount -o ro,cp=1 "$DEV1"
		content >$SHARE/older
		nilfs_umount
	EOF
	echo "$output$errors"
	[ "$status" -eq 0 ]
	kernel_content
	(cd tree && find . -type f | sort | xargs cksum && readlink link) >want
	diff want latest
	diff want older
	run -0 fsck.nilfs2 -fn image
	# The inodes of deleted directories are not written again.
	mkdir more
	mkfs -q --add --redundant -d more/ image
	run -0 fsck.nilfs2 -fn image
}
