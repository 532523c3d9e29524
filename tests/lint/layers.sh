#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Layers: which module may include which, and, of the tools that have several,
# which sub-module.  One that is not named here may include nothing of ours.
# shellcheck source=tests/lint/lint.sh
. "$(dirname "$0")/lint.sh"

allowed()
{
	case $1 in
	base) echo base ;;
	arc | dev | disk | out) echo base "$1" ;;
	live) echo base dev live ;;
	vol) echo base dev disk vol ;;
	log) echo base dev disk vol log ;;
	find) echo base disk out find ;;
	cli) echo base dev out cli ;;
	check) echo base dev disk out vol log find check ;;
	mkfs | dump | fsck | gc)
		echo base arc dev disk out live vol log find check cli "$1" ;;
	esac
}

# Prints "FILE includes ROOM" for each include of our own outside the list.
check_room()
{
	folder=$1
	module=${1#lib/}
	(cd "$lint_top" &&
	 find "$folder" -name '*.[ch]' -exec \
	 awk -v allowed=" $(allowed "$module") " '
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

# The sub-modules of a module: each may include those before it.  "top" is what
# lies in the folder of the module itself.
order()
{
	case $1 in
	fsck) echo witness data plan snapshots dat derive maps checkpoints tree \
		names segments super zones account apply top ;;
	sim) echo writers trace volume run sweep report top ;;
	gc) echo plan sim move clean compact resize live tune top ;;
	mkfs) echo populate source tar plan top ;;
	check) echo top logs inodes names pass ;;
	log) echo write meta tables top ;;
	dump) echo common volume blocks files history export mount top shell ;;
	esac
}

# Prints "FILE includes HEADER" for each include of a sub-module that is not
# before it.
check_order()
{
	module=$(basename "$1")
	parent=$(dirname "$1")/
	(cd "$lint_top/$parent" &&
	 find "$module" -name '*.[ch]' -exec \
	 awk -v order="$(order "$module")" -v parent="$parent" '
		function rank(path,    part) {
			split(path, part, "/")
			return ranks[part[3] == "" ? "top" : part[2]]
		}
		BEGIN {
			n = split(order, names, " ")
			for (i = 1; i <= n; i++)
				ranks[names[i]] = i
		}
		/^#[ \t]*include[ \t]+"/ {
			split($0, header, "\"")
			sub("^" parent, "", header[2])
			split(header[2], tool, "/")
			split(FILENAME, own, "/")
			if (tool[1] == own[1] &&
			    (!rank(FILENAME) || !rank(header[2]) ||
			     rank(header[2]) > rank(FILENAME)))
				print FILENAME " includes " header[2]
		}' {} +)
}

for folder in "$lint_top"/lib/* "$lint_top"/mkfs "$lint_top"/dump \
	"$lint_top"/fsck "$lint_top"/gc; do
	[ -d "$folder" ] || continue
	folder=${folder#"$lint_top"/}
	check_room "$folder" >"$lint_list"
	lint_none "$folder includes only what it stands on"
done
for folder in lib/check lib/log mkfs dump fsck gc gc/sim; do
	check_order $folder >"$lint_list"
	lint_none "the sub-modules of $folder include each other in one direction"
done
lint_done
