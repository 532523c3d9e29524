#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Other sizes: the same files and snapshots on fewer segments, and on more.

bats_require_minimum_version 1.5.0

load ../kernel/lab
load ../fsck/repaired
load gc

# gc OPTION... : of $image, of which only snapshots and the latest state matter.
gc() {
	gc.nilfs2 --protect 0 "$@" "$image"
}

# value JOB KEY: of the report in $output.
value() {
	gojq -s "add | .$1.$2" <<<"$output"
}

size_of() {
	stat -c %s "$1"
}

# is_whole: $image is sound and holds what it held.
is_whole() {
	is_clean && same_trees
}

# super_of IMAGE FIELD: of its superblock.
super_of() {
	dump.nilfs2 info -v "$1" | awk -v name="$2" '$1 == name { print $2 }'
}

segments_of() {
	super_of "$1" s_nsegments
}

@test "images become as small as they can be" {
	for name in $(names); do
		echo "$name:"
		begin "$name"
		before=$(size_of "$image")
		run gc --json --shrink
		[ "$status" -eq 0 ]
		[ "$(size_of "$image")" -eq "$(value shrink bytes)" ]
		[ "$(size_of "$image")" -lt "$before" ]
		[ "$(segments_of "$image")" -eq "$(value shrink segments)" ]
		is_whole
		sum=$(image_sum "$image")
		gc --shrink=min >/dev/null
		[ "$(image_sum "$image")" = "$sum" ]
	done
}

# Virtual block numbers have gaps, which the DAT of a new volume has not.
@test "compacted and shrunk, an image is at most a segment larger than a new one" {
	for name in small-files deep-1k sparse-2k nearly-full; do
		image=$(copy_image "$name")
		gc --compact --shrink >/dev/null
		rm -f made tree.tar
		dump.nilfs2 export -q "$image" tree.tar 2>errors
		mkfs.nilfs2 -q -d tree.tar --size auto \
			-b $((1024 << $(super_of "$image" s_log_block_size))) \
			-B "$(super_of "$image" s_blocks_per_segment)" made
		echo "$name: $(size_of "$image"), $(size_of made)"
		segment=$(($(stat -c %s made) / $(segments_of made)))
		[ "$(size_of "$image")" -le $(($(size_of made) + segment)) ]
	done
}

# Each segment has a summary, and the last one a super root.
@test "compacted and shrunk, an image has no dead block" {
	begin nearly-full
	gc --compact --shrink >/dev/null
	dump.nilfs2 segments "$image" |
		awk '$1 ~ /^[0-9]+$/ && $2 !~ /a/ { print $1, $10 }' >dead
	[ "$(wc -l <dead)" -gt 1800 ]
	[ -z "$(awk '$2 != 1' dead)" ]
	is_whole
}

@test "what is refused names the least size, and changes nothing" {
	for name in nearly-full deep-1k snapshots; do
		begin "$name"
		sum=$(image_sum "$image")
		run gc --shrink=5M
		[ "$status" -eq 1 ]
		[ "$(image_sum "$image")" = "$sum" ]
		least=$(sed -n 's/.*in use need \([0-9]*\).*/\1/p' <<<"$output")
		run gc "--shrink=$((least - 4096))"
		[ "$status" -eq 1 ]
		[[ $output == *"in use need $least"* ]]
		[ "$(image_sum "$image")" = "$sum" ]
		gc "--shrink=$least"
		[ "$(size_of "$image")" -eq "$least" ]
		is_whole
	done
}

@test "a size between is met to the block of 4 KiB" {
	begin small-files
	gc --shrink=50000000
	[ "$(size_of "$image")" -eq $((50000000 / 4096 * 4096)) ]
	# Segments of 1 MiB, and 4 KiB for the second superblock.
	[ "$(segments_of "$image")" -eq $(((50000000 - 4096) >> 20)) ]
	is_whole
	run gc --shrink=51M
	[ "$status" -eq 1 ]
	run gc --grow=40M
	[ "$status" -eq 1 ]
	run gc --grow --shrink
	[ "$status" -eq 2 ]
}

@test "the forecast is what happens, and changes nothing" {
	for name in nearly-full deep-1k snapshots; do
		image=$(copy_image "$name")
		some=$(($(size_of "$image") * 98 / 100))
		for option in --shrink "--shrink=$some" --grow=200M; do
			begin "$name"
			sum=$(image_sum "$image")
			gc --json -n "$option" --punch >forecast
			[ "$(image_sum "$image")" = "$sum" ]
			gc --json "$option" --punch >outcome
			diff <(timeless forecast) <(timeless outcome)
		done
	done
}

