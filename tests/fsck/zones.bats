#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Zones of image files: what is wrong with them is found, and repaired by writes
# that keep to the rules.  zbd(8) shows what became of the zones.

bats_require_minimum_version 1.5.0

load zonefile

setup() {
	zones_setup
}

# finds SLUG...: -n finds these and nothing else, and changes nothing.
finds() {
	local before

	before=$(cat image image.zones | cksum)
	run -4 fsck.nilfs2 -fn image
	[ "$(cut -d: -f1 <<<"$output" | grep -- - | sort -u | xargs)" = "$*" ]
	[ "$(cat image image.zones | cksum)" = "$before" ]
}

# repairs OPTION...: what was found is repaired, and the files are the same.
repairs() {
	run -1 fsck.nilfs2 "$@" image
	run -0 fsck.nilfs2 -fn image
	! grep -qE '^[a-z]+-[a-z-]+: ' <<<"$output" || return
	rm -rf out
	mkdir out
	dump.nilfs2 export image out
	diff -r tree out
}

latest() {
	dump.nilfs2 info --json image | gojq .superblocks[0].s_last_pseg
}

@test "a clean volume has nothing wrong with its zones" {
	for options in '' '--conventional-zones 2+1' '--zone-capacity 3M'; do
		# shellcheck disable=SC2086
		volume $options
		run -0 fsck.nilfs2 -fn image
		[ "${#lines[@]}" -eq 1 ]
		[[ $output == "image: clean, "* ]]
	done
}

@test "a torn tail: the next log begins another zone" {
	volume
	append 2 3
	finds zone-last-log
	torn=$(zone 2 wp)
	repairs -p
	[ "$(zone 2 wp)" -eq "$torn" ]
	[ "$(latest)" -eq $((3 * blocks)) ]
	[ "$(zone 3 wp)" -gt $((3 * blocks)) ]
}

@test "the zone of the next segment is emptied, with a torn tail or without" {
	volume
	append 3 5
	finds zone-next
	before=$(latest)
	repairs -p
	[ "$(zone 3 condition)" = em ]
	[ "$(latest)" -eq "$before" ]
	append 3 5
	append 2 1
	finds zone-last-log zone-next
	repairs -y
	[ "$(latest)" -eq $((3 * blocks)) ]
}

# The state of a volume whose segments were freed by a mounted kernel: at boot,
# where what was unmounted is taken for clean, too.
@test "zones of clean segments are emptied" {
	volume
	for n in 5 23; do
		put_noise image $((n * bytes)) $bytes
		set_zone $n 0 $full
	done
	finds zone-clean
	repairs -p
	for n in 5 23; do
		[ "$(zone $n condition)" = em ]
		cmp -n $bytes -i $((n * bytes)):0 image /dev/zero
	done
}

# What the SUFILE calls clean is not emptied where the DAT has blocks in it.
@test "a segment that only looks clean keeps its zone" {
	volume
	dump.nilfs2 set --expert --fix-checksums image segment:1 su_flags=0
	run -4 fsck.nilfs2 -fn image
	[[ $output == *su-clean-holds* ]]
	[[ $output != *zone-clean* ]]
	repairs -y
	[ "$(zone 1 condition)" = fu ]
}

# As the file beside an image is after a mount, which does not know it.
@test "write pointers before what is in use" {
	volume
	set_zone 1 $((bytes + 40960)) $closed
	set_zone 2 $((2 * bytes + 40960)) $closed
	finds zone-behind zone-last-log
	repairs -y
	[ "$(zone 1 condition)" = fu ]
	[ "$(latest)" -eq $((3 * blocks)) ]
}

@test "segments in zones that cannot be written to" {
	for n in 2 3 7; do
		volume
		set_zone $n 0 $offline
		finds zone-unwritable
		repairs -y
		[ "$(zone $n condition)" = ol ]
		dump.nilfs2 segments image | grep -qE "^ +$n +[a-z-]*e"
	done
}

@test "too many active zones are finished" {
	volume
	for n in 8 9; do
		set_zone $n $((n * bytes + 4096)) $closed
	done
	# max_nr_active_zones: the two, and zone 2.
	perl -e 'open F, "+<", "image.zones"; seek F, 84, 0;
		 print F pack("L<", 3)'
	finds zone-active zone-clean
	repairs -y
	[ "$(zbd report -ro cl image.zones | grep -c swr)" -eq 1 ]
}

# Of a zone of less capacity than its size only one segment can be used.
@test "the second segment of a zone is marked" {
	volume --zone-capacity 3M
	dump.nilfs2 set --expert --fix-checksums image segment:5 su_flags=0
	run -4 fsck.nilfs2 -fn image
	[[ $output == *"zone-shared: segment 5: "* ]]
	repairs -y
}

# A repair of several logs, on zones of which the next ones are not empty.
@test "other damage is repaired in keeping with the zones" {
	volume
	append 3 4
	append 4 4
	dump.nilfs2 set --expert --fix-checksums image inode:/large i_links_count=5
	run -4 fsck.nilfs2 -fn image
	[[ $output == *inode-links-names* ]]
	repairs -y
	volume
	at=$(zone 2 wp)
	run -1 fsck.nilfs2 --rollback=1 image
	run -0 fsck.nilfs2 -fn image
	[ "$(latest)" -eq "$at" ]
}

@test "no undo files on zones" {
	volume
	append 2 3
	before=$(cat image image.zones | cksum)
	run -8 fsck.nilfs2 -y --undo-file undo image
	[[ $output == *"restored in place"* ]]
	run -8 fsck.nilfs2 --undo undo image
	[[ $output == *"restored in place"* ]]
	[ "$(cat image image.zones | cksum)" = "$before" ]
	[ ! -e undo ]
}

@test "where the zones cannot be determined nothing is repaired" {
	volume
	: >image.zones
	before=$(cksum <image)
	run -0 fsck.nilfs2 -fy image
	[[ $output == *"zones are not checked"* ]]
	run -8 fsck.nilfs2 --rollback=1 image
	[ "$(cksum <image)" = "$before" ]
}
