#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# repeat.sh [COUNT [LOADED]]: scripts/check.sh COUNT times (10), each from a clean clone
# of what is committed, the last LOADED of them (2) while other programs keep each
# processor busy.  Prints a table of runs; what failed is in FAILED.N below BUILD_DIR.  A
# test that fails here once depends on time, load, or on what it did not say.
set -eu
count=${1:-10} loaded=${2:-2}
source=$(cd "$(dirname "$0")/.." && pwd)
work=${BUILD_DIR:-$source/build-repeat}
mkdir -p "$work"
load=
trap 'kill $load 2>/dev/null || :' EXIT

printf '%5s %8s %8s %8s %8s\n' run minutes passed failed skipped
bad=0 run=0
while [ "$run" -lt "$count" ]; do
	run=$((run + 1)) beside=
	rm -rf "$work/clone"
	git clone -q "$source" "$work/clone"
	if [ "$run" -gt $((count - loaded)) ]; then
		beside=' beside other work'
		for _ in $(seq "$(nproc)"); do
			yes >/dev/null &
			load="$load $!"
		done
	fi
	begin=$(date +%s)
	BUILD_DIR= "$work/clone/scripts/check.sh" >"$work/said" 2>&1 || {
		bad=$((bad + 1))
		mv "$work/said" "$work/FAILED.$run"
		ln -s "FAILED.$run" "$work/said"
	}
	# shellcheck disable=SC2086
	kill $load 2>/dev/null || :
	load=
	tail -n 1 "$work/said" | awk -v run="$run" -v beside="$beside" \
		-v minutes=$((($(date +%s) - begin + 30) / 60)) '{
		printf "%5d %8d %8s %8s %8s%s\n", run, minutes, $1, $3, $5, beside }'
	rm -f "$work/said"
done
echo "$bad of $count failed"
[ "$bad" -eq 0 ]
