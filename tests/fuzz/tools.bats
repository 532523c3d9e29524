#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# dump.nilfs2 and gc.nilfs2 on images with any field set to nonsense, checksums
# right: each run ends with a result or a clear error, and no cleaner changes what
# a file holds.  EVERY=1 tries all of it, SEED other ones.

load ../kernel/lab
: "${EVERY:=397}"
load fields

setup_file() {
	need_corpus
	export corpus
}

@test "commands of dump.nilfs2" { damage read special; }
@test "commands of dump.nilfs2, of a volume with many snapshots" {
	damage read many-snapshots-2k
}
@test "jobs of gc.nilfs2" { damage collect many-snapshots-2k; }
@test "jobs of gc.nilfs2, of a volume that was cleaned" {
	damage collect cleaned-1k /other
}
@test "jobs of gc.nilfs2 without a check" { damage unchecked cleaned-1k /other; }
