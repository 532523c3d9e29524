#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Repairs name all that they give up: the latest state and the snapshots after a
# repair are compared with the image as it was before a block was spoilt, and
# what differs must be in the list of losses.  Each block of the DAT and of the
# last log is tried, and every so many changes of all metadata; EVERY=1 tries
# all, FIRST begins elsewhere.

load ../kernel/lab
# A prime, so that each kind of change has its turn.
: "${EVERY:=37}" "${FIRST:=0}"

setup_file() {
	need_corpus
	export corpus
}

# judge NAME [EVERY FIRST]
judge() {
	local name=$1

	shift
	cd "$BATS_TEST_TMPDIR" || return
	run timeout -s KILL 3000 "$NILFS2_BUILD/tests/fuzz/losses" \
		"$corpus/$name/image" "$@"
	[ "$status" -eq 0 ] || tail -n 60 <<<"$output"
	[ "$status" -eq 0 ]
}

@test "the DAT and last log of a volume with snapshots" { judge snapshots; }
@test "the DAT and last log of a volume that was cleaned" { judge cleaned; }
@test "blocks of a volume with many files" {
	judge small-files "$EVERY" "$FIRST"
}
@test "blocks of a volume with every type of file" {
	judge special "$EVERY" "$FIRST"
}
@test "blocks of a volume with snapshots" {
	judge snapshots "$EVERY" "$FIRST"
}
@test "blocks of a volume that was cleaned" {
	judge cleaned-1k "$EVERY" "$FIRST"
}
