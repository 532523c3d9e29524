#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Who sees a name knows its file: what NAME.c exports is called NAME or
# NAME_something.
# shellcheck source=tests/lint/lint.sh
. "$(dirname "$0")/lint.sh"

# The failure slot is filled from every file and should read as a word; crc32
# is named as zlib and the kernel name it.
exceptions='^lib/base/(context\.o fail(_clear|_said)?|crc\.o crc32_le.*)$'

lint_run_on_objects nm -A -g --defined-only
awk '$NF !~ /^__/ {
	object = $1
	sub(/:.*/, "", object)
	stem = object
	sub(/.*\//, "", stem)
	sub(/\.o$/, "", stem)
	if ($NF != stem && index($NF, stem "_") != 1)
		print object, $NF
}' "$lint_found" | grep -Ev "$exceptions" >"$lint_list"
lint_none_of_modules "exports names that begin with their file's"
lint_done
