#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Damage of block maps and directories, repaired: nothing is left of it, and
# what it does not concern is what it was.  cases/README has the language of
# the .case files.  With REPAIRS_TABLE=FILE, what became of each case is
# written there.

bats_require_minimum_version 1.5.0
load repairs

@test "damaged block maps" { repair_cases 'bmap-*'; }
@test "damaged directories" { repair_cases 'dir-*'; }

@test "the kernel reads and writes what was repaired" {
	kernel_takes_repaired
}
