# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Images of the corpus whose blocks are lost, and what a repair names as lost.

# begin NAME: of the corpus, as $image.
begin() {
	image=$(copy_image "$1")
	cp --sparse=always "$image" sound
}

# mapped FILE N [CHECKPOINT]: where block N of a file is.
mapped() {
	dump.nilfs2 bmap -b ${3:+-c "$3"} "$image" "$1" |
		awk -v n="$2" '$NF == "data" && $1 == n { print $5 }'
}

# inodes_at INODE [CHECKPOINT]: the block that has an inode.
inodes_at() {
	dump.nilfs2 inode ${2:+-c "$2"} "$image" "$1" |
		awk '/^  Disk block:/ { print $3 }' | tail -n 1
}

# lose BLOCK: zeros, and the checksum of the log stays what it was.
lose() {
	local size

	size=$(block_size)
	dd if=/dev/zero of="$image" bs="$size" seek="$1" count=1 conv=notrunc \
		status=none
}

# created IMAGE CHECKPOINT: its time.
created() {
	dump.nilfs2 checkpoints "$1" | awk -v cno="$2" '$1 == cno { print $2, $3 }'
}

# metadata FILE...: all blocks of them.
metadata() {
	local file

	for file; do
		dump.nilfs2 bmap -b "$image" "$file" |
			awk '$NF == "data" { print $5 }'
	done
}

# log_of BLOCK: the first block of the log that it is in.
log_of() {
	dump.nilfs2 logs --json -b sound |
		gojq "[.logs[] | .blocknr | select(. < $1)] | last"
}

# lose_all BLOCKS
lose_all() {
	local block

	for block in $1; do
		lose "$block"
	done
}

# forget BLOCK: the same, and the checksum is right again.
forget() {
	head -c "$(block_size)" /dev/zero | overwrite "$1"
}

# repair: what it names as lost, in $lost.
repair() {
	run -1 fsck.nilfs2 -fyv "$image"
	lost=$(grep '^lost: ' <<<"$output")
	echo "$lost"
	run -0 fsck.nilfs2 -fn "$image"
}

# names INODE [STATE]: whether the losses have it.
names() {
	awk -v inode="$1" -v state="lost: ${2:-latest state}: inode" '
		index($0, state) == 1 {
			sub(/^.*: inodes? /, "")
			sub(/,.*/, "")
			sub(/: .*/, "")
			n = split($0, f, " ")
			if (f[1] == "from" && inode >= f[2] + 0)
				found = 1
			if (inode >= f[1] + 0 && inode <= f[n] + 0)
				found = 1
		}
		END { exit !found }' <<<"$lost"
}

# is_sound [CHECKPOINT]: all files and their attributes are as they were.
is_sound() {
	dump.nilfs2 export -q ${1:+-c "$1"} sound - >sound.tar &&
		dump.nilfs2 export -q ${1:+-c "$1"} "$image" - >repaired.tar &&
		[ -s sound.tar ] && cmp sound.tar repaired.tar
}
