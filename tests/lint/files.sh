#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Files as such: short, licensed, finished.
# shellcheck source=tests/lint/lint.sh
. "$(dirname "$0")/lint.sh"

most_lines=600

sources=$(lint_files -name '*.[ch]' -o -name '*.def' -o -name '*.sh' -o \
	-name '*.bash' -o -name '*.bats' -o -name '*.pl' -o -name '*.awk')

cd "$lint_top" || exit 99

for file in $sources; do
	lines=$(wc -l <"$file")
	if [ "$lines" -gt "$most_lines" ]; then
		echo "$file: $lines lines"
	fi
done >"$lint_list"
lint_none "no file has more than $most_lines lines"

for file in $sources Makefile.am configure.ac; do
	case $file in
	lib/*) licence=LGPL-2.1-or-later ;;
	*) licence=GPL-2.0-or-later ;;
	esac
	# A script's first line belongs to its interpreter.
	if ! head -n 2 "$file" |
		grep -Eq "SPDX-License-Identifier: $licence( \*/)?\$"; then
		echo "$file: not $licence"
	fi
done >"$lint_list"
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

for file in $(lint_files -name '*.bats'); do
	grep -qF "$file" "${file%/*}/Makemodule.am" || echo "$file"
done >"$lint_list"
lint_none "each file of tests is run by its folder"

# A header that is not listed is missing in the release archive.
lint_files -name 'Makemodule.am' | xargs cat | tr -s ' \t' '\n' >"$lint_list.all"
lint_files -name '*.[ch]' | while read -r file; do
	grep -qxF "$file" "$lint_list.all" || echo "$file"
done >"$lint_list"
rm -f "$lint_list.all"
lint_none "each source is listed in a Makemodule.am"

lint_done
