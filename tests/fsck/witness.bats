#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Flipped bits, and copies of blocks, that checksums prove: after a repair the image is
# what it was, byte for byte.  tests/damage tries every log of more images.

bats_require_minimum_version 1.5.0
load ../kernel/lab
load damage

setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
}

# begin NAME: of the corpus, as $image, and as $sound.
begin() {
	image=$(copy_image "$1")
	sound=$image.sound
	cp --sparse=always "$image" "$sound"
	size=$(block_size)
}

# flip BYTE BIT: one bit of $image.
flip() {
	local byte

	byte=$(od -An -tu1 -j "$1" -N 1 "$image")
	# shellcheck disable=SC2059
	printf "\\x$(printf %x $((byte ^ 1 << $2)))" |
		dd of="$image" bs=1 seek="$1" conv=notrunc status=none
}

# latest_log: its first block, and how many it has.
latest_log() {
	dump.nilfs2 logs -s "$image" |
		awk '$1 ~ /^[0-9]+$/ { print $2, $7 }' | tail -n 1
}

# restores [OPTION...]: a repair that brings back every byte.
restores() {
	run -1 fsck.nilfs2 -f "$@" "$image"
	[[ $output == *"repaired: "*" flipped back"* ]] || return
	cmp "$image" "$sound"
}

@test "a bit of any block of the latest log is restored" {
	begin cleaned-1k
	read -r first count < <(latest_log)
	[ "$count" -gt 8 ]
	for ((n = 0; n < count; n += 1 + count / 16)); do
		flip $(((first + n) * size + n * 251 % size)) $((n % 8))
		run -4 fsck.nilfs2 -fn "$image"
		[[ $output == *"log-bit: block $((first + n)): "* ]]
		restores -y
	done
}

@test "a bit of any field of its header is restored" {
	begin cleaned-1k
	read -r first count < <(latest_log)
	for at in 0 6 9 13 14 17 25 33 40 42 44 48 50 53 57; do
		flip $((first * size + at)) $((at % 8))
		restores -y
	done
}

@test "bits of all logs are restored where the data is checked" {
	begin cleaned-1k
	dump.nilfs2 logs -s "$image" |
		awk '$1 ~ /^[0-9]+$/ { for (i = 0; i < $7; i++) print $2 + i }' |
		awk 'NR % 301 == 0' >blocks
	[ "$(wc -l <blocks)" -gt 10 ]
	while read -r block; do
		flip $((block * size + block * 7 % size)) $((block % 8))
		restores -y --data
	done <blocks
}

@test "a bit of either superblock is restored" {
	begin cleaned-1k
	second=$((($(stat -c %s "$image") / 4096 - 1) * 4096))
	for at in 6 9 12 19 72 170; do
		flip $((1024 + at)) $((at % 8))
		restores -y
		flip $((second + at)) $((at % 8))
		restores -y
	done
	flip $((1024 + 13)) 1
	flip $((second + 56)) 0
	restores -y
}

@test "bits of the superblock and of the log that it leads to are restored" {
	begin cleaned-1k
	read -r first count < <(latest_log)
	flip 1098 3
	flip $((first * size + 41)) 0
	flip $(((first + 3) * size + 77)) 5
	flip $(((first + count - 1) * size + 20)) 2
	restores -y
}

@test "two bits of one block are not taken for one" {
	begin cleaned-1k
	read -r first count < <(latest_log)
	flip $(((first + 4) * size + 100)) 1
	flip $(((first + 4) * size + 101)) 1
	run -4 fsck.nilfs2 -fn "$image"
	[[ $output != *"-bit: "* ]]
}

@test "metadata is corrected at boot, file data only for who says so" {
	begin cleaned
	read -r first count < <(latest_log)
	flip $(((first + count - 2) * size + 9)) 6
	restores -p
	block=$(dump.nilfs2 bmap -b "$image" /kept |
		awk '$NF == "data" && $1 == 100 { print $5 }')
	flip $((block * size + 1000)) 4
	run -4 fsck.nilfs2 -fn --data "$image"
	[[ $output == *"log-data-bit: block $block: "*" block 100, byte 1000, bit 4; by chance 1 in "* ]]
	run -4 fsck.nilfs2 -fp --data "$image"
	run ! cmp -s "$image" "$sound"
	restores -y --data
}

@test "an undo file brings the bit back" {
	begin cleaned-1k
	read -r first count < <(latest_log)
	flip $(((first + 2) * size + 50)) 7
	cp --sparse=always "$image" damaged
	restores -y --undo-file undo
	run -0 fsck.nilfs2 --undo undo "$image"
	cmp "$image" damaged
}

