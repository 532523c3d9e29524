#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Damage of every kind in a build with sanitizers: the checker says exactly what
# the case expects, and a repair ends as it should.  A third of the cases, as SEED
# chooses them; repairs_AREA.bats take all.  cases/README describes the language of
# the .case files.

bats_require_minimum_version 1.5.0
load ../kernel/lab
load damage
load cases

setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
}

# case_repair_status: a repair ends as it is to; what it leaves is looked at in
# repairs_AREA.bats.
case_repair_status() {
	local wanted=$case_repaired status=0

	[ -z "$case_unrepaired" ] || wanted=$case_exit
	timeout 120 "$NILFS2_BUILD/fsck/fsck.nilfs2" -fyq "${case_options[@]}" \
		"${case_repair[@]}" image >said 2>&1 || status=$?
	[ "$status" = "$wanted" ] && return
	echo "the repair: exit status $status instead of $wanted"
	tail -n 5 said
	return 1
}

# run_cases PATTERN: one in three, damaged, checked and repaired; fails where one
# does, and shows why.  Without a trap of bats at each command, which takes half of
# the time.
run_cases() {
	local names name bad=0 -

	set +T
	# shellcheck disable=SC2046
	names=$(sample 1/3 $(case_names "$1"))
	for name in $names; do
		{ make_case "$name" && case_findings && case_repair_status; } \
			>why 2>&1 || {
			echo "case $name:"
			cat why
			bad=1
		}
	done
	[ "$bad" -eq 0 ]
}

@test "damaged superblocks" { run_cases 'sb-*'; }
@test "damaged logs" { run_cases 'log-*'; }
@test "damaged super roots" { run_cases 'sr-*'; }
@test "damaged block maps" { run_cases 'bmap-*'; }
@test "a damaged DAT" { run_cases 'dat-*'; }
@test "damaged allocators" { run_cases 'palloc-*'; }
@test "a damaged checkpoint file" { run_cases 'cp-*'; }
@test "a damaged segment usage file" { run_cases 'su-*'; }
@test "damaged inodes" { run_cases 'inode-*'; }
@test "damaged directories" { run_cases 'dir-*'; }

# Slugs that an "expect" line has.
covered() {
	sed -n 's/^expect \([^ ]*\).*/\1/p' "$cases_dir"/*.case | sort -u
}

# Slugs in the list of those that have no case, each with its reason.
excused() {
	sed -n 's/^\([a-z][a-z0-9-]*\)  *[A-Za-z].*/\1/p' "$cases_dir/uncovered"
}

# areas FUNCTION FILE...: of cases that the tests in the files take.
areas() {
	sed -n "s/.*$1 '\([a-z]*-\)\*'.*/\1/p" "${@:2}" | sort
}

rules() {
	sed -n 's/^RULE([A-Z0-9_]*, [0-9]*, "\([^"]*\)".*/\1/p' \
		"$NILFS2_SOURCE/lib/disk/rules.def" | sort
}

@test "every rule has a case, or a reason why not" {
	rules >rules
	[ -s rules ]
	{ covered; excused; } | sort -u >known
	run -0 comm -23 rules known
	echo "$output"
	[ -z "$output" ]
}

@test "no reason is out of date, and every case is run" {
	run -0 comm -12 <(covered) <(excused | sort)
	[ -z "$output" ]
	run -0 comm -13 <(rules) <({ covered; excused; } | sort -u)
	[ -z "$output" ]
	areas run_cases "$BATS_TEST_FILENAME" >some
	areas repair_cases "$BATS_TEST_DIRNAME"/repairs_*.bats >all
	cmp some all
	case_names '*' | grep -v -F -f all && return 1
	return 0
}
