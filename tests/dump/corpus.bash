# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For bats files of dump.nilfs2: one check over images of the corpus.
# Load it after ../kernel/lab.

# each_image CHECK: call CHECK NAME for half of the images (see sample), and see
# that the image is the same afterwards.
each_image() {
	local name before

	for name in $(sample 8 $(corpus_names)); do
		before=$(stat -c '%s %y %z' "$corpus/$name/image")
		echo "image $name:"
		"$1" "$name" || return 1
		[ "$(stat -c '%s %y %z' "$corpus/$name/image")" = "$before" ] || {
			echo "the image was changed"
			return 1
		}
	done
}

# same WANTED GOT: two texts, or what differs.
same() {
	diff <(echo "$1") <(echo "$2")
}
