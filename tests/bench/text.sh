# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# How fast text is made: the larger listings of ours and of others, and the
# writing of as many bytes.

# A btrfs with metadata worth dumping: the files of a documentation tree.
btrfs_image() {
	truncate -s 4G "$1"
	mkfs.btrfs -q --rootdir /usr/share/doc "$1" >/dev/null 2>&1
}

# text LABEL COMMAND: one row of the table, with the size of its text.
text() {
	printf '%s\t%s\n' "$1" "$($2 | wc -lc)" >>"$scratch/sizes"
	commands+=("$1=$2")
}

# The same as lines and bytes a second of CPU, by the least of each.
rates() {
	awk -F '\t' '
		NR == FNR { split($2, n, " "); lines[$1] = n[1]
			bytes[$1] = n[2]; next }
		{ label = substr($0, 1, 28); sub(/ +$/, "", label) }
		label in bytes {
			split(substr($0, 29), f, "[][ -]+")
			printf "%-28s %10d lines %10d bytes %8.1f MB/s %6.1f M lines/s\n",
				label, lines[label], bytes[label],
				bytes[label] / f[6] / 1000,
				lines[label] / f[6] / 1000
		}' "$scratch/sizes" "$1"
}

bench_text() {
	local commands=()

	image_needed
	hot_image
	rm -f "$scratch/sizes"
	text "logs --blocks" "$dump logs --blocks $hot"
	commands+=("logs through a pipe=$dump logs --blocks $hot | cat")
	text "logs --json-lines" "$dump logs --blocks --json-lines $hot"
	text "dat --all" "$dump dat --all $hot"
	commands+=("dat through a pipe=$dump dat --all $hot | cat")
	text "dat --json-lines" "$dump dat --all --json-lines $hot"
	if have mkfs.btrfs; then
		btrfs_image "$scratch/btrfs"
		text "btrfs dump-tree" \
			"btrfs inspect-internal dump-tree $scratch/btrfs"
	fi
	text "limit: write" "$limit write 40000000"
	title "text, image in memory"
	interleave 11 "${commands[@]}" | tee "$scratch/table"
	title "text for a second of CPU"
	rates "$scratch/table"
	"$guest" --mem 3G --timeout 900 "$here/guest-text.sh" "$image" -- \
		"$build" "${BENCH_ROUNDS:-5}"
}
