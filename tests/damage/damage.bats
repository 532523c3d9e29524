#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What fsck.nilfs2 restores of volumes with damaged metadata: a sample of the
# table that "make check-long" prints.  No repair crashes or hangs, and its exit
# status is honest.  SEED takes another sample, EVERY=1 all cases.

bats_require_minimum_version 1.5.0
load ../kernel/lab
: "${SEED:=1}"

setup_file() {
	need_corpus
	export corpus
}

# spoil EVERY NAME [OPTION...]
spoil() {
	local every=${EVERY:-$1} name=$2

	shift 2
	run timeout -s KILL 3000 "$NILFS2_BUILD/tests/damage/damage" \
		--list --fail status,crash --every "$every" --seed "$SEED" \
		"$@" "$corpus/$name/image"
	[ "$status" -eq 0 ] || grep -E ' (status|crash) exit=' <<<"$output"
	[ "$status" -eq 0 ]
}

@test "a volume with snapshots" { spoil 23 snapshots; }
@test "a volume with many files" { spoil 151 small-files; }
@test "a volume that was cleaned" { spoil 101 cleaned-1k; }
@test "a volume with many snapshots" { spoil 101 many-snapshots-2k; }
@test "a volume with every type of file" { spoil 11 special; }
@test "a volume after a crash with fsync" { spoil 11 crash-dsync; }

@test "the kernel reads what is repaired" {
	need_guest uml
	run "$BATS_TEST_DIRNAME/kernel.sh" --every "${EVERY:-150}" snapshots
	[ "$status" -eq 0 ] || echo "$output"
	[ "$status" -eq 0 ]
}

@test "a case is made again as it was" {
	local case

	case=$("$NILFS2_BUILD/tests/damage/damage" --list-all \
		--kinds DAT --damage random --sums matched --fail crash \
		"$corpus/special/image" | awk '/^CASE/ { id = $3 } END { print id }')
	cd "$BATS_TEST_TMPDIR"
	for out in one two; do
		"$NILFS2_BUILD/tests/damage/damage" make \
			"$corpus/special/image" "$case" "$out"
	done
	cmp one two
	run cmp -s one "$corpus/special/image"
	[ "$status" -eq 1 ]
	run "$NILFS2_BUILD/dump/dump.nilfs2" block "$corpus/special/image" \
		"${case%%-*}"
	[[ $output == *"Metadata file:          dat"* ]]
}
