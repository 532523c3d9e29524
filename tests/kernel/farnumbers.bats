#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Virtual numbers at the end of 64 bits.  The kernel takes the number after the last one
# of a file, plus the distance in the file, as a hint (nilfs_bmap_find_target_seq()).
# Where a file goes backward from a number below 7 the hint wraps, and the last group of
# the DAT gets a block.  If the number 2^64 - 1 becomes that of a node of a map, the kernel
# panics when it unmounts (clear_inode()), so the volume is not unmounted here.

bats_require_minimum_version 1.5.0
load lab

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

@test "a volume with virtual numbers at the end of 64 bits is sound" {
	need_guest uml
	image=$PWD/far.img
	truncate -s 32M "$image"
	mkfs.nilfs2 -q -B 64 "$image"
	guest "$image" <<-'EOF'
		nilfs_mount $DEV1
		for i in $(seq 1 24); do >$MNT/f$i; done
		sync
		for i in 1 2 3; do
			noise $i 1500000 >$MNT/large
			sync
		done
		rm $MNT/large
		sync
		nilfs_umount
	EOF
	[ "$status" -eq 0 ]
	# The first numbers are free then, and are those of the next blocks of inodes
	# that are multiples of 8.
	gc.nilfs2 -q --protect 0 --min-reclaimable 0 "$image" >/dev/null
	guest "$image" <<-'EOF'
		nilfs_mount $DEV1
		file=$(find $MNT -inum 16)
		for block in 8 3 4 1 12 30; do
			noise $block 4096 | dd of=$file bs=4096 seek=$block \
				conv=notrunc status=none
			sync
		done
		snapshot $DEV1
		noise 9 4096 | dd of=$file bs=4096 seek=4 conv=notrunc status=none
		sha256sum <$file
		echo "${file##*/}"
		sync
	EOF
	[ "$status" -eq 0 ]
	cno=$(sed -n 1p <<<"$output")
	sum=$(sed -n 2p <<<"$output")
	name=$(sed -n 3p <<<"$output")
	# It has some.
	dump.nilfs2 bmap -c "$cno" "$image" 16 | grep -E " 184467440737095[0-9]{5} "
	[ "$(dump.nilfs2 cat "$image" "/$name" | sha256sum)" = "$sum" ]
	run -0 fsck.nilfs2 -nf --data "$image"
	[[ $output == *": clean, "* ]]
	before=$(sha256sum <"$image")
	run -0 fsck.nilfs2 -fy --rebuild "$image"
	[ "$(sha256sum <"$image")" = "$before" ]
	for job in "--protect 0" --compact=all "--shrink=min" "--defrag all" \
		"-O sufile_live_blks_ext"; do
		cp --sparse=always "$image" copy
		# shellcheck disable=SC2086
		gc.nilfs2 -q $job copy >/dev/null
		run -0 fsck.nilfs2 -nf copy
		[[ $output == *": clean, "* ]]
		[ "$(dump.nilfs2 cat copy "/$name" | sha256sum)" = "$sum" ]
	done
	guest copy <<-EOF
		nilfs_mount \$DEV1
		sha256sum <\$MNT/$name
	EOF
	[ "$output" = "$sum" ]
	kernel_content
}
