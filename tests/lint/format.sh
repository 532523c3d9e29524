#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The document about the format shows the structures as lib/disk has them.
# Without a test: format.sh --write brings its tables up to date.
# shellcheck source=tests/lint/lint.sh
. "$(dirname "$0")/lint.sh"

document=$lint_top/doc/format.md
tables=$lint_build/tests/lint/fieldtables

if [ "${1-}" = --write ]; then
	"$tables" <"$document" >"$lint_list" && cat "$lint_list" >"$document"
	exit
fi

made=$(mktemp)
{
	"$tables" <"$document" 2>&1 >"$made"
	diff "$document" "$made"
} >"$lint_list"
rm -f "$made"
lint_none "doc/format.md has the fields of lib/disk (else: format.sh --write)"
lint_done
