#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Repairs name all that they give up: the latest state and the snapshots after a
# repair are compared with the image as it was before a block was spoilt, and
# what differs must be in the list of losses.  Every so many blocks of the DAT and
# of the last log are tried, and every so many changes of all metadata; EVERY=1
# tries all, SEED other ones.

load ../kernel/lab
# A prime, so that each kind of change has its turn.
: "${SEED:=1}"

setup_file() {
	need_corpus
	export corpus
}

# judge EVERY [-d] NAME
judge() {
	local every=${EVERY:-$1}

	shift
	cd "$BATS_TEST_TMPDIR" || return
	run timeout -s KILL 3000 "$NILFS2_BUILD/tests/fuzz/losses" \
		"${@:1:$#-1}" "$corpus/${!#}/image" "$every" "$SEED"
	[ "$status" -eq 0 ] || tail -n 60 <<<"$output"
	[ "$status" -eq 0 ]
}

@test "the DAT and last log of a volume with snapshots" {
	judge 3 -d snapshots
}
@test "the DAT and last log of a volume that was cleaned" {
	judge 5 -d cleaned
}
@test "blocks of a volume with many files" { judge 97 small-files; }
@test "blocks of a volume with every type of file" { judge 61 special; }
@test "blocks of a volume with snapshots" { judge 61 snapshots; }
@test "blocks of a volume that was cleaned" { judge 61 cleaned-1k; }
