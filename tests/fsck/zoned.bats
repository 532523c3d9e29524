#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Zoned block devices: checked like any other, and never written to.

bats_require_minimum_version 1.5.0

guest=$BATS_TEST_DIRNAME/../kernel/guest.sh

setup() {
	local reason

	cd "$BATS_TEST_TMPDIR" || return 1
	reason=$("$guest" --available qemu)
	[ -z "$reason" ] || skip "$reason"
}

@test "a device with zones is checked and not repaired" {
	run "$guest" --backend qemu \
		--zoned size=96,zone_size=4,zone_nr_conv=1 - -- \
		"$NILFS2_BUILD/mkfs/mkfs.nilfs2" \
		"$NILFS2_BUILD/fsck/fsck.nilfs2" <<-'EOF' 2>&1
	try() {
		echo "== $*"
		"$@" 2>&1
		echo "exit $?"
	}
	"$1" -q "$ZONED1"
	try "$2" -fn "$ZONED1"
	# The label, so the checksum of the superblock is wrong.
	printf x | dd of="$ZONED1" bs=1 seek=1200 conv=notrunc status=none
	sync
	sum() { head -c 4M "$ZONED1" | cksum; }
	before=$(sum)
	try "$2" -fy "$ZONED1"
	try "$2" --rollback "$ZONED1"
	[ "$(sum)" = "$before" ] && echo untouched
	EOF
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *": clean, "*$'\nexit 0\n'* ]]
	[[ $output == *"sb-sum: superblock 1: "* ]]
	[[ $output == *"has zones, on which nothing is repaired"*$'\nexit 4\n'* ]]
	[[ $output == *"has zones, on which nothing is repaired"*$'\nexit 8\n'* ]]
	[ "${lines[-1]}" = untouched ]
}
