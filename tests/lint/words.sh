#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Words for which the field has others, and spelling: in names, comments, messages
# and documents.
# The table has a word, as a pattern, and what to write instead.
# shellcheck source=tests/lint/lint.sh
. "$(dirname "$0")/lint.sh"

sources=$(lint_files -name '*.[ch]' -o -name '*.def' -o -name '*.sh' -o \
	-name '*.bash' -o -name '*.bats' -o -name '*.md' -o -name '*.8' -o \
	-name '*.8.in' -o -name '*.5' -o -name '*.case' |
	grep -v '^tests/lint/words\.sh$')

cd "$lint_top" || exit 99
sources="$sources NEWS $(ls ./*.md doc/*.md)"

# The files among FILES that have a WORD, and the lines that do.
who_says()
{
	# shellcheck disable=SC2086
	grep "$1" "(^|[^[:alpha:]])($2)($|[^[:alpha:]])" $3 /dev/null
}

# Looks in FILES for the words of a table: for all at once, for one after the other
# only in files that have any.
none_says()
{
	table=$(cat)
	any=$(echo "$table" | sed 's/ .*//' | tr '\n' '|' | sed 's/|$//')
	some=$(who_says -lEi "$any" "$1")
	while read -r word better; do
		who_says -nEi "$word" "$some" |
			sed "s/^/write \"$better\": /" >"$lint_list"
		lint_none "no file says $word"
	done <<WORDS
$table
WORDS
}

none_says "$sources" <<'TABLE'
(un)?mend(s|ed|ing)? repair
(made|make|makes|written|write|writes|read|copied)[[:blank:]]anew rebuild, rewrite, again
an[[:blank:]]NILFS2 a NILFS2
be[[:blank:]]it[[:blank:]]ever as small as
that[[:blank:]]nobody[[:blank:]](needs|finds) unused, unreachable
one[[:blank:]]behind[[:blank:]]the[[:blank:]]other one after the other
(some|no)body a program, no user, unused, not read
whoever the one that, any
(un)?told reported, printed, given
tells? shows, says, identifies
at[[:blank:]]hand present, in memory
amiss wrong, bad
unasked by default
TABLE

# Spelling, of everything that is written.  Escapes are no parts of words.
if command -v codespell >/dev/null; then
	# shellcheck disable=SC2046,SC2086
	codespell -L sutable --ignore-regex '\\(\(bu|[nt])|\.TE\b' \
		$({
			lint_files -name '*'
			find scripts completion debian rpm -type f
			printf '%s\n' $sources
		} | sort -u) >"$lint_list" 2>/dev/null
	lint_none "codespell finds no misspelt word (-L: names)"
else
	lint_count=$((lint_count + 1))
	echo "ok $lint_count # SKIP codespell is missing"
fi

lint_done
