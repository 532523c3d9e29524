#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What others think of the image: libblkid, GRUB, and mkfs.nilfs2 of
# nilfs-utils, which is compared byte by byte.

bats_require_minimum_version 1.5.0

load mkfs

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

tag() {
	blkid -p -o value -s "$1" image
}

@test "blkid sees type, label, UUID and block size" {
	need blkid
	uuid=01234567-89ab-cdef-0123-456789abcdef
	for size in 1024 2048 4096 65536; do
		image 128M
		mkfs -q -B 16 -b $size -L 'a label' -U $uuid image 2>err
		[ "$(tag TYPE)" = nilfs2 ]
		[ "$(tag LABEL)" = 'a label' ]
		[ "$(tag UUID)" = $uuid ]
		[ "$(tag BLOCK_SIZE)" = $size ] || [ -z "$(tag BLOCK_SIZE)" ]
	done
}

@test "blkid finds the volume by either superblock" {
	need blkid
	image 64M
	mkfs -q -B 64 image
	for seek in 1024 $((64 * 1048576 - 4096)); do
		cp image image.whole
		dd if=/dev/zero of=image bs=1 seek=$seek count=1024 \
			conv=notrunc status=none
		[ "$(tag TYPE)" = nilfs2 ]
		mv image.whole image
	done
}

@test "GRUB reads the root directory" {
	need grub-fstest
	for size in 1024 2048 4096; do
		image 128M
		mkfs -q -B 64 -b $size image
		run grub-fstest "$PWD/image" ls -- -la '(loop0)/'
		echo "$output"
		[ "$status" -eq 0 ]
		[[ $output != *error* ]]
		[[ $output == *DIR*./* ]]
	done
}

# What must differ from an image of nilfs-utils 2.2.9 made with block_count:
# the checksum seed and with it the checksums; all that the file ".nilfs", which
# later versions do not make, leaves in the image; and where the fields are what
# the kernel would write and not what mkfs.nilfs2 does: blocks of inodes are
# counted in sectors, free blocks in clean segments, the last segment taken is
# the last one taken, and virtual block numbers are given out in the order in
# which the kernel needs them.
differences() {
	cat <<-'EOF'
	checkpoint.cp_inodes_count
	dat.de_blocknr
	dirent.nilfs
	dirent.parent.rec_len
	ifile.bitmap
	ifile.i_blocks
	ifile.i_bmap
	ifile.pg_nfrees
	inode.nilfs
	root.i_blocks
	root.i_bmap
	sb1.s_crc_seed
	sb1.s_free_blocks_count
	sb1.s_sum
	sb2.s_crc_seed
	sb2.s_free_blocks_count
	sb2.s_sum
	sr.i_blocks
	sr.i_bmap
	sr_sum
	ss_datasum
	ss_sumsum
	sufile.sh_last_alloc
	summary.items
	EOF
}

# like_peer SIZE OPTION...
like_peer() {
	local size=$1

	shift
	image "$size"
	"$peer" -q -O block_count -P 1234567890 "$@" image
	mv image theirs
	image "$size"
	mkfs -q -P 1234567890 -U "$(blkid -p -o value -s UUID theirs)" "$@" \
		image
	perl "$BATS_TEST_DIRNAME/differences.pl" theirs image >got
	diff <(differences) got
}

@test "the bytes are those of nilfs-utils" {
	need_peer
	like_peer 200M -b 1024 -L label
	like_peer 200M -b 2048 -m 20
	like_peer 200M -b 4096 -L "$(printf '%079d' 0)"
	like_peer 134221824
	like_peer 1M -b 1024 -B 16
	like_peer 1052671 -b 1024 -B 16
	like_peer 1052672 -b 1024 -B 16
	like_peer 268439551
	like_peer 268439552
}

@test "the same sizes are too small" {
	need_peer
	for size in 134221823 134217728 33554432; do
		image $size
		run "$peer" image
		[ "$status" -eq 1 ]
		refused 1 'too small' image
	done
}
