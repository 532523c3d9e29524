#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Bitmaps and counts repaired, of the DAT and of the inode file.

bats_require_minimum_version 1.5.0
load ../kernel/lab
load damage
load repaired

setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
}

# What is in use is what was, but for what the new checkpoint itself replaces.
same_numbers() {
	dump.nilfs2 dat -a "$image" >dat.now
	diff <(awk -v f="${1-.}" '$5 ~ f { print $1 }' dat.sound) \
		<(awk -v f="${1-.}" '$5 ~ f { print $1 }' dat.now) >differ || true
	[ "$(wc -l <differ)" -lt 12 ] || cat differ
	[ "$(wc -l <differ)" -lt 12 ]
}

@test "counts of the DAT" {
	begin cleaned
	damage group:dat/0 pg_nfrees=17
	repairs
	same_numbers
	damage group:dat/0 pg_nfrees=0xffffffff
	damage group:dat/1000 pg_nfrees=32767
	repairs
	same_numbers
}

@test "bits of the DAT that are clear" {
	begin small-files
	for number in $(numbers current 60 12); do
		damage "bitmap:dat/$number" bit=0
	done
	repairs
	same_numbers
}

@test "bits of the DAT that are set" {
	begin small-files
	for number in 4000 20001 30000 32767; do
		damage "bitmap:dat/$number" bit=1
	done
	repairs
	same_numbers
}

@test "number 0 of the DAT" {
	begin special
	damage bitmap:dat/0 bit=0
	repairs
	[ "$(dump.nilfs2 dat "$image" 0 |
		awk '/Marked in the bitmap/ { print $NF }')" = yes ]
}

@test "a bitmap of the DAT full of zeros" {
	begin cleaned
	overwrite "$(map_block dat 1)" </dev/zero
	repairs
	same_numbers current
}

# What a cleaner freed is still there, and must not come back.
@test "a bitmap of the DAT full of ones" {
	begin cleaned
	tr '\0' '\377' </dev/zero | overwrite "$(map_block dat 1)"
	repairs
	same_numbers
}

@test "a block of counts of the DAT full of zeros" {
	begin cleaned
	overwrite "$(map_block dat 0)" </dev/zero
	repairs
	same_numbers
}

# The map calls its last block another one, of a group that has nothing.
@test "a block that the map of the DAT has lost" {
	begin cleaned
	last=$(dump.nilfs2 bmap -b "$image" dat |
		awk '$NF == "data" { n++ } END { print n - 1 }')
	damage "node:$(map_node dat 0)" "key[$last]=1000000"
	repairs
	same_numbers current
}

# The same, and sets for all numbers up to there do not fit the memory.
@test "a block that the map of the DAT has far away" {
	begin cleaned
	last=$(dump.nilfs2 bmap -b "$image" dat |
		awk '$NF == "data" { n++ } END { print n - 1 }')
	damage "node:$(map_node dat 0)" "key[$last]=0x200000000000"
	repairs
	same_numbers current
}

@test "counts and bitmap of the inode file" {
	begin small-files
	damage group:ifile/0 pg_nfrees=17
	repairs
	image=$(copy_image special)
	remember
	damage "checkpoint:3" cp_ifile_inode.i_bmap[1]=0
	repairs
	image=$(copy_image special)
	damage "checkpoint:3" cp_ifile_inode.i_bmap[2]=0
	repairs
}

@test "the kernel takes numbers from what was repaired" {
	need_guest uml
	begin small-files
	overwrite "$(map_block dat 1)" </dev/zero
	damage group:ifile/0 pg_nfrees=17
	repairs
	guest "$image" <<-'EOF'
	nilfs_mount "$DEV1"
	find "$MNT" -type f -exec cat {} + >/dev/null
	noises "$MNT/new" 1 300 5000
	sync
	rm "$MNT"/new*
	sync
	clean "$DEV1" "$MNT"
	nilfs_umount
	EOF
	[ "$status" -eq 0 ]
	kernel_content
	is_clean
}

# zero_ifile: neither inodes nor what says which were in use.
zero_ifile() {
	local block

	for block in $(dump.nilfs2 bmap -b "$image" ifile |
		awk '$NF == "data" { print $5 }'); do
		dd if=/dev/zero of="$image" bs="$(block_size)" seek="$block" \
			count=1 conv=notrunc status=none
	done
}

content() {
	find "$1" -type f | sort | xargs cat | tr -d '\0' | cksum
}

@test "all inodes of the latest state: logs and names bring back what has data" {
	image=$(copy_image small-files)
	dump.nilfs2 export -q "$image" before
	zero_ifile
	run -1 fsck.nilfs2 -fy "$image"
	[[ $output == *"lost: perhaps more"* ]]
	is_clean
	dump.nilfs2 export -q "$image" after
	# Nothing but an empty file is gone; sizes are those of whole blocks.
	diff <(cd before && find . | sort | grep -v '^./nothing$') \
		<(cd after && find . | sort)
	diff <(content before) <(content after)
}

@test "a loss that nothing shows is not called none" {
	image=$(copy_image cleaned-1k)
	zero_ifile
	run -1 fsck.nilfs2 -fy "$image"
	[[ $output == *"lost: perhaps more"* ]]
	[[ $output != *"lost: nothing"* ]]
	is_clean
}
