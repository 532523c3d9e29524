#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Counts of live blocks are given to volumes and taken away again: files and
# snapshots stay, what is counted is what lssu(8) counts, and the kernel mounts
# both.

bats_require_minimum_version 1.5.0

load ../kernel/lab
load ../fsck/repaired
load gc

ext=sufile_live_blks_ext

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	need_corpus
}

field() {
	dump.nilfs2 info --json "$image" | gojq -c "[.superblocks[].$1]"
}

@test "there and back, images are what they were" {
	for name in $(names); do
		begin "$name"
		echo "$name:"
		run -0 gc.nilfs2 --json -O $ext "$image"
		[ "$(gojq .features.changed <<<"$output")" = true ]
		[ "$(field s_segment_usage_size)" = '[32,32]' ]
		is_clean
		same_trees
		run -0 fsck.nilfs2 --rebuild-counters "$image"
		[[ $output != *repaired* ]]
		run -0 gc.nilfs2 -O ^$ext "$image"
		[ "$(field s_segment_usage_size)" = '[16,16]' ]
		[ "$(field s_feature_compat)" = '[0,0]' ]
		is_clean
		same_trees
	done
}

@test "what is so already is left as it is" {
	begin snapshots
	before=$(image_sum "$image")
	run -0 gc.nilfs2 --json -O ^$ext "$image"
	[ "$(gojq .features.changed <<<"$output")" = false ]
	run -0 gc.nilfs2 -n -O $ext "$image"
	[ "$(image_sum "$image")" = "$before" ]
	for name in track_live_blks block_count nothing; do
		run -2 gc.nilfs2 -O $name "$image"
	done
	[ "$(image_sum "$image")" = "$before" ]
}

# counted: by the entries of $image, "SEGMENT BLOCKS" of those in use; all that
# is protected counts as alive for lssu.
counted() {
	dump.nilfs2 segments -o segment,state,su_nlive_blks --json "$image" |
		gojq -r '.segments[] | select(.state == "-d--") |
			"\(.segment) \(.su_nlive_blks)"'
}

# uses NAME: the kernel finds the files of that image, counts its living blocks,
# writes, and finds all of it.
uses() {
	mkdir -p share
	large_blocks "$1" "$image" >share/blocks
	guest --share share "$image" <<-'SCRIPT'
	set -e
	nilfs_mount -o ro "$DEV1"
	lssu -l -p 0 "$DEV1" >"$SHARE/lssu"
	manifest --blocks "$SHARE/blocks" "$MNT" >"$SHARE/manifest"
	nilfs_umount
	nilfs_mount "$DEV1"
	filler 1 3000000 >"$MNT/more"
	sync -f "$MNT"
	filler 2 3000000 | cksum >/mnt/tmp/sum
	filler 2 3000000 >"$MNT/more"
	nilfs_umount
	nilfs_mount "$DEV1"
	cksum <"$MNT/more" | cmp - /mnt/tmp/sum
	rm "$MNT/more"
	nilfs_umount
	SCRIPT
	echo "$output$errors"
	[ "$status" -eq 0 ] && kernel_content || return
	diff share/manifest "$corpus/$1/manifest"
}

@test "the kernel mounts both, and lssu counts the same" {
	need_guest uml
	for name in snapshots deep-1k; do
		image=$(copy_image "$name")
		gc.nilfs2 -O $ext "$image"
		counted >counted
		uses "$name"
		[ "$(wc -l <counted)" -gt 5 ]
		diff counted <(awk '$4 == "-d--" { print $1, $6 }' share/lssu)
		[ "$(field s_segment_usage_size)" = '[32,32]' ]
		is_clean
		gc.nilfs2 -O ^$ext "$image"
		is_clean
		rm share/manifest
		large_blocks "$name" "$image" >share/blocks
		guest --share share "$image" <<-'SCRIPT'
		nilfs_mount "$DEV1"
		manifest --blocks "$SHARE/blocks" "$MNT" >"$SHARE/manifest"
		nilfs_umount
		SCRIPT
		kernel_content
		diff <(grep -v $'\t\.$' share/manifest) \
			<(grep -v $'\t\.$' "$corpus/$name/manifest")
	done
}

# The power went off between the two superblocks: the kernel writes them in
# turn, but makes them the same when it mounts.
@test "the kernel mounts what has one new superblock" {
	need_guest uml
	image=$(copy_image snapshots)
	size=$(stat -c %s "$image")
	second=$(((size / 4096 - 1) * 4096))
	dd if="$image" of=old bs=4096 skip=$((second / 4096)) count=1 \
		status=none
	gc.nilfs2 -O $ext "$image"
	dd if=old of="$image" bs=4096 seek=$((second / 4096)) conv=notrunc \
		status=none
	[ "$(field s_segment_usage_size)" = '[32,16]' ]
	uses snapshots
	[ "$(field s_segment_usage_size)" = '[32,32]' ]
	is_clean
}

# The kernel leaves the counts of what it writes, ends and cleans behind; and
# fsck.nilfs2 counts for itself.
@test "cleaning makes counts exact that a kernel has left behind" {
	need_guest uml
	image=$(copy_image plain-checkpoints)
	gc.nilfs2 -O $ext "$image"
	guest "$image" <<-'SCRIPT'
	set -e
	nilfs_mount "$DEV1"
	for i in 1 2 3 4 5 6; do
		noise "$i" 900000 >"$MNT/$i"
		sync -f "$MNT"
	done
	rm "$MNT"/[246]
	sync -f "$MNT"
	clean "$DEV1" "$MNT" 0
	for i in 7 8 9 10 11 12; do
		noise "$i" 900000 >"$MNT/$i"
		sync -f "$MNT"
	done
	rm "$MNT"/[1379] "$MNT"/1[12]
	nilfs_umount
	SCRIPT
	[ "$status" -eq 0 ]
	remember
	cp --sparse=always "$image" stale
	run -1 fsck.nilfs2 --rebuild-counters "$image"
	cp --sparse=always stale "$image"
	run -0 gc.nilfs2 --json --protect 0 --min-reclaimable 0 "$image"
	[ "$(gojq .result.batches <<<"$output")" -ge 1 ]
	before=$(image_sum "$image")
	run -0 fsck.nilfs2 --rebuild-counters "$image"
	[[ $output == *"the counters of all segments are correct" ]]
	[ "$(image_sum "$image")" = "$before" ]
	is_clean
	same_trees
}
