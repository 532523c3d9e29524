#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The checker against every field of every structure, set to what it should not
# be: each run ends with a verdict or a clear error.  EVERY=1 tries all of it,
# which takes an hour; SEED other ones.

load ../kernel/lab
load fields

setup_file() {
	need_corpus
	export corpus
}

@test "fields of a volume that was cleaned" { damage check cleaned-1k /other; }
@test "fields of a volume with snapshots" { damage check snapshots; }
@test "fields of a volume with many snapshots" {
	damage check many-snapshots-2k
}
@test "fields of a volume with every type of file" { damage check special; }
@test "nodes of metadata files" { damage_nodes check cleaned; }
