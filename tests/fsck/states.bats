#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Damage of the latest log: the state is repaired, and no other is taken.

bats_require_minimum_version 1.5.0
load ../kernel/lab
load damage
load repaired

setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
}

# latest KEY: of the latest state of $image.
latest() {
	dump.nilfs2 info -v "$image" | awk -F ':  *' -v key="  $1" '
		/^Latest state:/ { inside = 1 }
		inside && $1 == key { print $2; exit }'
}

# spoil_bits BLOCK: two bits of it, checksums left.
spoil_bits() {
	local at byte size

	size=$(block_size)
	for at in 100 157; do
		byte=$(od -An -tu1 -j $(($1 * size + at)) -N 1 "$image")
		damage_raw "block:$1" "byte[$at]=$((byte ^ 36))"
	done
}

# Blocks 780 to 791 of this image are metadata of the latest log, blocks 385 to
# 411 of the other data of a file.
@test "damage of metadata in the latest log costs no checkpoint and no snapshot" {
	for block in 780 781 784 786 788 790 791; do
		echo "block $block"
		begin snapshots
		spoil_bits "$block"
		run -4 fsck.nilfs2 -fn "$image"
		repairs
		[[ $output == *"lead to checkpoint 22 again"* ||
			$output == *"block $block: restored from block "* ]]
		[[ $output != *"given up"* ]]
	done
}

@test "what was synced after a damaged log is put into its files" {
	for name in crash-dsync crash-dsync-1k; do
		echo "$name"
		image=$(copy_image "$name")
		block=$(latest "Super root at block")
		fsck.nilfs2 -y "$image" || [ $? -eq 1 ]
		trees_of "$image" >want
		image=$(copy_image "$name")
		spoil_bits $((block - 2))
		run -1 fsck.nilfs2 -fy "$image"
		[[ $output == *"as synced before the crash"* ]]
		[[ $output != *"given up"* ]]
		[[ $output != *"/a: "* ]]
		run -0 fsck.nilfs2 -fn "$image"
		diff want <(trees_of "$image")
	done
}

# Its super root is the next block that is one, and is that of the checkpoint
# which the superblock names.
@test "a latest log without its header costs no checkpoint" {
	for name in snapshots cleaned; do
		echo "$name"
		begin "$name"
		block=$(latest "Log at block")
		cno=$(latest Checkpoint)
		dd if=/dev/zero of="$image" bs="$(block_size)" seek="$block" \
			count=1 conv=notrunc status=none
		repairs
		[[ $output == *"lead to checkpoint $cno again"* ]]
	done
}

# The DAT of "crash-dsync" has become a B-tree with it, that of "sparse-2k" has
# grown by 44 blocks in five segments.
@test "a super root that is lost follows from the one before it and the logs" {
	for name in snapshots cleaned-1k nearly-full sparse-2k crash-dsync; do
		echo "$name"
		image=$(copy_image "$name")
		block=$(latest "Super root at block")
		[ "$name" = crash-dsync ] && fsck.nilfs2 -y "$image" || :
		remember
		image=$(copy_image "$name")
		noise 5 | dd of="$image" bs="$(block_size)" seek="$block" \
			count=1 iflag=fullblock conv=notrunc status=none
		repairs
		[[ $output == *"super root at block $block: restored"* ]]
		[[ $output == *"lost: nothing"* ]]
	done
}

@test "a state that is given up is named, with its files that differ" {
	image=$(copy_image cleaned)
	block=$(latest "Super root at block")
	dd if=/dev/zero of="$image" bs=4096 seek=$((block - 1)) count=2 \
		conv=notrunc status=none
	run -1 fsck.nilfs2 -fy "$image"
	[[ $output == *"checkpoint 12 of "*": given up"* ]]
	run -0 fsck.nilfs2 -fn "$image"
}

# The snapshot is the latest checkpoint, too: a new one has the inodes, and the
# snapshot gets its node from that.
@test "a snapshot that mkfs.nilfs2 made, without a node of its ifile" {
	mkdir -p source/many
	for i in {1..600}; do
		echo "$i" >"source/many/$i"
	done
	for damage in noise zeros; do
		echo "$damage"
		image=$PWD/factory
		rm -f "$image"
		mkfs.nilfs2 -q --size 256M -d source --snapshot "$image"
		remember
		node=$(dump.nilfs2 bmap -b --nodes "$image" ifile |
			awk '$NF == "node" { print $5 }')
		[ "$damage" = zeros ] && overwrite "$node" </dev/zero
		[ "$damage" = noise ] && overwrite "$node" < <(noise 7)
		run -4 fsck.nilfs2 -fn "$image"
		repairs
	done
}

# The superblocks name a log long before these, of which 254 and 396 are neither
# the first nor the last of their segments.
@test "checkpoints past a damaged log in the middle of the chain are not lost" {
	while read -r block change; do
		echo "block $block $change"
		begin crash-sr
		if [ "$change" = lost ]; then
			noise 3 | dd of="$image" bs=4096 seek="$block" count=1 \
				iflag=fullblock conv=notrunc status=none
		else
			damage "log:$block" "$change"
		fi
		expect log-chain
		repairs
		[[ $output == *"lead to checkpoint 14 again"* ]]
		[[ $output != *"given up"* ]]
	done <<-'END'
	192 lost
	192 ss_seq=7
	254 ss_next=1048896
	320 ss_magic=1
	396 ss_next=4294968064
	END
}
