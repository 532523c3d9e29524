# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For bats files of fsck.nilfs2: damage one field, see which rules it breaks.
# Load it after ../kernel/lab.

# damage STRUCTURE FIELD=VALUE...: change fields of $image, checksums made right.
damage() {
	dump.nilfs2 set --expert --fix-checksums "$image" "$@" >/dev/null
}

# damage_raw: the same, checksums left.
damage_raw() {
	dump.nilfs2 set --expert "$image" "$@" >/dev/null
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
