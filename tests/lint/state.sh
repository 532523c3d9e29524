#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Two volumes can be open at once: nothing that has file scope is written.
# Constant tables with pointers lie in .data.rel.ro and are none of this.
# shellcheck source=tests/lint/lint.sh
. "$(dirname "$0")/lint.sh"

# A signal handler has nowhere else to leave its word.
exceptions='^lib/cli/tool\.o interrupted$'

# "OBJECT NAME" of what is in writable sections; sanitizers and gcov bring some of
# their own, whose names begin with two underscores.
lint_run_on_objects objdump -t
awk '/file format/ {
		object = $1
		sub(/:$/, "", object)
	}
	{
		for (i = 2; i < 4 && $i !~ /^[.*]/; i++)
			;
		if ($i !~ /^\.data\.rel\.ro/ && $NF !~ /^(\.|__)/ &&
		    $i ~ /^(\.t?data|\.t?bss|\*COM\*)/)
			print object, $NF
	}' "$lint_found" | grep -Ev "$exceptions" >"$lint_list"
lint_none_of_modules "keeps nothing in variables"
lint_done
