#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Jobs that write, with some of their calls failing and some power cuts: all of
# them are for "make check-long".

bats_require_minimum_version 1.5.0

@test "every job is done, or leaves what was there and says so" {
	run "$BATS_TEST_DIRNAME/jobs.sh" -m 2
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "shrinking says so if a failed read leaves more than the smallest size" {
	run "$BATS_TEST_DIRNAME/jobs.sh" -k read shrink-min
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "no loss is left out of the account for lack of memory" {
	# The account is the last thing before the commit.
	run "$BATS_TEST_DIRNAME/jobs.sh" -t 60 -k memory repair-lossy
	echo "$output"
	[ "$status" -eq 0 ]
}
