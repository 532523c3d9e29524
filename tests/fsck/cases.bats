#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Damage of every kind, and what the checker says of it: exactly what the case
# expects.  cases/README tells the language of the .case files.

bats_require_minimum_version 1.5.0
load ../kernel/lab
load cases

setup() {
	need_corpus
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

