# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# A mount in user space: tar of it, and its first listing, beside others of the same
# tree, export, and tar of the tree itself.
#
#	BENCH_FILES	thousands of small files (66)

# mounted LABEL COMMAND... : mounts something on the directory of that label.
mounted() {
	mkdir "$scratch/$1"
	"${@:2}" "$scratch/$1" >"$scratch/mount.log" 2>&1 || {
		cat "$scratch/mount.log"
		return 1
	}
	mounts+=("$1")
}

# mount_all: each peer that is there; "mounts" has their labels.
mount_all() {
	mounted ours "$dump" mount "$scratch/volume"
	! have fuse2fs mke2fs || {
		truncate -s 2G "$scratch/ext4"
		mke2fs -q -F -t ext4 -N 200000 -d "$tree" "$scratch/ext4" \
			>"$scratch/mount.log" 2>&1
		mounted fuse2fs fuse2fs -o ro "$scratch/ext4" || true
	}
	! have erofsfuse mkfs.erofs || {
		mkfs.erofs --quiet "$scratch/erofs" "$tree" \
			>"$scratch/mount.log" 2>&1
		mounted erofsfuse erofsfuse "$scratch/erofs" || true
	}
}

mounts=()

unmount_all() {
	local label

	for label in "${mounts[@]}"; do
		fusermount3 -u -z "$scratch/$label"
		rmdir "$scratch/$label"
	done
	mounts=()
	rm -f "$scratch"/{ext4,erofs}
}

# What the kernel has of the files is dropped before each, so that it has to ask.
mount_case() {
	local label commands=()

	mount_all
	for label in "${mounts[@]}"; do
		commands+=("$label=tar -cf $scratch/tar -C $scratch/$label .")
	done
	title "mount: tar of $1"
	interleave 5 -b "$drop" -r "limit: tar of the tree" \
		"ours, export=$dump export $scratch/volume $scratch/export.tar &&
			rm $scratch/export.tar" "${commands[@]}" \
		"limit: tar of the tree=tar -cf $scratch/tar -C $tree ."
	unmount_all
}

# From the start of the program to the listing.
listing_case() {
	local dir=$scratch/listed

	mkdir "$dir"
	title "mount: first listing of $1"
	interleave 11 -a "fusermount3 -u $dir" \
		"ours=$dump mount $scratch/volume $dir && ls $dir" \
		"ours, mount alone=$dump mount $scratch/volume $dir"
	rmdir "$dir"
}

bench_mount() {
	local tree drop=true files=${BENCH_FILES:-66}

	[ -w /dev/fuse ] && have fusermount3 || {
		echo "(no mounts in user space)"
		return
	}
	[ ! -w /proc/sys/vm/drop_caches ] ||
		drop='sync; echo 2 >/proc/sys/vm/drop_caches'
	trap 'unmount_all; rm -rf "$scratch"' EXIT
	tree=$(BENCH_SMALL=$files "$here/trees.sh" small)
	"$mkfs" -q -f --size 4G -d "$tree" "$scratch/volume"
	mount_case "$files thousand small files"
	listing_case "$files thousand small files"
	tree=$scratch/large
	mkdir "$tree"
	head -c 1G /dev/urandom >"$tree/large"
	"$mkfs" -q -f --size 4G -d "$tree" "$scratch/volume"
	mount_case "a file of 1 GiB"
	rm -rf "$tree" "$scratch/volume" "$scratch/tar"
}
