#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# dump.nilfs2, gc.nilfs2 and mkfs.nilfs2 --add on images with any field set to nonsense,
# checksums right: each run ends with a result or a clear error, and nothing changes what
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

# layer: what is added, of names that the images do not have.
layer() {
	mkdir -p "$BATS_TEST_TMPDIR/layer/added"
	seq 2000 >"$BATS_TEST_TMPDIR/layer/added/numbers"
	ln -s numbers "$BATS_TEST_TMPDIR/layer/added/link"
}

@test "layers added by mkfs.nilfs2" { layer; damage add many-snapshots-2k; }
@test "layers added by mkfs.nilfs2, to a volume that was cleaned" {
	layer
	damage add cleaned-1k
}
