#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# long.sh TARGET...: what takes hours, by targets of make, and one table of cases
# and failures of all of them.  What each printed is left in TARGET.log of the
# build.  A target that fails without a failed case counts as one.
set -u -o pipefail

# count FILE: cases and failures.  They are lines of TAP; rows of a table whose
# last columns are "CASES FAILED"; of tests/damage the last row, by verdict, and
# lines of what the kernel said.
count()
{
	awk '
	/^(not )?ok / && !/# [Ss][Kk][Ii][Pp]/ {
		cases++
		failed += /^not/
	}
	$NF == "FAILED" { table = 1; next }
	table && $NF ~ /^[0-9]+$/ && $(NF - 1) ~ /^[0-9]+$/ {
		cases += $(NF - 1)
		failed += $NF
	}
	$1 == "total" && $2 == "cases" {
		for (i = 3; i <= NF; i++)
			if ($i ~ /^(LOST|status|crash)$/)
				bad[i + 2]	# a row begins with two words more
	}
	$1 == "all" && $2 == "all" && $3 == "both" {
		cases += $4
		for (i in bad)
			failed += $i
	}
	/ volumes, of [0-9]+ the kernel has complaints/ {
		cases += $2
		failed += $5
	}
	END { print cases + 0, failed + 0 }' "$1"
}

rows=() result=0
for target; do
	echo "== $target"
	begin=$SECONDS
	"${MAKE:-make}" --no-print-directory "$target" 2>&1 |
		tee "$NILFS2_BUILD/$target.log"
	status=$?
	read -r cases failed <<<"$(count "$NILFS2_BUILD/$target.log")"
	[ "$status" -eq 0 ] || [ "$failed" -gt 0 ] || failed=1
	[ "$failed" -eq 0 ] || result=1
	rows+=("$(printf '%-16s %9d %8d %8d' "$target" "$cases" "$failed" \
		$(((SECONDS - begin + 59) / 60)))")
done
printf '%-16s %9s %8s %8s\n' TARGET CASES FAILED MINUTES
printf '%s\n' "${rows[@]}"
exit $result
