#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# skips.sh BUILD...: the tests that the last "make check" of these builds skipped,
# with file, test and reason, and how many they are.
set -eu
for build; do
	find "$build/tests" -name '*.log' | sort | while read -r log; do
		awk -v file="${log#"$build/"}" '
			BEGIN { sub(/\.log$/, "", file) }
			/^(ok [0-9]+|1\.\.0).*# *[Ss][Kk][Ii][Pp]/ {
				match($0, /# *[Ss][Kk][Ii][Pp][^ ]*/)
				name = substr($0, 1, RSTART - 1)
				reason = substr($0, RSTART + RLENGTH)
				sub(/^(ok [0-9]+|1\.\.0) *(- )?/, "", name)
				gsub(/^ +| +$/, "", name)
				sub(/ in [0-9]+ms$/, "", name)
				sub(/^ +/, "", reason)
				printf "skipped: %s: %s%s%s\n", file, name,
					name == "" ? "" : ": ",
					reason == "" ? "no reason given" : reason
			}' "$log"
	done
done | awk '{ print } END { print NR " skipped" }'
