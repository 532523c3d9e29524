# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For bats files of repairs: the volume before the damage is what the repair must
# bring back.  Load it after damage.

# begin IMAGE: of the corpus, as $image, remembered.
begin() {
	image=$(copy_image "$1")
	remember
}

# remember: what $image holds now, its snapshots, and what its DAT says.
remember() {
	trees_of "$image" >trees.sound
	dump.nilfs2 dat -a "$image" >dat.sound
}

# trees_of IMAGE: a sum for the latest state and for each snapshot.
trees_of() {
	local cno

	for cno in 0 $(dump.nilfs2 checkpoints -s "$1" |
		awk '$1 ~ /^[0-9]+$/ { print $1 }'); do
		dump.nilfs2 export -q -c "$cno" "$1" - 2>/dev/null |
			cksum | sed "s/^/$cno /"
	done
}

# mends [OPTION...]: fsck.nilfs2 mends all of it, has nothing to say any more,
# and the trees are what they were.
mends() {
	fsck.nilfs2 -fy "$@" "$image" >said 2>&1 || [ $? -eq 1 ] || {
		cat said
		return 1
	}
	grep -q '^mended: ' said && is_clean && same_trees
}

# is_clean: nothing is wrong with $image, but perhaps with its history.
is_clean() {
	local text status=0

	text=$(fsck.nilfs2 -fnq "$image" 2>&1) || status=$?
	! grep '^[a-z-]*: ' <<<"$text" && [ "$status" -eq 0 ]
}

same_trees() {
	diff trees.sound <(trees_of "$image")
}

# numbers STATE EVERY COUNT: of the virtual blocks in that state.
numbers() {
	awk -v state="$1" -v every="$2" -v count="$3" '
		$5 == state && $1 && n++ % every == 0 && count-- > 0 {
			print $1
		}' dat.sound
}

# same_entries NUMBER...: their entries in the DAT are what they were.
same_entries() {
	printf '%s\n' "$@" >these
	dump.nilfs2 dat -a "$image" >dat.now
	diff <(pick <dat.sound) <(pick <dat.now)
}

pick() {
	awk 'NR == FNR { these[$1]; next }
		$1 in these { print $1, $2, $3, $4 }' these -
}

# map_block FILE OFFSET: the block where that block of a file is.
map_block() {
	dump.nilfs2 bmap -b "$image" "$1" |
		awk -v at="$2" '$1 == at && $NF == "data" { print $5 }'
}

# map_node FILE N: the block of its Nth node.
map_node() {
	dump.nilfs2 bmap -b --nodes "$image" "$1" |
		awk -v n="$2" '$NF == "node" && n-- == 0 { print $5 }'
}

# overwrite BLOCK, from standard input; the checksum of the log is right again.
overwrite() {
	local size first

	size=$((1024 << $(dump.nilfs2 info "$image" |
		awk '/^s_log_block_size/ { print $2 }')))
	dd of="$image" bs="$size" seek="$1" count=1 iflag=fullblock \
		conv=notrunc status=none || return
	first=$(od -An -tu1 -j $(($1 * size)) -N 1 "$image")
	damage "block:$1" "byte[0]=$((first))"
}

# noise SEED: bytes without end.
noise() {
	yes "$1" | awk '{ x = ($1 + NR * 7919) % 65521
		printf "%c%c", x % 251 + 1, (x / 251) % 251 + 1 }'
}
