#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Repairs of volumes with a block of metadata that storage has spoilt: each ends
# as it may, and what it calls mended has nothing left to be mended (mending.h).
# EVERY=1 tries all blocks in all ways, which takes an hour; FIRST begins
# elsewhere.

load ../kernel/lab
# A prime, so that each kind of change has its turn.
: "${EVERY:=67}" "${FIRST:=0}"

setup_file() {
	need_corpus
	export corpus
}

# spoil NAME
spoil() {
	cd "$BATS_TEST_TMPDIR" || return
	run timeout -s KILL 3000 "$NILFS2_BUILD/tests/fuzz/blocks" \
		"$corpus/$1/image" "$EVERY" "$FIRST"
	[ "$status" -eq 0 ] || tail -n 60 <<<"$output"
	[ "$status" -eq 0 ]
}

@test "blocks of a volume with every type of file" { EVERY=11 spoil special; }
@test "blocks of a volume with snapshots" { spoil snapshots; }
@test "blocks of a volume with many snapshots" { spoil many-snapshots-2k; }
@test "blocks of a volume that was cleaned" { spoil cleaned-1k; }
@test "blocks of a volume with many files" { spoil small-files; }
