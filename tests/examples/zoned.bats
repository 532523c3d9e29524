#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The example of a zoned device, on one that the kernel emulates.

bats_require_minimum_version 1.5.0
load ../kernel/lab

@test "zoned device: full, cleaned, full again" {
	need_guest qemu
	cd "$BATS_TEST_TMPDIR" || return 1
	ln -s "$NILFS2_SOURCE/examples" examples
	: >none.img && truncate -s 1M none.img
	guest --backend qemu --timeout 900 --mem 768M \
		--zoned size=96,zone_size=4,zone_nr_conv=1 none.img <<-SCRIPT
	PATH=$NILFS2_BUILD/mkfs:$NILFS2_BUILD/fsck:$NILFS2_BUILD/gc:\$PATH
	mkdir -p "\$MNT"
	$NILFS2_SOURCE/examples/zoned-cycle.sh "\$ZONED1" "\$MNT"
	SCRIPT
	echo "$output"
	echo "$errors"
	[ "$status" -eq 0 ]
	first=$(sed -n 's/^first: full with \([0-9]*\) files$/\1/p' <<<"$output")
	second=$(sed -n 's/^second: full with \([0-9]*\) files$/\1/p' <<<"$output")
	# At least half of the device; then what was deleted fits again, but for
	# one file: all metadata was written again.
	[ "$first" -ge 10 ]
	[ "$second" -ge $((first / 2 - 1)) ]
	! grep -E 'I/O error|nilfs.*error' <<<"$dmesg"
}
