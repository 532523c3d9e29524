#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The same words and the same time make the same bytes.

bats_require_minimum_version 1.5.0

load mkfs

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	uuid=01234567-89ab-cdef-0123-456789abcdef
}

make() {
	image 64M
	mkfs -q -B 64 "$@" image
	sum
}

@test "SOURCE_DATE_EPOCH and -U" {
	export SOURCE_DATE_EPOCH=1000000000
	first=$(make -U $uuid)
	sleep 1.1
	[ "$(make -U $uuid)" = "$first" ]
	[ "$(make -U clear)" != "$first" ]
	SOURCE_DATE_EPOCH=1000000001
	[ "$(make -U $uuid)" != "$first" ]
}

@test "-P and -U" {
	first=$(make -U $uuid -P 1000000000)
	sleep 1.1
	[ "$(make -U $uuid -P 1000000000)" = "$first" ]
	[ "$(SOURCE_DATE_EPOCH=1000000000 make -U $uuid)" = "$first" ]
}

@test "what was on the image before does not matter" {
	export SOURCE_DATE_EPOCH=1000000000
	first=$(make -U $uuid)
	head -c 64M /dev/zero | tr '\0' x >image
	mkfs -qf -B 64 -U $uuid image
	[ "$(sum)" = "$first" ]
}

@test "one of the two alone is not enough" {
	export SOURCE_DATE_EPOCH=1000000000
	[ "$(make)" != "$(make)" ]
	unset SOURCE_DATE_EPOCH
	first=$(make -U $uuid)
	sleep 1.1
	[ "$(make -U $uuid)" != "$first" ]
}

# Both have the same seed of checksums, so the logs of the first one are valid.
@test "what is made in the place of a longer one ends where it ends" {
	export SOURCE_DATE_EPOCH=1000000000
	mkdir long short
	head -c 3000000 /dev/urandom >long/file
	head -c 2000000 long/file >short/file
	truncate -s 64M image
	for tree in long short; do
		mkfs.nilfs2 -q -f -K -B 16 -U $uuid -d "$tree" image
	done
	run -0 dump.nilfs2 logs -s image
	[[ $output == *logend,sr* ]]
	[[ $output != *newer* ]]
}
