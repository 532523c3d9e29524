#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The table of doc/kernel-checks.md: each row has a rule that exists and is no
# warning, and a test that exists; rows are sorted by the file of the kernel.
# shellcheck source=tests/lint/lint.sh
. "$(dirname "$0")/lint.sh"

cd "$lint_top" || exit 99
rows=$(mktemp)
trap 'rm -f "$lint_list" "$rows"' EXIT

grep '^| `' doc/kernel-checks.md >"$rows"

# column N: of each row.
column()
{
	awk -F ' [|] ' -v n="$1" '{ sub(/^[|] /, ""); sub(/ [|]$/, ""); print $n }' \
		"$rows"
}

[ "$(wc -l <"$rows")" -ge 100 ] || wc -l <"$rows" >"$lint_list"
lint_none "the table is there"

awk -F ' [|] ' 'NF != 5 || $4 !~ /`/ || $5 !~ /[.](case`|c|bats ")/' "$rows" \
	>"$lint_list"
lint_none "each row has a rule and a test"

column 1 | tr -d '`' | sort -c 2>"$lint_list"
lint_none "rows are sorted by file"

column 4 | grep -o '`[^`]*`' | tr -d '`' | sort -u | while read -r slug; do
	grep -A 1 "\"$slug\", \(ERROR\|FATAL\)," lib/disk/rules.def >/dev/null ||
		echo "$slug"
done >"$lint_list"
lint_none "each rule exists and is an error"

column 5 | grep -o '`[^`]*[.]case`' | tr -d '`' | sort -u | while read -r name; do
	[ -f "tests/fsck/cases/$name" ] || echo "$name"
done >"$lint_list"
column 5 | grep -oE 'unit/[a-z_]+[.]c' | sort -u | while read -r name; do
	[ -f "tests/$name" ] || echo "$name"
done >>"$lint_list"
column 5 | grep -oE '[a-z]+/[a-z_]+[.]bats "[^"]*"' | sort -u |
while read -r name title; do
	grep -qF "@test $title {" "tests/$name" || echo "$name: $title"
done >>"$lint_list"
lint_none "each test exists"

# A case that a row names for its rules has one of them.
column 5 | paste -d '|' - "$rows" | while IFS= read -r line; do
	slugs=$(printf '%s\n' "$line" | awk -F ' [|] ' '{ print $4 }' |
		grep -o '`[^`]*`' | tr -d '`')
	for name in $(printf '%s\n' "${line%%|*}" | grep -o '`[^`]*[.]case`' |
			tr -d '`'); do
		for slug in $slugs; do
			grep -qE "^expect $slug( |$)" \
				"tests/fsck/cases/$name" && continue 2
		done
		echo "$name: $slugs"
	done
done >"$lint_list"
lint_none "each case expects the rule of its row"
lint_done
