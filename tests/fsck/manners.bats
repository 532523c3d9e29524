#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The manners of fsck.nilfs2: what its callers at boot rely on.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

@test "a new volume is clean, and not changed" {
	mkfs.nilfs2 -q --size 16M -B 64 image
	before=$(cksum <image)
	run -0 fsck.nilfs2 -n image
	[[ ${lines[-1]} == "image: clean"* ]]
	[ "$(cksum <image)" = "$before" ]
}

@test "an image that is none has errors" {
	truncate -s 2M zeros
	run -4 fsck.nilfs2 -n zeros
	[[ $output == *"sb-magic: "* ]]
}
