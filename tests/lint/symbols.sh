#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Who sees a name knows its file: what NAME.c exports is called NAME or
# NAME_something.
# shellcheck source=tests/lint/lint.sh
. "$(dirname "$0")/lint.sh"

# The failure slot is filled from every file and should read as a word; crc32
# is named as zlib and the kernel name it.
exceptions='^(context\.o fail(_clear|_said)?|crc\.o crc32_le.*)$'

# "FILE.o NAME" of all that the objects of an archive or a list export.
exported()
{
	nm -A -g --defined-only "$@" 2>/dev/null |
	awk '{
		n = split($1, part, ":")
		object = part[n - 1]
		sub(/.*\//, "", object)
		if ($NF !~ /^__/)
			print object, $NF
	}' |
	sed 's/^lib[a-z]*_a-//; s/^[a-z_]*_nilfs2-//'
}

misnamed()
{
	grep -Ev "$exceptions" | awk '{
		stem = $1
		sub(/\.o$/, "", stem)
		if ($2 != "main" && $2 != stem && index($2, stem "_") != 1)
			print
	}'
}

for archive in $(lint_archives base arc dev disk out vol log find cli); do
	exported "$archive" | misnamed >"$lint_list"
	lint_none "names of $(basename "$archive") begin with their file's"
done
for tool in mkfs dump fsck gc gc/sim; do
	# A test that compiles a tool's sources in has objects beside them.
	objects=$(find "$lint_build/$tool" -maxdepth 1 -name '*.o' \
		! -name 'tests_*' 2>/dev/null)
	[ -n "$objects" ] || continue
	# shellcheck disable=SC2086
	exported $objects | misnamed >"$lint_list"
	lint_none "names of $tool begin with their file's"
done
lint_done
