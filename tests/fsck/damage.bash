# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For bats files of fsck.nilfs2: damage one field, see which rules it breaks.
# Load it after ../kernel/lab.

# begin_kept: $image has a file "kept", of which blocks lie in $segment, in use
# for long; the first log there is at block $log.
begin_kept() {
	local block

	image=$(copy_image cleaned)
	block=$(dump.nilfs2 bmap -b "$image" /kept |
		awk '$NF == "data" && $1 == 100 { print $5 }')
	segment=$((block / 128))
	log=$(dump.nilfs2 logs -s "$image" "$segment" |
		awk 'NR == 2 { print $2 }')
}

# damage STRUCTURE FIELD=VALUE...: change fields of $image, and checksums.
damage() {
	dump.nilfs2 set --expert --fix-checksums "$image" "$@" >/dev/null
}

# damage_raw: the same, checksums left.
damage_raw() {
	dump.nilfs2 set --expert "$image" "$@" >/dev/null
}

# overwrite BLOCK, from standard input; the checksum of the log is right again.
overwrite() {
	local size first

	size=$(block_size)
	dd of="$image" bs="$size" seek="$1" count=1 iflag=fullblock \
		conv=notrunc status=none || return
	first=$(od -An -tu1 -j $(($1 * size)) -N 1 "$image")
	damage "block:$1" "byte[0]=$((first))"
}

# found: the slugs of what is wrong with $image, each once, in one line.
found() {
	local text status=0

	text=$(fsck.nilfs2 -n --all -j 1 "$image") || status=$?
	[ "$status" -eq 0 ] || [ "$status" -eq 4 ] || return
	sed -n 's/^\([a-z0-9-]*\): .*/\1/p' <<<"$text" | sort -u | xargs
}

# expect SLUG...: these and no others are found in $image, in this order of
# letters; the lines themselves are shown where that fails.
expect() {
	local slugs

	slugs=$(found) && [ "$slugs" = "$*" ] && return
	echo "wanted: $*"
	fsck.nilfs2 -n -j 1 "$image"
	return 1
}

# says PATTERN: fsck.nilfs2 prints a line that has it.
says() {
	output=$(fsck.nilfs2 -n "$image") || [ $? -eq 4 ] || return
	grep -qe "$1" <<<"$output" && return
	echo "wanted: $1"
	echo "$output"
	return 1
}
