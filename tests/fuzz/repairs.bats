#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Repairs of volumes where any field of any structure is set to what it should
# not be: what can be repaired is, nothing becomes worse (repairing.h), and files
# that nothing was found of stay what they were (untouched.h).  EVERY=1 tries
# all of it, which takes hours; SEED other ones.

load ../kernel/lab
: "${EVERY:=197}"
load fields

setup_file() {
	need_corpus
	export corpus
}

@test "repairs of a volume with every type of file" { damage repair special; }
@test "repairs of a volume with snapshots" { damage repair snapshots; }
