#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Damage of segment usage and checkpoints, repaired: nothing is left of it, and
# what it does not concern is what it was.  cases/README has the language of
# the .case files.  With REPAIRS_TABLE=FILE, what became of each case is
# written there.

bats_require_minimum_version 1.5.0
load repairs

@test "a damaged checkpoint file" { repair_cases 'cp-*'; }
@test "a damaged segment usage file" { repair_cases 'su-*'; }

@test "the kernel reads and writes what was repaired" {
	kernel_takes_repaired
}