@test "what was shrunk grows again" {
	for name in nearly-full deep-1k many-snapshots-2k; do
		begin "$name"
		size=$(size_of "$image")
		segments=$(segments_of "$image")
		gc --shrink
		[ "$(segments_of "$image")" -lt "$segments" ]
		gc "--grow=$size"
		[ "$(size_of "$image")" -eq "$size" ]
		[ "$(segments_of "$image")" -eq "$segments" ]
		is_whole
		# The device has become larger, not the image.
		truncate -s $((size + 10000000)) "$image"
		gc --grow
		[ "$(segments_of "$image")" -gt "$segments" ]
		is_whole
	done
}

@test "space is given back, and nothing else" {
	begin nearly-full
	run -1 gc --free 50%
	before=$(du -k "$image" | cut -f 1)
	run gc --json --punch
	[ "$status" -eq 0 ]
	[ "$(value punch bytes)" -gt 1000000 ]
	[ "$(du -k "$image" | cut -f 1)" -lt "$before" ]
	is_whole
	sum=$(image_sum "$image")
	gc --json --punch | diff - <(echo "$output")
	[ "$(image_sum "$image")" = "$sum" ]
}

# The peers' own words for it.
sizes='lssu -a "$DEV1" | tail -n +2 | wc -l >"$SHARE/segments"
nilfs-tune -l "$DEV1" >"$SHARE/tune"'

# What was written on has changed the times of the root directory.
root=$'\t\.$'

by_two='eval "$(declare -f clean | sed "s,32/,2/,")"'

# Nothing is cleaned, which takes most of the time.
uncleaned='clean() { :; }'

same_sizes() {
	cat share/segments share/tune
	[ "$(cat share/segments)" -eq "$(segments_of "$image")" ] &&
		grep -q "^Device size:[[:space:]]*$(size_of "$image")\$" \
			share/tune
}

# The SUFILE has two levels of nodes before, and none at all then.
@test "of tens of thousands of segments in use a few are left" {
	mkdir tree
	head -c 3000000 /dev/urandom >tree/file
	image=$BATS_TEST_TMPDIR/crowd
	truncate -s 32000M "$image"
	mkfs.nilfs2 -q -b 1024 -B 1024 -d tree "$image"
	"$NILFS2_BUILD/tests/bench/crowd" "$image" 100
	dump.nilfs2 bmap "$image" 5 | grep -q '^Levels: *3$'
	remember
	# Its segments have no logs, which the check would find.
	gc --no-check --shrink
	[ "$(segments_of "$image")" -lt 32 ]
	is_whole
	need_guest uml
	guest "$image" <<-'SCRIPT'
	nilfs_mount "$DEV1"
	cksum <"$MNT/file"
	filler 3 2000000 >"$MNT/more"
	sync
	nilfs_umount
	SCRIPT
	[ "$status" -eq 0 ] && kernel_content
	[ "$output" = "$(cksum <tree/file)" ]
	is_clean
}

# Some segments hold so much metadata that they take more than all memory.
@test "each segment is moved, however little memory there is" {
	image=$BATS_TEST_TMPDIR/vast
	truncate -s 4G "$image"
	mkfs.nilfs2 -q -B 256 "$image"
	"$NILFS2_BUILD/tests/bench/vast" "$image" segments 800
	dump.nilfs2 find --full-time "$image" >before
	run -1 gc --max-memory 64K --shrink=500M
	[[ $output == *": Cannot allocate memory; --max-memory is 64 KiB" ]]
	gc --max-memory 256K --shrink=500M
	[ "$(size_of "$image")" -eq $((500 << 20)) ]
	is_clean
	gc --max-memory 512K --compact
	is_clean
	[ "$(dump.nilfs2 segments "$image" | wc -l)" -lt 200 ]
	dump.nilfs2 find --full-time "$image" | diff before -
}

