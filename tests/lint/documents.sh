#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Documents name existing files, folders and functions; they are in the release
# archive; doc/install.md lists the packages that the scripts install.
#
# A word is a path if it begins with a folder of the project or has the suffix of
# a source file.  It is relative to the top or to any folder below that of the
# document, and may lack .c or .h.  A word of capitals in it is a placeholder:
# derive_NAME.c.
# shellcheck source=tests/lint/lint.sh
. "$(dirname "$0")/lint.sh"

cd "$lint_top" || exit 99
functions=$(mktemp)
trap 'rm -f "$lint_list" "$functions"' EXIT

folders='lib|mkfs|dump|fsck|gc|man|tests|scripts|doc|examples'
endings='[ch]|def|awk|am|in|sh|bash|bats|case|pl|md'

documents=$(ls ./*.md && find lib mkfs dump fsck gc tests doc examples \
	\( -name '*.md' -o -name README \) 2>/dev/null | sort)

# Prints "DOCUMENT PATH" for each word of the documents that looks like a path, except
# paths of the kernel's source.
paths()
{
	# shellcheck disable=SC2086
	grep -oHE '[^][:blank:]()[,;:"`|]+' $documents |
	sed -E 's/\.+$//; s/^([^:]*):/\1 /; s|^\./||' |
	grep -E " (($folders)/[A-Za-z0-9_./*-]*|[A-Za-z0-9_./*-]+\.($endings))\$" |
	grep -vE ' (-|/|\*\.|\.|fs/)' | sort -u
}

# Reads the tree's files, an empty line, and the output of paths(); prints the
# lines of the latter that match no file.
missing()
{
	awk '
		# What a path may look like: a placeholder is any text.
		function pattern(path,    rest, word, out) {
			gsub(/\./, "[.]", path)
			gsub(/\*/, "[^/]*", path)
			rest = path
			while (match(rest, /[A-Z][A-Z]+/)) {
				word = substr(rest, RSTART, RLENGTH)
				out = out substr(rest, 1, RSTART - 1)
				out = out (word in kept ? word : "[^/]*")
				rest = substr(rest, RSTART + RLENGTH)
			}
			return "(" out rest ")([.][ch])?$"
		}
		function is_there(folder, path,    i, from) {
			sub(/\/$/, "", path)
			if (path in known || folder path in known)
				return 1
			path = pattern(path)
			if (folder == "doc/")
				folder = ""
			for (i = 1; i <= n; i++)
				if (files[i] ~ "^" path ||
				    files[i] ~ "^" folder "(.*/)?" path)
					return 1
			return 0
		}
		BEGIN {
			split("README CONTRIBUTING NEWS COPYING", names, " ")
			for (i in names)
				kept[names[i]] = 1
		}
		!NF { complete = 1; next }
		!complete { files[++n] = $1; known[$1] = 1; next }
		{
			folder = $1
			sub(/[^\/]*$/, "", folder)
			if (!is_there(folder, $2))
				print $1 ": " $2
		}'
}

# Functions are named with parentheses, in backticks; those of the kernel begin
# with its prefix.
functions()
{
	# shellcheck disable=SC2016
	named '`[a-z][a-z0-9_]*\(\)`' |
	grep -vE ' ((load_)?nilfs|(main|fsync|mmap)$)'
}

# Other names: those with an underscore, in backticks; those of the kernel and of
# libblockdev begin with their prefixes.
names()
{
	# shellcheck disable=SC2016
	named '`((struct|enum) )?[A-Za-z][A-Za-z0-9]*_[A-Za-z0-9_]*(\[\])?`' |
	grep -vE ' (nilfs_|the_nilfs$|ns_|bd_)'
}

# Prints "DOCUMENT NAME" for each match of a pattern.  The description of the format
# names functions of the kernel.
named()
{
	# shellcheck disable=SC2086
	grep -oHE "$1" $documents | grep -v '^doc/format\.md:' |
	sed -E 's/`|\[\]|\(\)|(struct|enum) //g; s/:/ /; s|^\./||' | sort -u
}

# The lines of "DOCUMENT NAME" whose NAME is not in the file of those that exist.
unknown()
{
	awk '
		FNR == NR { known[$1]; next }
		!($2 in known) { print $1 ": " $2 }' "$1" -
}

{
	find lib mkfs dump fsck gc man tests scripts doc examples ./*.md 2>/dev/null |
		sed 's|^\./||'
	echo
	paths
} | missing >"$lint_list"
lint_none "every file that a document names exists"

lint_files -name '*.[ch]' -o -name '*.sh' -o -name '*.bash' | xargs sed -nE \
	-e 's/^[A-Za-z_][^(=;]*[ *]([a-z][a-z0-9_]*)\(.*/\1/p' \
	-e 's/^(#define )?([a-z][a-z0-9_]*)\(.*/\2/p' | sort -u >"$functions"

functions | unknown "$functions" >"$lint_list"
lint_none "every function that a document names exists"

lint_files -name '*.[ch]' -o -name '*.def' -o -name '*.sh' -o -name '*.bash' \
	-o -name '*.bats' -o -name '*.am' | xargs cat configure.ac |
	grep -oE '[A-Za-z][A-Za-z0-9]*_[A-Za-z0-9_]*' | sort -u >"$functions"
names | unknown "$functions" >"$lint_list"
lint_none "every name that a document cites exists"

# Listed by its name, or by its folder.
for document in $documents; do
	document=${document#./}
	folder=${document%/*}
	grep -qE "(^|[[:blank:]])($document|$folder)([[:blank:]]|\$)" \
		Makefile.am ./*/Makemodule.am ./*/*/Makemodule.am ||
		echo "$document"
done >"$lint_list"
lint_none "every document is in the release archive"

# shellcheck source=scripts/packages.sh
. "$lint_top/scripts/packages.sh"
# shellcheck disable=SC2154,SC2086
printf '%s\n' $build_packages $test_packages | while read -r package; do
	grep -qE "(^|[ |])$package([,; |]|\$)" doc/install.md || echo "$package"
done >"$lint_list"
lint_none "doc/install.md lists every package that building and testing need"

lint_done
