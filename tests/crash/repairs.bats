#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Repairs that are interrupted, wherever they are: the volume is then as it was
# before, or as a whole repair leaves it, or a second repair makes it so.

bats_require_minimum_version 1.5.0
load ../kernel/lab
load ../fsck/damage
load ../fsck/cases

cases_dir=$BATS_TEST_DIRNAME/../fsck/cases

setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
}

# cut_repairs [--tear-supers] CASE...: half of these cases.
cut_repairs() {
	local name bad=0 how=()

	if [ "$1" = --tear-supers ]; then
		how=("$1")
		shift
	fi
	for name in $(sample 1/2 $(case_names "$@")); do
		make_case "$name"
		"$NILFS2_BUILD/tests/crash/cutrepair" "${how[@]}" \
			"${case_repair[@]}" image >said 2>&1 || {
			echo "case $name:"
			grep -v '^fsck.nilfs2: ' said | head -n 40
			bad=1
		}
	done
	[ "$bad" -eq 0 ]
}

@test "of superblocks" {
	cut_repairs --tear-supers sb-sum sb-sum.second
	cut_repairs sb-sum.both sb-state-error
}
@test "by another super root" { cut_repairs sr-bytes; }
@test "of the DAT" { cut_repairs dat-double dat-map-double; }
@test "of allocators" { cut_repairs palloc-bitmap-missing; }
@test "of the segment usage file" { cut_repairs su-active-clean su-unreadable; }
@test "of the checkpoint file" { cut_repairs cp-latest cp-header-missing; }
@test "of logs" { cut_repairs log-magic log-unlisted.number; }
@test "of inodes" { cut_repairs inode-free inode-orphan; }
@test "with data to be rolled forward" { cut_repairs inode-free.synced; }
@test "of maps" { cut_repairs bmap-twice.files bmap-null-pointer.cpfile; }
@test "of names" { cut_repairs dir-loop dir-second-name; }