# Of a log that nothing follows chance explains more than a flip does.
@test "no flipped bit is seen in a large log that may have been cut off" {
	begin cleaned
	read -r first count < <(latest_log)
	named=$(dump.nilfs2 info -v "$image" |
		awk '/^s_last_(pseg|seq|cno)/ { print $1 "=" $NF }')
	# shellcheck disable=SC2086
	damage super:1 $named s_state=0
	flip $(((first + count - 2) * size + 9)) 6
	damage inode:/kept i_links_count=5
	run -4 fsck.nilfs2 -fn --data "$image"
	[[ $output == *"inode-links-names: "* ]]
	[[ $output != *"-bit: "* ]]
}

# bits_of NAME...: "BYTE BIT" of i_blocks, i_size, i_mode and i_links_count of each.
bits_of() {
	local name block offset at

	for name; do
		read -r block offset < <(dump.nilfs2 inode --json-lines "$image" \
			"$name" | gojq -r '"\(.place.blocknr) \(.place.offset)"')
		[ "$block" -gt 0 ] || return
		for at in 0 1 2 8 9 10 11 48 49 50; do
			printf "$((block * size + offset + at)) %d\n" {0..7}
		done
	done
}

# cost_nothing NAME...: such bits, one in 32, are flipped back, or stay.
cost_nothing() {
	local number byte bit mode

	bits_of "$@" >bits
	for number in $(sample 1/32 $(seq $(($# * 80)))); do
		read -r byte bit < <(sed -n "${number}p" bits)
		for mode in -p -y; do
			echo "byte $byte, bit $bit, $mode"
			flip "$byte" "$bit"
			fsck.nilfs2 -f $mode "$image" >said || [ $? -eq 1 ]
			cmp -s "$image" "$sound" || {
				flip "$byte" "$bit"
				cmp "$image" "$sound"
			}
		done
	done
}

@test "a file without links is freed by itself only if the log with its inode is right" {
	begin plain-checkpoints
	read -r block offset < <(dump.nilfs2 inode --json-lines "$image" /base |
		gojq -r '"\(.place.blocknr) \(.place.offset)"')
	ino=$(dump.nilfs2 inode --json-lines "$image" /base | gojq .ino)
	damage inode:/base i_links_count=0
	damage dirent:/base inode=0
	cp --sparse=always "$image" orphan
	run -1 fsck.nilfs2 -fp "$image"
	[[ $output == *"inode $ino: freed, "* ]]
	cp --sparse=always orphan "$image"
	# Two bits of i_uid and i_gid.
	flip $((block * size + offset + 40)) 3
	flip $((block * size + offset + 44)) 3
	run -4 fsck.nilfs2 -fp "$image"
	[[ $output == *"log-datasum: "* ]]
	[[ $output == *"1 finding is left that -y may repair at a cost"* ]]
	dump.nilfs2 inode "$image" "$ino" | grep '^i_blocks: *[1-9]'
	run -1 fsck.nilfs2 -fy "$image"
	[[ $output == *"inode $ino: freed, "* ]]
}

# The first check did not know that there is a snapshot; the next one will, and
# verifies the log of the inode.
@test "logs of inodes that only a repair shows are verified, too" {
	begin cleaned-1k
	damage_raw -c 17 inode:/deep i_size=4096
	damage checkpoint:17 cp_flags=0
	# The old place of the block, before the cleaner moved it.
	copy=$(fsck.nilfs2 -fn "$image" |
		sed -n 's/^log-copy: .*(found \([0-9]*\))$/\1/p')
	dd if=/dev/zero of="$image" bs=1024 seek="$copy" count=1 conv=notrunc \
		status=none
	cp --sparse=always "$image" damaged
	run -4 fsck.nilfs2 -fp "$image"
	[[ $output == *"checkpoint 17: snapshot flag restored"* ]]
	[[ $output == *"log-datasum: log "* ]]
	run -4 fsck.nilfs2 -fn "$image"
	cp --sparse=always damaged "$image"
	run -1 fsck.nilfs2 -fy "$image"
	run -0 fsck.nilfs2 -fn "$image"
}

# They leave no error: without the checksum of the log the file would have no blocks,
# or some past its end, which would be given up.
@test "a bit of the type, size or counts of an inode costs nothing" {
	begin snapshots
	cost_nothing /d/f1 / /d /soft
	begin plain-checkpoints
	cost_nothing /base
	# A socket, and too short.
	for number in 71 46; do
		for options in -p -y '-y --data' '-y --rebuild'; do
			# shellcheck disable=SC2046
			flip $(sed -n "${number}p" bits)
			# shellcheck disable=SC2086
			restores $options
		done
	done
}
