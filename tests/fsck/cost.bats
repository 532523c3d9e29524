#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What a repair reads: not more than a few times what is in use, however much of
# it is lost.  Counted by the kernel, so it is the same on any machine.

bats_require_minimum_version 1.5.0

# A file of more than two segments of 8 MiB, beside small ones.
setup_file() {
	cd "$BATS_FILE_TMPDIR" || return 1
	mkdir tree
	head -c 17M /dev/urandom >tree/large
	for n in 1 2 3; do
		head -c 9000 /dev/urandom >"tree/$n"
	done
	mkfs.nilfs2 -q --size 256M -d tree image
	mkdir many
	seq 4000 | split -l 1 -a 3 - many/
	mkfs.nilfs2 -q --size 256M -d many many.image
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	[ -r /proc/self/io ] || skip "the kernel does not count"
	cp --sparse=always image "$BATS_TEST_TMPDIR/image"
	cd "$BATS_TEST_TMPDIR" || return 1
	# All that was written is in use.
	in_use=$(($(stat -c %b image) * 512))
}

# repair: repairs the image; it may read what is in use four times.
repair() {
	local bytes status=0

	bytes=$(sh -c 'fsck.nilfs2 -y image >out 2>&1 || status=$?
		while read -r what n; do
			[ "$what" != rchar: ] || echo "$n"
		done </proc/$$/io
		exit ${status:-0}') || status=$?
	[ "$status" -eq 1 ] || { cat out; return 1; }
	echo "$bytes bytes read, $in_use in use"
	[ "$bytes" -gt "$((in_use / 10))" ]
	[ "$bytes" -le "$((in_use * 4))" ]
	run -0 fsck.nilfs2 -n image
}

# zero BLOCK COUNT
zero() {
	dd if=/dev/zero of=image bs=4096 seek="$1" count="$2" conv=notrunc \
		status=none
}

@test "the summary of a segment is lost" {
	zero 2048 1
	repair
}

# Each of 126 blocks of inodes is compared; their logs, two, are read once.
@test "the summary of a segment with many files is lost" {
	cp --sparse=always "$BATS_FILE_TMPDIR/many.image" image
	in_use=$(($(stat -c %b image) * 512))
	zero 1 1
	repair
}

@test "the first MiB is lost" {
	zero 0 256
	repair
}
