#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Two volumes can be open at once: nothing that has file scope is written.
# Constant tables with pointers lie in .data.rel.ro and are none of this.
# shellcheck source=tests/lint/lint.sh
. "$(dirname "$0")/lint.sh"

# A signal handler has nowhere else to leave its word.
exceptions='^interrupt\.o interrupted$'

# "FILE.o NAME" of the objects in writable sections; sanitizers and gcov bring
# some of their own, whose names begin with two underscores.
writable()
{
	objdump -t "$1" 2>/dev/null | awk '
		/file format/ {
			object = $1
			sub(/:$/, "", object)
			sub(/^lib[a-z]*_a-/, "", object)
		}
		{
			for (i = 2; i < 4 && $i !~ /^[.*]/; i++)
				;
			if ($i !~ /^\.data\.rel\.ro/ && $NF !~ /^\./ &&
			    $i ~ /^(\.t?data|\.t?bss|\*COM\*)/)
				print object, $NF
		}' | grep -Ev ' (__|\.L)'
}

for archive in $(lint_archives base arc dev disk out vol log find cli); do
	writable "$archive" | grep -Ev "$exceptions" >"$lint_list"
	lint_none "$(basename "$archive") keeps nothing in variables"
done
lint_done
