#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The arrows of the house: which room may include which.  A room that is not
# named here may include nothing of ours.
# shellcheck source=tests/lint/lint.sh
. "$(dirname "$0")/lint.sh"

allowed()
{
	case $1 in
	base) echo base ;;
	arc | dev | disk | out) echo base "$1" ;;
	vol) echo base dev disk vol ;;
	log) echo base dev disk vol log ;;
	find) echo base disk out find ;;
	cli) echo base out cli ;;
	mkfs | dump | fsck | gc)
		echo base arc dev disk out vol log find cli "$1" ;;
	esac
}

# Prints "FILE includes ROOM" for each include of our own outside the list.
check_room()
{
	folder=$1
	room=${1#lib/}
	(cd "$lint_top" &&
	 find "$folder" -name '*.[ch]' -exec \
	 awk -v allowed=" $(allowed "$room") " '
		/^#[ \t]*include[ \t]+"/ {
			split($0, part, "\"")
			if (part[2] == "config.h")
				next
			if (!sub("/.*", "", part[2]))
				part[2] = "(no folder)"
			if (!index(allowed, " " part[2] " "))
				print FILENAME " includes " part[2]
		}' {} +)
}

for folder in "$lint_top"/lib/* "$lint_top"/mkfs "$lint_top"/dump \
	"$lint_top"/fsck "$lint_top"/gc; do
	[ -d "$folder" ] || continue
	folder=${folder#"$lint_top"/}
	check_room "$folder" >"$lint_list"
	lint_none "$folder includes only what it stands on"
done
lint_done
