#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Repairs that are interrupted, judged by the kernel.  Whatever a cut leaves, the
# kernel finds in it what it finds in the damaged volume or what it finds in the
# repaired one: the same tree, or the same refusal.  A repaired one it writes on.

bats_require_minimum_version 1.5.0
load ../kernel/lab
load ../fsck/damage
load ../fsck/cases
load ../fsck/repairs_kernel

cases_dir=$BATS_TEST_DIRNAME/../fsck/cases

setup() {
	need_corpus
	need_guest uml
	cd "$BATS_TEST_TMPDIR" || return 1
}

# outcome NAME: what was found in that state.
outcome() {
	sed -n "s/^$1[.0-9]* //p" found
}

# A state is as its name says: what the kernel says of it is what it says of
# the whole one.
compare_states() {
	local before after name result bad=0

	before=$(outcome before)
	after=$(outcome after)
	[ "${after%% *}" = sound ] || {
		echo "the repaired volume: $after"
		return 1
	}
	while read -r name result; do
		case $name in
		old.*) [ "$result" = "$before" ] ;;
		new.*) [ "$result" = "$after" ] ;;
		esac || {
			echo "$name: $result"
			bad=1
		}
	done <found
	[ "$bad" -eq 0 ] || printf 'before: %s\nafter: %s\n' "$before" "$after"
	return "$bad"
}

# blames STATE: what the kernel complains about in states of that name.
blames() {
	kernel_blames | sed -n "s/^$1[.0-9]*: //p" | sort -u
}

# The kernel complains of nothing in the repaired volume.  As long as it has the
# old superblocks it may meet on its way what it met in the damaged one.
compare_blames() {
	local lines

	lines=$(blames after; comm -13 <(blames before) <(blames new))
	[ -z "$lines" ] || {
		echo "of a repaired volume the kernel says: $lines"
		return 1
	}
}

# What the kernel wrote to repaired volumes is sound.
check_repaired() {
	local file bad=0

	for file in states/after.* states/new.*; do
		[ -e "$file" ] || continue
		"$NILFS2_BUILD/fsck/fsck.nilfs2" -fnq "$file" || {
			echo "$file: is wrong after the kernel wrote"
			bad=1
		}
	done
	[ "$bad" -eq 0 ]
}

# judge CASE
judge() {
	local bad=0

	make_case "$1"
	mkdir states
	"$NILFS2_BUILD/tests/crash/cutrepair" "${case_repair[@]}" \
		--keep states image >said 2>&1 || {
		tail -n 1 said
		return 1
	}
	guest --share "$PWD/states" --timeout 600 < <(kernel_uses look)
	echo "$output" >found
	[ "$status" -eq 0 ] || {
		echo "the guest: status $status: $errors"
		return 1
	}
	compare_states || bad=1
	compare_blames || bad=1
	check_repaired || bad=1
	[ "$bad" -eq 0 ]
}

# One case of each stage of repairs.
@test "what a cut leaves is the old state or the new one" {
	for case in $(sample 5 sb-sum sr-bytes dat-double palloc-bitmap-missing \
			su-active-clean cp-latest log-magic inode-free \
			bmap-twice.files dir-second-name); do
		echo "$case:"
		mkdir "$case"
		(cd "$case" && judge "$case")
	done
}
