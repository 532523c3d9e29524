#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A sample of "make check-odd": volumes by workloads that the corpus does not have.

bats_require_minimum_version 1.5.0
load ../kernel/lab

# mapped has logs of fdatasync() before those of its checkpoints.
@test "a check finds nothing, and a rebuild changes nothing, of memory maps and open files" {
	need_guest uml
	run -0 "$BATS_TEST_DIRNAME/odd.sh" mapped open
	[[ $output == *$'\nmapped '* ]]
}