@test "the kernel reads, writes on and cleans what was shrunk" {
	need_guest uml
	# As mkfs.nilfs2, it leaves room for a small file, and for the two
	# segments that nilfs_cleanerd takes by its defaults.  All of the last
	# image is then in the segment of the latest log, which is active and
	# not cleaned: what is written there reaches beyond two of them.
	for name in $(sample 1 deep-1k snapshots many-snapshots-2k); do
		echo "$name:"
		image=$(copy_image "$name")
		gc --shrink --punch >/dev/null
		small=5000 large=300000
		[ "$name" != many-snapshots-2k ] || small=2500000 large=2500000
		more=$small by_kernel "$name" "$sizes" "$by_two"
		same_sizes
		is_clean
		gc --grow=100M
		but=$root more=$large by_kernel "$name" "$sizes"
		same_sizes
		is_clean
	done
}

@test "nilfs-resize goes on from there, and we from what it did" {
	need_guest uml
	image=$(copy_image deep-1k)
	size=$(size_of "$image")
	segments=$(segments_of "$image")
	gc --shrink >/dev/null
	truncate -s "$size" "$image"
	guest "$image" <<-'SCRIPT'
	nilfs_mount "$DEV1" && nilfs-resize -y "$DEV1" && nilfs_umount
	SCRIPT
	[ "$status" -eq 0 ]
	by_kernel deep-1k "$sizes" "$uncleaned"
	same_sizes
	[ "$(segments_of "$image")" -eq "$segments" ]
	is_clean
	but=$root by_kernel deep-1k 'nilfs-resize -y "$DEV1" 60M' "$uncleaned"
	gc --shrink=50M
	[ "$(size_of "$image")" -eq $((50 << 20)) ]
	but=$root by_kernel deep-1k "$sizes"
	same_sizes
	is_clean
}

# on_device OPTION...: gc.nilfs2, in a guest.
on_device() {
	guest --backend "$(guest_with gc.nilfs2)" "$image" <<-SCRIPT
	$(command -v gc.nilfs2) --protect 0 $* "\$DEV1"
	SCRIPT
	[ "$status" -eq 0 ]
}

@test "a device keeps its size, and the kernel finds both superblocks" {
	need_guest uml
	image=$(copy_image deep-1k)
	on_device --shrink=60M
	[ "$(size_of "$image")" -eq "$(size_of "$corpus/deep-1k/image")" ]
	but=$root by_kernel deep-1k "$uncleaned"
	on_device --grow
	but=$root by_kernel deep-1k
	[ "$(segments_of "$image")" -eq \
		"$(segments_of "$corpus/deep-1k/image")" ]
	is_clean
}

# copy_super FROM OFFSET TO OFFSET
copy_super() {
	dd if="$1" of="$3" bs=1024 skip=$(($2 / 1024)) seek=$(($4 / 1024)) \
		count=1 conv=notrunc status=none
}

@test "at each write of a superblock a mount finds the old or the new volume" {
	local old new

	need_guest uml
	image=$(copy_image snapshots)
	old=$corpus/snapshots/image
	run gc --json --shrink=40M
	# So that the old superblocks still lead to the old state.
	[ "$(value shrink batches)" -eq 1 ]
	new=$(size_of "$image")
	for i in 0 1 2 3; do
		cp --sparse=always "$image" "state$i"
		truncate -s "$(size_of "$old")" "state$i"
		copy_super "$old" 1024 "state$i" 1024
		copy_super "$old" $(($(size_of "$old") - 4096)) \
			"state$i" $(($(size_of "$old") - 4096))
	done
	dd if=/dev/zero of=state0 bs=1024 seek=$((new / 1024 - 4)) count=1 \
		conv=notrunc status=none
	copy_super "$image" 1024 state2 $(($(size_of "$old") - 4096))
	copy_super "$image" 1024 state3 $(($(size_of "$old") - 4096))
	copy_super "$image" 1024 state3 1024
	mkdir share
	guest --share share state0 state1 state2 state3 <<-'SCRIPT'
	set -e
	for dev in "$DEV1" "$DEV2" "$DEV3" "$DEV4"; do
		nilfs_mount "$dev"
		manifest "$MNT" >>"$SHARE/manifests"
		lssu -a "$dev" | tail -n +2 | wc -l >>"$SHARE/segments"
		nilfs_umount
	done
	SCRIPT
	[ "$status" -eq 0 ]
	kernel_content
	for i in 0 1 2 3; do
		cat "$corpus/snapshots/manifest"
	done | diff share/manifests -
	{
		segments_of "$old"
		segments_of "$old"
		segments_of "$image"
		segments_of "$image"
	} | diff share/segments -
	# fsck.nilfs2 says where a device is larger than its volume.
	truncate -s "$new" state2 state3
	for image in state*; do
		is_clean
	done
}
