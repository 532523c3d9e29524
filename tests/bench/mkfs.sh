# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# Empty volumes on sparse files in memory, a fresh file for each command.

mkfs_commands() {
	local f=$1

	commands=("limit: 64 KiB and fsync=$limit format $f" "limit: true=true"
		"ours=$mkfs -q $f")
	have mkfs.nilfs2 && commands+=("nilfs-utils=mkfs.nilfs2 -q $f")
	have mkfs.btrfs && commands+=("btrfs=mkfs.btrfs -q $f")
	have mke2fs && commands+=("ext4=mke2fs -q -F -t ext4 $f")
	have mkfs.f2fs && commands+=("f2fs=mkfs.f2fs -q $f")
	! have mkfs.xfs || commands+=("xfs=mkfs.xfs -q $f")
}

bench_mkfs() {
	local size f=$scratch/volume commands

	mkfs_commands "$f"
	for size in 1G 16G 1T 16T; do
		title "mkfs, $size; after: allocated"
		interleave 15 -r nilfs-utils -b "rm -f $f; truncate -s $size $f" \
			-a "du -k $f | awk '{ print \$1 \" KiB\" }'" \
			"${commands[@]}"
	done
	rm -f "$f"
}
