# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# How fast text is made: the larger listings of ours and of others, and the
# writing of as many bytes.  What is shown after each is the size of its text.

# A btrfs with metadata worth dumping: the files of a documentation tree.
btrfs_image() {
	truncate -s 4G "$1"
	mkfs.btrfs -q --rootdir /usr/share/doc "$1"
}

# text COMMAND: one row of the table, with the size of its text.
text() {
	local command=$1 lines bytes rest

	read -r lines bytes rest < <($command | wc -lc)
	rates+=("$command: $lines lines, $bytes bytes")
	commands+=("${2-$command}=$command")
}

bench_text() {
	local commands=() rates=()

	image_needed
	hot_image
	text "$dump logs --blocks $hot" "logs --blocks"
	commands+=("  through a pipe=$dump logs --blocks $hot | cat")
	text "$dump logs --blocks --json-lines $hot" "  --json-lines"
	text "$dump dat --all $hot" "dat --all"
	commands+=("  through a pipe=$dump dat --all $hot | cat")
	text "$dump dat --all --json-lines $hot" "  --json-lines"
	if have mkfs.btrfs; then
		btrfs_image "$scratch/btrfs"
		text "btrfs inspect-internal dump-tree $scratch/btrfs" \
			"btrfs dump-tree"
	fi
	text "$limit write 40000000" "limit: write"
	title "text, image in memory"
	interleave 11 "${commands[@]}"
	printf '%s\n' "${rates[@]//$scratch\//}"
	"$guest" --mem 3G --timeout 900 "$here/guest-text.sh" "$image" -- \
		"$build" "${BENCH_ROUNDS:-5}"
}
