#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Damage of every kind, and what the checker says of it: exactly what the case
# expects.  cases/README describes the language of the .case files.

bats_require_minimum_version 1.5.0
load ../kernel/lab
load damage
load cases

setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
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
	sed -n "s/.*run_cases '\([a-z]*-\)\*'.*/\1/p" "$BATS_TEST_FILENAME" \
		>areas
	case_names '*' | grep -v -F -f areas && return 1
	return 0
}
