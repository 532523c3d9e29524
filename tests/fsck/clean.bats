#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Volumes with nothing wrong: what the stock kernel, its tools and ours write.
# The checker has nothing to say, and changes nothing.

bats_require_minimum_version 1.5.0

load ../mkfs/mkfs
load ../kernel/lab
load ../dump/corpus

# tree.pl stands there.
populate_dir=$BATS_TEST_DIRNAME/../mkfs

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

fsck() {
	"$NILFS2_BUILD/fsck/fsck.nilfs2" -fnq "$@"
}

# says_clean IMAGE [OPTION]: the checker has nothing to say of it; and the
# image is the same afterwards.
says_clean() {
	local before said

	before=$(state_of "$1")
	said=$(fsck "${2---data}" "$1" 2>&1) || said="status $? $said"
	[ -z "$said" ] || {
		head -n 20 <<<"$said"
		return 1
	}
	[ "$(state_of "$1")" = "$before" ] || {
		echo "$1: changed"
		return 1
	}
}

make_tree() {
	perl "$populate_dir/tree.pl" "$1" "$1" "$2" $(($2 * $3))
}

corpus_clean() {
	says_clean "$corpus/$1/image" &&
		says_clean "$corpus/$1/image" --all
}

@test "what the kernel left" {
	need_corpus
	each_image corpus_clean
}

# A volume that was not unmounted cleanly is rolled forward.
rebuild_clean() {
	case $1 in crash-*) return 0 ;; esac
	cp "$corpus/$1/image" image
	"$NILFS2_BUILD/fsck/fsck.nilfs2" -fyq --rebuild image &&
		cmp "$corpus/$1/image" image
}

@test "what is derived of it is what the kernel left" {
	need_corpus
	each_image rebuild_clean
}

@test "new volumes, of every block size" {
	for size in 1024 2048 4096 8192 16384 32768 65536; do
		mkfs -q -b "$size" -B 16 --size 48M image 2>/dev/null
		says_clean image
		rm image
	done
}

@test "new volumes with and without features" {
	for features in none block_count sufile_live_blks_ext \
			sufile_live_blks_ext,track_live_blks; do
		mkfs -q -B 64 -O "$features" --size 32M image
		says_clean image
		rm image
	done
}

@test "new volumes with one segment's room, and with many segments" {
	mkfs -q -b 1024 -B 16 --size 48M image
	says_clean image
	rm image
	mkfs -q -B 8192 --size 1G image
	says_clean image
	rm image
	mkfs -q -b 1024 -B 16 --size 1G image
	says_clean image
}

# filled BLOCK_SIZE BLOCKS_PER_SEGMENT OPTION...: in one layer, and in two with
# a snapshot of each.
filled() {
	make_tree rich "$1" "$2"
	make_tree layer "$1" "$2"
	mkfs -q -b "$1" -B "$2" --size 96M "${@:3}" -d rich image
	says_clean image
	rm image
	mkfs -q -b "$1" -B "$2" --size 192M --snapshot=each "${@:3}" -d rich \
		-d layer image
	says_clean image
}

@test "filled volumes with blocks of 1 KiB" { filled 1024 64; }
@test "filled volumes with blocks of 2 KiB" { filled 2048 32 -O none; }
@test "filled volumes with counts of live blocks" {
	filled 4096 64 -O block_count,sufile_live_blks_ext,track_live_blks
}

@test "volumes with zones, empty and filled" {
	for zones in "--zone-size 4M" "--zone-size 4M --zone-capacity 3M"; do
		# shellcheck disable=SC2086
		mkfs -q $zones --size 256M image
		says_clean image
		rm image
		[ -d flat ] || make_tree flat 4096 256
		# shellcheck disable=SC2086
		mkfs -q $zones --size 256M -d flat image
		says_clean image
		rm image
	done
}

@test "what the log writer appended to the kernel's" {
	need_corpus
	for name in cleaned cleaned-1k crash-sr many-snapshots-2k; do
		image=$(copy_image "$name")
		"$NILFS2_BUILD/tests/kernel/extend" "$image" "a new file" 700
		"$NILFS2_BUILD/tests/kernel/extend" "$image" another 3
		says_clean "$image"
	done
}

# Deletes, overwrites and appends, a cleaner's pass between, snapshots and what
# comes of it when they are given up.
live() {
	cat <<-'EOF'
	set -e
	live() {
		nilfs_mount "$1"
		rm -r "$MNT/large" "$MNT"/many/*[13579]
		snapshot "$1"
		noise 1 700000 >"$MNT/new"
		scatter "$MNT/new" 1024 600 200 2
		sync
		clean "$1" "$MNT"
		truncate -s 100000 "$MNT/new"
		mv "$MNT/many" "$MNT/names/moved"
		sync
		chcp cp "$1" "$(lscp -s "$1" | awk 'END { print $1 }')"
		rm "$MNT/new"
		clean "$1" "$MNT"
		nilfs_umount
		nilfs_mount -o ro "$1"
		nilfs_umount
	}
	for device in "$DEV1" "$DEV2"; do
		live "$device"
	done
	EOF
}

@test "ours, after the kernel wrote on them and cleaned them" {
	need_guest uml
	make_tree rich 1024 64
	mkfs -q -b 1024 -B 64 --size 96M -d rich one
	mkfs -q -b 4096 -B 32 --size 96M -O sufile_live_blks_ext \
		--snapshot=each -d rich -d rich two
	guest --timeout 120 one two <<<"$(live)"
	echo "$output $errors"
	[ "$status" -eq 0 ]
	kernel_content
	says_clean one
	says_clean two
}
