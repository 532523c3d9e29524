#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Files as such: short, licensed, finished.
# shellcheck source=tests/lint/lint.sh
. "$(dirname "$0")/lint.sh"

most_lines=600
listed=$(mktemp)
words=$(mktemp)
trap 'rm -f "$lint_list" "$listed" "$words"' EXIT

sources=$(lint_files -name '*.[ch]' -o -name '*.def' -o -name '*.sh' -o \
	-name '*.bash' -o -name '*.bats' -o -name '*.pl' -o -name '*.awk')

cd "$lint_top" || exit 99

# shellcheck disable=SC2086
wc -l $sources | awk -v most="$most_lines" '
	$1 > most && $2 != "total" { print $2 ": " $1 " lines" }' >"$lint_list"
lint_none "no file has more than $most_lines lines"

# A script's first line belongs to its interpreter.
# shellcheck disable=SC2086
grep -nE 'SPDX-License-Identifier: [^ ]+( \*/)?$' $sources Makefile.am \
	configure.ac |
awk -F: '$2 <= 2 {
	licence = $4
	gsub(/ |\*\/$/, "", licence)
	if (licence == ($1 ~ /^lib\// ? "LGPL-2.1-or-later" : "GPL-2.0-or-later"))
		print $1
}' | sort >"$words"
# shellcheck disable=SC2086
printf '%s\n' $sources Makefile.am configure.ac | sort |
	comm -23 - "$words" >"$lint_list"
lint_none "each file names its licence on top"

# Written in pieces, so that this file does not meet itself.
marks="TO""DO|FIX""ME|X""XX|HA""CK"
# shellcheck disable=SC2086
grep -nEw "$marks" $sources Makefile.am configure.ac README.md \
	>"$lint_list"
lint_none "nothing is left for later"

# shellcheck disable=SC2086
grep -nE '[[:blank:]]+$' $sources >"$lint_list"
lint_none "no line ends in blanks"

# "FOLDER WORD" of each word in the Makemodule.am of a folder.
lint_files -name 'Makemodule.am' | xargs grep -oHE '[^[:blank:]]+' |
	sed 's|/Makemodule\.am:| |' | sort -u >"$listed"
lint_files -name '*.bats' | sed 's|^\(.*\)/[^/]*$|\1 &|' | sort |
	comm -23 - "$listed" >"$lint_list"
lint_none "each file of tests is run by its folder"

# A header that is not listed is missing in the release archive.
sed 's/.* //' "$listed" | sort -u >"$words"
lint_files -name '*.[ch]' | comm -23 - "$words" >"$lint_list"
lint_none "each source is listed in a Makemodule.am"

lint_done
