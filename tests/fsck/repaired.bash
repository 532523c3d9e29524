# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For bats files of repairs: repair $image, and see that it is what it was before
# the damage.  Load it after ../kernel/lab and damage.

# begin IMAGE: of the corpus, as $image, remembered.
begin() {
	local known=$BATS_FILE_TMPDIR/sound.$1

	image=$(copy_image "$1")
	[ -d "$known" ] || {
		remember
		mkdir "$known" && mv trees.sound dat.sound "$known"
	}
	cp "$known"/* .
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

# repairs [OPTION...]: fsck.nilfs2 -y repairs all of it; $output is what it says.  A
# second look finds nothing, in the history neither; of a volume that begin
# remembered the trees are what they were, and states from before the repair may
# still have their damage.
repairs() {
	run -1 fsck.nilfs2 -fy "$@" "$image"
	grep -q '^repaired: ' <<<"$output" || return
	if [ -f trees.sound ]; then
		is_clean && same_trees
	else
		expect
	fi
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

# tree: all names, sizes, modes and times of $image, or of a CHECKPOINT.
tree() {
	dump.nilfs2 ls -l -R --bytes ${1+-c "$1"} "$image" /
}

# kernel_uses NAME [IMAGE...]: the kernel mounts $image, or each of these, finds the
# files of that image of the corpus, writes on, and finds all of it again after a
# mount; it has no complaints.
kernel_uses() {
	local share=$BATS_TEST_TMPDIR/share name=$1 i=0 at

	need_guest uml
	shift
	[ $# -gt 0 ] || set -- "$image"
	mkdir -p "$share"
	guest --share "$share" "$@" <<-'SCRIPT'
	for ((i = 1; ; i++)); do
		device=DEV$i
		[ -n "${!device-}" ] || break
		nilfs_mount "${!device}"
		manifest "$MNT" >"$SHARE/first$i"
		filler 7 3000000 >"$MNT/afterwards"
		sync
		nilfs_umount
		nilfs_mount "${!device}"
		cksum <"$MNT/afterwards" >"$SHARE/sum$i"
		rm "$MNT/afterwards"
		manifest "$MNT" >"$SHARE/second$i"
		nilfs_umount
	done
	SCRIPT
	[ "$status" -eq 0 ] && kernel_content || return
	for at; do
		i=$((i + 1))
		diff "$corpus/$name/manifest" "$share/first$i" || return
		diff "$share/sum1" "$share/sum$i" || return
		# The root's times are not what they were.
		diff <(grep -v $'\t\.$' "$share/first$i") \
			<(grep -v $'\t\.$' "$share/second$i") || return
		image=$at expect || return
	done
}

# for_the_kernel: $image is kept for the last test of the file, which gives all to
# the kernel.
for_the_kernel() {
	mkdir -p "$BATS_FILE_TMPDIR/kept"
	mv "$image" "$BATS_FILE_TMPDIR/kept/$BATS_TEST_NUMBER"
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

# map_block FILE OFFSET [CNO]: the block where that block of a file is.
map_block() {
	dump.nilfs2 bmap -b ${3+-c "$3"} "$image" "$1" |
		awk -v at="$2" '$1 == at && $NF == "data" { print $5 }'
}

# map_node FILE N: the block of its Nth node.
map_node() {
	dump.nilfs2 bmap -b --nodes "$image" "$1" |
		awk -v n="$2" '$NF == "node" && n-- == 0 { print $5 }'
}

# noise SEED: bytes without end.
noise() {
	yes "$1" | awk '{ x = ($1 + NR * 7919) % 65521
		printf "%c%c", x % 251 + 1, (x / 251) % 251 + 1 }'
}
