#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Checkpoints repaired: what the cases cannot ask.  The list of snapshots has
# to be one that the kernel can change, and what was not damaged stays as it
# was.

bats_require_minimum_version 1.5.0
load ../kernel/lab
load damage

# Checkpoints 1 ... 22 without 16 and 17; 2, 4, 7 and 21 are snapshots.
setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
	image=$(copy_image snapshots)
	sound=$corpus/snapshots/image
}

snapshots() {
	dump.nilfs2 checkpoints -s "$1" | awk '$1 + 0 { printf "%s ", $1 }'
}

# zero_block N: block N of the cpfile, by zeros in its place on the device.
zero_block() {
	local block

	block=$(dump.nilfs2 bmap -b "$image" cpfile |
		awk -v n="$1" '$1 == n && $NF == "data" { print $5 }')
	dd if=/dev/zero of="$image" bs=4096 seek="$block" count=1 \
		conv=notrunc status=none
	damage "block:$block" 'byte[0]=0'
}

# repaired: -y repairs all, and nothing is found any more.
repaired() {
	run -1 fsck.nilfs2 -y "$image"
	run -0 fsck.nilfs2 -n "$image"
	[[ $output == *": clean,"* ]]
}

@test "the kernel changes a list of snapshots that was linked again" {
	need_guest uml
	zero_block 0
	repaired
	[ "$(snapshots "$image")" = "2 4 7 21 " ]
	guest "$image" <<-'EOF'
		nilfs_mount "$DEV1"
		chcp cp "$DEV1" 4
		chcp cp "$DEV1" 21
		chcp ss "$DEV1" 9
		rmcp "$DEV1" 10
		nilfs_umount
	EOF
	[ "$status" -eq 0 ]
	kernel_content
	[ "$(snapshots "$image")" = "2 7 9 " ]
	run -0 fsck.nilfs2 -n "$image"
	[[ $output == *": clean,"* ]]
}

@test "the latest checkpoint is lost, and no file of it" {
	zero_block 1
	repaired
	[ "$(snapshots "$image")" = "2 4 7 21 " ]
	cmp <(dump.nilfs2 export -q "$image" -) \
		<(dump.nilfs2 export -q "$sound" -)
	cmp <(dump.nilfs2 export -q -c 21 "$image" -) \
		<(dump.nilfs2 export -q -c 21 "$sound" -)
}

@test "a snapshot with its flag gone is one if the list leads there" {
	damage checkpoint:7 cp_flags=none
	repaired
	[ "$(snapshots "$image")" = "2 4 7 21 " ]
}

@test "a snapshot is one if its flag says so, wherever the list leads" {
	damage checkpoint:4 cp_snapshot_list.ssl_next=21
	damage checkpoint:21 cp_snapshot_list.ssl_prev=4
	repaired
	[ "$(snapshots "$image")" = "2 4 7 21 " ]
}

@test "a snapshot that is marked as deleted is back, as the list has it" {
	damage checkpoint:7 cp_flags=invalid,snapshot
	repaired
	[ "$(snapshots "$image")" = "2 4 7 21 " ]
	cmp <(dump.nilfs2 export -q -c 7 "$image" -) \
		<(dump.nilfs2 export -q -c 7 "$sound" -)
}

@test "one stray link makes no snapshot" {
	damage checkpoint:4 cp_snapshot_list.ssl_next=5
	repaired
	[ "$(snapshots "$image")" = "2 4 7 21 " ]
}

# stale_block: the first block of the cpfile as it was with checkpoint 4, when
# mkfs.nilfs2 had numbered the entries after it.
stale_block() {
	local blocks

	mapfile -t blocks < <(dump.nilfs2 logs --json -b "$image" |
		gojq '.logs[].blocks[]? | select(.ino == 4 and .blkoff == 0 and
			.level == 0) | .blocknr')
	[ "${blocks[-1]}" = "$(dump.nilfs2 bmap -b "$image" cpfile |
		awk '$1 == 0 && $NF == "data" { print $5 }')" ]
	dd if="$sound" of="$image" bs=4096 skip="${blocks[3]}" \
		seek="${blocks[-1]}" count=1 conv=notrunc status=none
}

@test "an older block deletes no checkpoint that was made after it" {
	stale_block
	run -1 fsck.nilfs2 -fy "$image"
	[ "$(snapshots "$image")" = "2 4 7 21 " ]
	cmp <(dump.nilfs2 checkpoints "$image" | awk '$1 + 0 && $1 < 21') \
		<(dump.nilfs2 checkpoints "$sound" | awk '$1 + 0 && $1 < 21')
	run -0 fsck.nilfs2 -n "$image"
}

@test "a deleted checkpoint stays deleted" {
	zero_block 0
	repaired
	[ "$(dump.nilfs2 checkpoints -a "$image" |
		awk '$1 >= 14 && $1 <= 19 { printf "%s ", $1 }')" = \
		"14 15 18 19 " ]
}

# A block of 21 entries from 63 on: as if all of them, and those before, had been
# deleted when 80 was the latest checkpoint, and the block been made again for 81.
@test "deleted checkpoints of a block that the kernel made again stay deleted" {
	local cno n

	image=$(copy_image plain-checkpoints)
	for cno in {63..80}; do
		damage "checkpoint:$cno" cp_flags=invalid cp_cno=0 cp_create=0
	done
	damage checkpoint:63 cp_checkpoints_count=3
	n=$(dump.nilfs2 checkpoints "$image" | awk '$1 + 0 { n++ } END { print n }')
	damage cpheader "ch_ncheckpoints=$n"
	expect
	cp --sparse=always "$image" before
	run -0 fsck.nilfs2 -fy --rebuild "$image"
	cmp before "$image"
	# Nor does another damage bring them back.
	damage segment:3 su_nblocks=1
	run -1 fsck.nilfs2 -fy "$image"
	[[ $output == *"lost: nothing"* ]]
	run -0 fsck.nilfs2 -n "$image"
}
