#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# times.sh BUILD...: how long each folder of tests took in the last "make check" of
# these builds, in seconds of one job, and the slowest files of tests.  A test's log
# is created when the test starts, and its result is written when it ends.
set -eu
for build; do
	find "$build/tests" -name '*.trs' | while read -r result; do
		log=${result%.trs}.log
		begin=$(stat -c %W "$log") end=$(stat -c %Y "$result")
		[ "$begin" -eq 0 ] || echo "$((end - begin)) ${log#"$build/"} $build"
	done
done | sed 's/\.log / /' | sort -rn | awk '
	NR <= 15 { slow[NR] = $0 }
	{ split($2, part, "/"); folder[part[2] " (" $3 ")"] += $1; all += $1 }
	END {
		for (name in folder)
			printf "%6d s  tests/%s\n", folder[name], name | "sort -rn"
		close("sort -rn")
		printf "%6d s  all; the slowest:\n", all
		for (i = 1; i in slow; i++) {
			split(slow[i], part, " ")
			printf "%6d s  %s\n", part[1], part[2]
		}
	}'
