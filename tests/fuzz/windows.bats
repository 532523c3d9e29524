#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The claims of the DAT in a window for each segment: the findings of a check are
# those of one with all claims in one window.

load ../kernel/lab

setup_file() {
	need_corpus
	export corpus
}

# How many damages each image gets.
: "${WINDOWS:=30}"

windows() {
	run timeout 3000 "$NILFS2_BUILD/tests/fuzz/windows" \
		"$corpus/$1/image" "$WINDOWS"
	[ "$status" -eq 0 ] || tail -n 90 <<<"$output"
	[ "$status" -eq 0 ]
}

@test "windows in a volume with snapshots" { windows snapshots; }
@test "windows in a volume with many checkpoints" { windows many-snapshots-2k; }
@test "windows in a nearly full volume" { WINDOWS=1 windows nearly-full; }
@test "windows in a volume that was cleaned" { windows cleaned-1k; }
@test "windows in a volume after a crash" { windows crash-sr; }
