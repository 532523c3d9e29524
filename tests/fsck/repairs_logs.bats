#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Damage of superblocks, logs and the DAT, repaired: nothing is left of it, and
# what it does not concern is what it was.  cases/README has the language of
# the .case files.  With REPAIRS_TABLE=FILE, what became of each case is
# written there.  REPAIRS is a list of patterns of names, of any cases, for
# "bats --filter 'those that'".

bats_require_minimum_version 1.5.0
load repairs

@test "damaged superblocks" { repair_cases 'sb-*'; }
@test "damaged logs" { repair_cases 'log-*'; }
@test "damaged super roots" { repair_cases 'sr-*'; }
@test "a damaged DAT" { repair_cases 'dat-*'; }

@test "those that are asked for" {
	# shellcheck disable=SC2086
	repair_cases ${REPAIRS-none}
}

@test "the kernel reads and writes what was repaired" {
	kernel_takes_repaired
}
