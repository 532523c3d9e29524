#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Every dump command against images whose metadata was damaged: each ends with
# a result or a clear error.  A longer run is a matter of FLIPS and SEED.

load ../kernel/lab

setup_file() {
	need_corpus
	export corpus
}

# How many flips each image gets: the small ones are many times faster.
: "${FLIPS:=150}" "${SEED:=1}"

flip() {
	run timeout 3000 "$NILFS2_BUILD/tests/fuzz/flips" \
		"$corpus/$1/image" "$FLIPS" "$SEED"
	[ "$status" -eq 0 ] || tail -n 30 <<<"$output"
	[ "$status" -eq 0 ]
}

@test "flips in a volume with every type of file" { flip special; }
@test "flips in a volume with snapshots" { flip snapshots; }
@test "flips in a volume with many checkpoints" { flip many-snapshots-2k; }
@test "flips in a volume with sparse files" { flip sparse-2k; }
@test "flips in a volume with data-sync logs to recover" { flip crash-dsync; }
@test "flips in a volume after a crash" { flip crash-sr; }
@test "flips in a volume that was cleaned" { flip cleaned-1k; }
