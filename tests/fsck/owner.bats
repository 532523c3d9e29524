#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Another owner of the device: nothing is written to what is another program's,
# or to what another program writes to at the same time.

bats_require_minimum_version 1.5.0
load ../kernel/lab
load damage

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	export SOURCE_DATE_EPOCH=1700000000
	image=$PWD/image
	mkfs.nilfs2 -q --size 16M -B 64 image
}

need_blkid() {
	local tool

	for tool in "$@"; do
		command -v "$tool" >/dev/null || skip "no $tool"
	done
	rm -f other && truncate -s 1M other && mkswap other >/dev/null 2>&1
	run dump.nilfs2 info -v other
	[[ $output == *"is a swap area"* ]] || skip "built without libblkid"
}

# A header of LUKS, version 1, over the first superblock.
become_luks() {
	dd if=/dev/zero of=image bs=4096 count=1 conv=notrunc status=none
	printf 'LUKS\272\276\0\001' |
		dd of=image conv=notrunc status=none
	printf '01234567-89ab-4def-8123-456789abcdef' |
		dd of=image bs=1 seek=168 conv=notrunc status=none
}

# untouched STATUS TEXT COMMAND...: it fails so, and image is as it was.
untouched() {
	local want=$1 text=$2 before

	shift 2
	before=$(cksum <image)
	run timeout 60 "$@"
	echo "$*: status $status: $output"
	[ "$status" -eq "$want" ] || return
	[[ $output == *"$text"* ]] || return
	[ "$(cksum <image)" = "$before" ]
}

# all_refuse TEXT: no writer touches image, and each says so.
all_refuse() {
	local option

	for option in -a -p -y '-p -f' --rebuild-counters --rollback; do
		# shellcheck disable=SC2086
		untouched 8 "image: $1" fsck.nilfs2 $option image || return
	done
	untouched 1 "image: $1" gc.nilfs2 --compact image || return
	untouched 1 "image: $1" dump.nilfs2 set --expert image super:2 \
		s_wtime=1
}

magic() {
	od -An -tx1 -j $((1024 + 6)) -N 2 image | tr -d ' '
}

@test "a swap area with an old second superblock stays one" {
	need_blkid mkswap
	tail -c 4096 image >second
	mkswap image >/dev/null 2>&1
	dd if=second of=image bs=4096 seek=4095 conv=notrunc status=none
	all_refuse "is a swap area, with the remains of a NILFS2 volume"
	untouched 4 'is a swap area' fsck.nilfs2 -n image
	# As systemd-fsck(8) calls it for fsck.mode=force and fsck.repair=yes.
	untouched 8 'is a swap area' fsck.nilfs2 -f -y image
	# Who means it says so.
	run -1 fsck.nilfs2 -y --force image
	[[ $output == *"is a swap area"* ]]
	[ "$(magic)" = 3434 ]
}

@test "so does a volume of LUKS" {
	need_blkid mkswap
	become_luks
	all_refuse "is encrypted (crypto_LUKS)"
	untouched 8 "is encrypted" fsck.nilfs2 -a -f image
}

@test "without any superblock every tool says what is there" {
	need_blkid mkswap mke2fs
	rm image
	truncate -s 16M image
	mke2fs -q -t ext4 -L mine image
	all_refuse 'is an ext4 file system "mine"'
	for command in 'dump.nilfs2 info' 'dump.nilfs2 ls' 'gc.nilfs2 -n' \
		'dump.nilfs2 segments'; do
		# shellcheck disable=SC2086
		untouched 1 'image: is an ext4 file system "mine"' \
			$command image
	done
	untouched 8 'image: is an ext4 file system' fsck.nilfs2 -n image
	untouched 8 'image: is an ext4 file system' fsck.nilfs2 --quick image
	dd if=/dev/zero of=image bs=64k count=1 conv=notrunc status=none
	untouched 1 'image: no NILFS2 superblock' dump.nilfs2 info -v image
}

@test "boot code and the content of files are no signature" {
	need_blkid mkswap sfdisk wipefs
	sfdisk -q image <<<'start=2048, type=83' >/dev/null
	run -0 fsck.nilfs2 -fy image
	run -0 gc.nilfs2 --compact image
	# A file of which any block may be where ISO 9660 has its signature.
	printf '\001CD001\001' >block
	truncate -s 4096 block
	mkdir top
	for _ in $(seq 30); do cat block; done >top/file
	mkfs.nilfs2 -q -f -B 64 -d top image
	wipefs image | grep iso9660
	run -0 fsck.nilfs2 -fy image
	run -0 gc.nilfs2 --compact image
	run -0 dump.nilfs2 set --expert image super:2 s_wtime=1
}

@test "a first superblock that was wiped is brought back by -y only" {
	need_blkid mkswap wipefs
	wipefs -qo 0x406 image
	[ "$(magic)" = 0000 ]
	for option in -a -p '-p -f'; do
		# shellcheck disable=SC2086
		untouched 4 "wiped or overwritten" fsck.nilfs2 $option image
	done
	untouched 4 "wiped or overwritten" gc.nilfs2 --compact image
	run -1 fsck.nilfs2 -y image
	[ "$(magic)" = 3434 ]
	run -0 fsck.nilfs2 -n image
	wipefs -qa image
	untouched 4 "wiped or overwritten" fsck.nilfs2 -a image
	run -1 fsck.nilfs2 -y image
	run -0 fsck.nilfs2 -fn image
}

