#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Half of the jobs that write, with some of their calls failing and some power cuts:
# all of them are for "make check-long".

bats_require_minimum_version 1.5.0

# jobs -mMOST -oN ARGUMENT...: jobs.sh, without these limits if EVERY is set.
jobs() {
	[ -z "${EVERY-}" ] || set -- "${@:3}"
	run -0 "$BATS_TEST_DIRNAME/jobs.sh" "$@"
	echo "$output"
}

@test "every job is done, or leaves what was there and says so" {
	jobs -m2 -o2
	[ "${#lines[@]}" -gt 50 ]
}

@test "shrinking says so if a failed read leaves more than the smallest size" {
	jobs -m40 -o1 -k read shrink-min
}
