#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Repairs of volumes on zones that are interrupted, wherever they are: files are
# as before or as a whole repair leaves them, what is wrong with zones then is
# repaired by a second one, and nothing is ever written but at write pointers.

bats_require_minimum_version 1.5.0

load ../fsck/zonefile

setup() {
	zones_setup
	volume
}

damage() {
	dump.nilfs2 set --expert --fix-checksums image "$@" >/dev/null
}

# cut_repairs SLUG...: of an image with these findings, among others; it is not
# changed by that.
cut_repairs() {
	local before slug

	before=$(cat image image.zones | cksum)
	run -4 fsck.nilfs2 -fn image
	for slug; do
		grep "^$slug: " <<<"$output"
	done
	run "$NILFS2_BUILD/tests/crash/cutrepair" image
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *" 0 bad" ]]
	[[ $output != *" 0 old, 0 new, "* ]]
	[ "$(cat image image.zones | cksum)" = "$before" ]
}

@test "a torn tail, and the next zone not empty" {
	append 2 3
	append 3 5
	cut_repairs zone-last-log zone-next
}

@test "zones of clean segments that are not empty" {
	for n in 5 6 23; do
		put_noise image $((n * bytes)) $bytes
		set_zone $n 0 $full
	done
	cut_repairs zone-clean
}

@test "a zone that is offline" {
	set_zone 3 0 $offline
	cut_repairs zone-unwritable
}

@test "write pointers before what is in use" {
	set_zone 1 $((bytes + 40960)) $closed
	set_zone 2 $((2 * bytes + 40960)) $closed
	cut_repairs zone-behind zone-last-log
}

@test "a link count, with zones in the way" {
	append 3 4
	append 4 4
	damage inode:/large i_links_count=5
	cut_repairs inode-links-names
}

@test "the DAT and the SUFILE" {
	damage segment:1 su_flags=0
	damage dat:1 de_end=1
	cut_repairs su-clean-holds
}

@test "a wrong number in a log, in a full zone and in that of the latest log" {
	local at from

	for n in 1 2; do
		at=$(dump.nilfs2 bmap -b image /large | awk -v n=$n '
			$NF == "data" && int($5 / '$blocks') == n {
				print $5; exit }')
		from=$(dump.nilfs2 logs -s image | awk -v at="$at" '
			NR > 1 && $2 <= at { from = $2 } END { print from }')
		damage "binfo:$from/$((at - from))" bi_vblocknr=1
	done
	cut_repairs log-unlisted
}
