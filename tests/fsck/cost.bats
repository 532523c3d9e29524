#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What a repair reads: not more than a few times what is in use, however much of
# it is lost.  Counted by the kernel, so it is the same on any machine.  A volume is
# checked as a whole before and after a repair, and at most once between.

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
	mkfs.nilfs2 -q --size 256M -d many -d tree many.image
	mkfs.nilfs2 -q -b 1K -B 16 --size 64M -d tree short.image
}

# begin NAME: another of the images.
begin() {
	cp --sparse=always "$BATS_FILE_TMPDIR/$1.image" image
	in_use=$(($(stat -c %b image) * 512))
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

	bytes=$(sh -c 'fsck.nilfs2 -yv image >out 2>&1 || status=$?
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

# checks_are N: whole checks of the repair.
checks_are() {
	local n

	n=$(grep -c ': segments: checking segments$' out)
	[ "$n" -eq "$1" ] || { echo "$n whole checks"; cat out; return 1; }
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
	begin many
	zero 1 1
	repair
	checks_are 2
}

@test "the first MiB is lost" {
	zero 0 256
	repair
	checks_are 2
}

@test "both superblocks are lost, and logs are short" {
	begin short
	dd if=/dev/zero of=image bs=1K seek=1 count=1 conv=notrunc status=none
	dd if=/dev/zero of=image bs=1K seek=$((65536 - 4)) count=1 \
		conv=notrunc status=none
	repair
}

# The checksum of the log proves what it was: it is written as it was checked.
@test "a block of the DAT is lost" {
	begin many
	zero "$(dump.nilfs2 bmap -b image dat |
		awk '$1 == 20 && $NF == "data" { print $5 }')" 1
	repair
	grep -q '^repaired: DAT: .* entries restored' out
	checks_are 2
}

# The entries of blocks in that segment are lost, among them those of inodes, which
# show the damage of their files once they are found.
@test "a block of the DAT and the summary of another segment are lost" {
	begin many
	zero "$(dump.nilfs2 bmap -b image dat |
		awk '$1 == 20 && $NF == "data" { print $5 }')" 1
	zero 2048 1
	repair
	checks_are 7
	cmp <(dump.nilfs2 ls -R image) <(dump.nilfs2 ls -R "$BATS_FILE_TMPDIR/many.image")
}

# No log follows that one, and it is right again: nothing else is written.
@test "a block of the DAT in the latest log is lost" {
	zero "$(dump.nilfs2 bmap -b image dat |
		awk '$1 == 2 && $NF == "data" { print $5 }')" 1
	repair
	grep -q '^repaired: DAT: .* entries restored' out
	checks_are 2
	# All but the superblocks.
	cmp -i 4096 -n $((256 * 1024 * 1024 - 8192)) \
		image "$BATS_FILE_TMPDIR/image"
}

# How many inodes a checkpoint has shows once its entry leads to an ifile; that
# goes into the same log.
@test "the block of the cpfile is lost" {
	zero "$(dump.nilfs2 bmap -b image cpfile |
		awk '$1 == 0 && $NF == "data" { print $5 }')" 1
	repair
	grep -q '^repaired: checkpoint .*: inode count set' out
	checks_are 3
}
