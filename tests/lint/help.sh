#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --help and the manual page have the same options; pages have the usual sections.
#
# An option of a page is one in a tag: the line after .TP or .TQ, or the text of
# .IP.  The running text may mention options of other programs.
# shellcheck source=tests/lint/lint.sh
. "$(dirname "$0")/lint.sh"

# The pages that are installed, from the build's own list; those of the tools.
all_pages()
{
	sed -n '/dist_man_MANS/,/[^\\]$/p' "$lint_top/man/Makemodule.am" |
	grep -oE 'man/[a-z0-9.-]+\.[58]' | sort -u
}

pages()
{
	all_pages | grep '\.8$'
}

# Where a page is: some are made by the build.
path_of()
{
	if [ -f "$lint_build/$1" ]; then
		echo "$lint_build/$1"
	else
		echo "$lint_top/$1"
	fi
}

# The options in a text, one a line: -c and --checkpoint.
options_of()
{
	grep -oE '(^|[^A-Za-z0-9_-])--?[A-Za-z0-9][A-Za-z0-9-]*' |
	sed 's/^[^-]*//' | grep -Ex -e '-[A-Za-z0-9]|--[a-z0-9-]+' | sort -u
}

# The lines of a help text that begin with an option, without their phrases.
help_of()
{
	"$1" --help
	"$1" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' |
	while read -r command; do
		[ "$command" = help ] || "$1" "$command" --help
	done
}

options_of_help()
{
	help_of "$1" | sed -n 's/^  \(    \)\{0,1\}\(-.*\)/\2/p' |
	sed 's/  .*//' | options_of
}

options_of_page()
{
	sed 's/\\-/-/g; s/\\f[A-Z]//g' "$1" |
	awk '/^\.T[PQ]/ { tag = 1; next }
		/^\.IP/ { print; tag = 0; next }
		tag { print; tag = 0 }' |
	sed 's/" *"//g; s/"//g; s/^\.[A-Z]* *//' | options_of
}

for page in $(pages); do
	tool=$(basename "$page" .8)
	help=$(mktemp)
	manual=$(mktemp)
	options_of_help "$tool" >"$help"
	options_of_page "$(path_of "$page")" >"$manual"
	comm -23 "$help" "$manual" >"$lint_list"
	lint_none "$page has every option of --help"
	comm -13 "$help" "$manual" >"$lint_list"
	lint_none "$page has no option that $tool lacks"
	: >"$lint_list"
	[ -s "$help" ] || echo "$tool --help shows no options" >"$lint_list"
	lint_none "$tool --help shows options"
	rm -f "$help" "$manual"
done

# "SECTION: OPTION" of the lines "SECTION", tab, TEXT, for each option in the text.
placed_options()
{
	awk -F '\t' '{
		while (match($2, /(^|[ ,"])--?[a-zA-Z][a-z-]*/)) {
			name = substr($2, RSTART, RLENGTH)
			sub(/^[^-]*/, "", name)
			print $1 ": " name
			$2 = substr($2, RSTART + RLENGTH)
		}
	}' | sort -u
}

for page in $(pages); do
	tool=$(basename "$page" .8)
	[ "$("$tool" --help | grep -cE '^  (-|    --)')" -gt 25 ] || continue
	listed=$(mktemp)
	"$tool" --help | awk '
		/^[^ ].*:$/ { heading = substr($0, 1, length($0) - 1) }
		/^  (-|    --)/ { print heading "\t" substr($0, 1, 28) }' |
	placed_options >"$listed"
	sed -n '/^\.SH OPTIONS/,/^\.SH EXIT/p' "$(path_of "$page")" |
	sed 's/\\-/-/g; s/\\f[A-Z]//g' | awk '
		/^\.SS / { heading = substr($0, 5) }
		tag { print heading "\t" $0; tag = 0 }
		/^\.T[PQ]/ { tag = 1 }' |
	placed_options | comm -23 "$listed" - >"$lint_list"
	lint_none "$page has the options under the headings of --help"
	rm -f "$listed"
done
for page in $(pages); do
	tr '\n' ' ' <"$(path_of "$page")" |
	grep -q 'does not bound the process, which has several of them' ||
		echo "$page"
done >"$lint_list"
lint_none "every page says that --max-memory does not bound the process"

# What each command of dump.nilfs2 has: --json, a section and an example in the page,
# and a test that compares it with what the kernel wrote.
test_of()
{
	case $1 in
	image) echo tests/dump/metaimage.bats ;;
	*) echo "tests/dump/$1.bats" ;;
	esac
}

page=$lint_top/man/dump.nilfs2.8
line='
'
sections=$line$(grep '^\.SS ' "$page")
examples=$line$(sed -n '/^\.SH EXAMPLES/,/^\.SH NOTES/p' "$page")
dump.nilfs2 --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' |
grep -vx help |
while read -r command; do
	dump.nilfs2 "$command" --help | grep -q '^  *--json ' ||
		echo "$command: no --json"
	case $sections in
	*"$line.SS $command "*) ;;
	*) echo "$command: no section" ;;
	esac
	case $examples in
	*"${line}dump.nilfs2 $command "*) ;;
	*) echo "$command: no example" ;;
	esac
	grep -qE 'need_(corpus|guest)' "$lint_top/$(test_of "$command")" ||
		echo "$command: no test with a volume of the kernel"
done >"$lint_list"
lint_none "every command of dump.nilfs2 has --json, a section, an example, a test"
for page in $(all_pages); do
	[ -f "$(path_of "$page")" ] || echo "$page"
done >"$lint_list"
lint_none "every page of the build's list exists"

# Prints the sections of a page that are missing, and those in a place of their
# own: $2 is the list of all in their order, a "?" for one that may be missing.
sections_of()
{
	sed -n 's/^\.SH //p' "$1" | tr -d '"' | awk -v page="$1" -v list="$2" '
		BEGIN { n = split(list, name, "/") }
		{
			for (i = 1; i <= n; i++)
				if (name[i] == $0 || name[i] == $0 "?") {
					if (i <= last)
						print page ": place of " $0
					last = i
					there[i] = 1
				}
		}
		END {
			for (i = 1; i <= n; i++)
				if (!there[i] && name[i] !~ /\?$/)
					print page ": no " name[i]
		}'
}

for page in $(all_pages); do
	case $page in
	*.8) sections_of "$(path_of "$page")" "NAME/SYNOPSIS/DESCRIPTION/OPTIONS/EXIT STATUS/FILES?/ENVIRONMENT/EXAMPLES/NOTES/SEE ALSO" ;;
	*) sections_of "$(path_of "$page")" "NAME/DESCRIPTION/NOTES?/SEE ALSO" ;;
	esac
done >"$lint_list"
lint_none "every page has the usual sections in their order"
if command -v man >/dev/null; then
	for page in $(all_pages); do
		man --warnings -E UTF-8 -l -Tutf8 -Z "$(path_of "$page")" \
			2>&1 >/dev/null
	done >"$lint_list"
	lint_none "man warns of no page"
else
	lint_count=$((lint_count + 1))
	echo "ok $lint_count # SKIP man is missing"
fi
lint_done