@test "one flipped bit in its magic number is proved, and corrected by -a" {
	printf '\065' | dd of=image bs=1 seek=1030 conv=notrunc status=none
	run -1 fsck.nilfs2 -a image
	[ "$(magic)" = 3434 ]
	run -0 fsck.nilfs2 -fn image
}

@test "a repair of the rest does not bring back what was wiped" {
	need_corpus
	cp "$(copy_image cleaned)" other
	cp other image
	damage_raw super:1 s_magic=0
	damage_raw super:2 s_sum=0
	untouched 4 "wiped or overwritten" fsck.nilfs2 -a image
}

# Waits until another process keeps readers out of the image.
wait_for_busy() {
	local i

	for i in $(seq 100); do
		run dump.nilfs2 info -v image
		[[ $output != *"in use by another process"* ]] || return 0
		sleep 0.1
	done
	return 1
}

# No program opens the image, and each prints why.
keeps_out() {
	local text="image: in use by another process"

	run -1 mkfs.nilfs2 -q -f -B 64 image
	[ "$output" = "mkfs.nilfs2: $text" ] || return
	run -1 dump.nilfs2 ls image
	[ "$output" = "dump.nilfs2: $text" ] || return
	run -8 fsck.nilfs2 -fy image
	[ "$output" = "fsck.nilfs2: $text" ] || return
	run -1 gc.nilfs2 image
	[ "$output" = "gc.nilfs2: $text" ] || return
	run -1 dump.nilfs2 set --expert image super:1 s_wtime=1
	[ "$output" = "dump.nilfs2: $text" ]
}

@test "two mkfs at once: one fails, the other's volume is sound" {
	mkdir top
	echo hello >top/file
	tar cf top.tar top
	mkfifo fifo
	truncate -s 32M new
	mv new image
	mkfs.nilfs2 -q -B 64 -d - image <fifo 3>&- &
	first=$!
	exec 9>fifo
	head -c 600 top.tar >&9
	wait_for_busy
	keeps_out
	tail -c +601 top.tar >&9
	exec 9>&-
	wait $first
	run -0 fsck.nilfs2 -fn image
	run -0 dump.nilfs2 cat image /top/file
	[ "$output" = hello ]
}

@test "readers beside readers, and no writer beside them" {
	mkdir top
	head -c 300k /dev/urandom >top/file # more than a pipe takes
	mkfs.nilfs2 -q -f -B 64 -d top image
	mkfifo fifo
	dump.nilfs2 cat image /file >fifo 3>&- &
	reader=$!
	exec 9<fifo
	head -c 10 <&9 >/dev/null
	run -0 dump.nilfs2 info -v image
	run -0 fsck.nilfs2 -n image
	run -8 fsck.nilfs2 -fy image
	[ "$output" = "fsck.nilfs2: image: in use by another process" ]
	cat <&9 >/dev/null
	exec 9<&-
	wait $reader
	run -0 fsck.nilfs2 -fy image
}

# A terminal to be asked on: its input is what stands in the pipe "answers".
ask_fsck() {
	mkfifo answers
	script -qefc "fsck.nilfs2 $1" /dev/null <answers >dialogue 3>&- 2>&1 &
	asked=$!
	exec 9>answers
}

@test "an answer that comes after another program wrote changes nothing" {
	command -v script >/dev/null || skip "no script"
	mkfs.nilfs2 -q -f -B 64 image
	cp image later
	printf '\377' | dd of=image bs=1 seek=$((1024 + 0xc8)) conv=notrunc \
		status=none
	# What a mount by way of a loop device leaves, which takes no lock.
	dump.nilfs2 set --expert --fix-checksums later super:1 \
		s_volume_name=mounted >/dev/null
	dump.nilfs2 set --expert --fix-checksums later super:2 \
		s_volume_name=mounted >/dev/null
	ask_fsck image
	for i in $(seq 100); do
		grep -q '?' dialogue && break
		sleep 0.1
	done
	grep '?' dialogue
	dd if=later of=image conv=notrunc status=none
	printf 'yes\nyes\nyes\n' >&9
	status=0
	wait $asked || status=$?
	exec 9>&-
	cat dialogue
	[ "$status" -eq 8 ]
	grep -q "image: another program changed the volume; nothing was" \
		dialogue
	cmp image later
}

@test "a volume that was cut short is not written to" {
	need_corpus
	cp "$(copy_image cleaned)" whole
	head -c 60M whole >image
	before=$(cksum <image)
	for option in --compact '--free 1' '--delete-checkpoints ..3' --punch \
		'--defrag all' --purge '-O sufile_live_blks_ext' --grow; do
		# shellcheck disable=SC2086
		untouched 4 "the segments do not fit the device" \
			gc.nilfs2 --protect 0 $option image
	done
	untouched 1 "the segments do not fit the device" \
		dump.nilfs2 set --expert image inode:2 i_uid=7
	for option in -a -y; do
		untouched 4 "the segments do not fit the device" \
			fsck.nilfs2 $option image
	done
}

@test "features that forbid writing are kept to" {
	for copy in 1 2; do
		dump.nilfs2 set --expert --fix-checksums image super:$copy \
			s_feature_compat_ro=0x80 >/dev/null
	done
	untouched 4 "unknown features that forbid writing" \
		gc.nilfs2 --compact image
	untouched 1 "unknown features that forbid writing" \
		dump.nilfs2 set --expert image inode:2 i_uid=7
	run -0 dump.nilfs2 ls image
}
