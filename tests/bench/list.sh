# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# All files with their attributes: beside find -ls in the guest, and beside
# reading what has to be looked at, the ifile, directories and symbolic links.

# Where all that is: the blocks of the latest checkpoint that the logs ascribe
# to those files.
list_ranges() {
	{ "$dump" ls -lRi "$image" | awk '$2 ~ /^[dl]/ { print "ino", $1 }'
	  "$dump" dat --all "$image" |
		awk '$5 == "current" { print "live", $2 }'
	  "$dump" logs --blocks "$image"
	} | awk '
		$1 == "ino" { wanted[$2]; next }
		$1 == "live" { live[$2]; next }
		NF == 7 && ($3 == 6 || $3 in wanted) && $1 in live {
			printf "%d %d\n", $1 * 4096, 4096
		}' | sort -n | awk -f "$here/merge.awk"
}

bench_list() {
	image_needed
	"$guest" --mem 3G --timeout 900 "$here/guest-list.sh" "$image" -- \
		"$build" "${BENCH_ROUNDS:-5}"
	hot_image
	list_ranges >"$scratch/list"
	title "list of $("$dump" ls -R "$hot" | wc -l) files, image in memory"
	interleave 21 -r "limit: read" \
		"ours, ls -lR=$dump ls -lR $hot" \
		"ours, ls -R=$dump ls -R $hot" \
		"ours, ls -lR --json-lines=$dump ls -lR --json-lines $hot" \
		"limit: read=$limit read $hot $scratch/list" \
		"limit: start=$dump --version"
}
