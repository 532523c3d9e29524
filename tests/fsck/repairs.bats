#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Damage of every kind, repaired: nothing is left of it, and what it does not
# concern is what it was.  cases/README tells the language of the .case files.
# With REPAIRS_TABLE=FILE, what became of each case is written there; REPAIRS is
# a list of patterns of names, for "bats --filter 'those that'".

bats_require_minimum_version 1.5.0
load ../kernel/lab
load cases
load repairs
load repairs_kernel

setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
}

@test "damaged superblocks" { repair_cases 'sb-*'; }
@test "damaged logs" { repair_cases 'log-*'; }
@test "damaged super roots" { repair_cases 'sr-*'; }
@test "damaged block maps" { repair_cases 'bmap-*'; }
@test "a damaged DAT" { repair_cases 'dat-*'; }
@test "damaged allocators" { repair_cases 'palloc-*'; }
@test "a damaged checkpoint file" { repair_cases 'cp-*'; }
@test "a damaged segment usage file" { repair_cases 'su-*'; }
@test "damaged inodes" { repair_cases 'inode-*'; }
@test "damaged directories" { repair_cases 'dir-*'; }

@test "those that are asked for" {
	# shellcheck disable=SC2086
	repair_cases ${REPAIRS-none}
}

@test "the kernel reads and writes what was repaired" {
	need_guest uml
	kernel_takes "$BATS_FILE_TMPDIR/repaired"
}
