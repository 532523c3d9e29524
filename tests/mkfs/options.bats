#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What each option of mkfs.nilfs2 does to the bytes of the superblock.  Its
# fields are looked at by their offsets from the beginning of the device.

bats_require_minimum_version 1.5.0

load mkfs

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	image 128M
}

@test "-b and --block-size: the exponent" {
	for spec in 1024:00 2048:01 4096:02 8192:03 16384:04 32768:05 65536:06
	do
		image 128M
		mkfs -q -B 16 -b "${spec%:*}" image 2>err
		[ "$(field 1044 4)" = "${spec#*:}000000" ]
	done
	image 128M
	mkfs -q -B 64 --block-size 2K image
	[ "$(field 1044 4)" = 01000000 ]
}

@test "a block larger than a page is warned of" {
	run --separate-stderr mkfs -q -B 16 -b 65536 image
	[ "$status" -eq 0 ]
	[[ $stderr == *"cannot be mounted here"* ]] ||
		[ "$(getconf PAGESIZE)" -ge 65536 ]
	image 128M
	run --separate-stderr mkfs -q -B 16 image
	[ -z "$stderr" ]
}

@test "-B and --blocks-per-segment" {
	mkfs -q -B 256 image
	[ "$(field 1072 4)" = 00010000 ]
	mkfs -qf --blocks-per-segment 16 image
	[ "$(field 1072 4)" = 10000000 ]
}

@test "-m and --reserved" {
	mkfs -q -B 64 image
	[ "$(field 1076 4)" = 05000000 ]
	mkfs -qf -B 64 -m 17 image
	[ "$(field 1076 4)" = 11000000 ]
	mkfs -qf -B 64 --reserved 1 image
	[ "$(field 1076 4)" = 01000000 ]
}

@test "-L and --label, up to 80 bytes" {
	mkfs -q -B 64 -L abc image
	[ "$(field 1192 4)" = 61626300 ]
	label=$(printf '%080d' 7)
	mkfs -qf -B 64 --label "$label" image
	[ "$(dd if=image bs=1 skip=1192 count=80 status=none)" = "$label" ]
	refused 1 'more than 80' -f -B 64 -L "${label}x" image
}

@test "-O and --features" {
	mkfs -q -B 64 image
	[ "$(field 1280 24)" = 000000000000000001000000000000000000000000000000 ]
	mkfs -qf -B 64 -O none image
	[ "$(field 1280 24)" = 000000000000000000000000000000000000000000000000 ]
	mkfs -qf -B 64 -O ^block_count image
	[ "$(field 1288 8)" = 0000000000000000 ]
	mkfs -qf -B 64 --features sufile_live_blks_ext image
	[ "$(field 1280 16)" = 01000000000000000100000000000000 ]
	refused 1 "unknown feature 'foo'" -f -B 64 -O block_count,foo image
}

@test "-U and --uuid" {
	uuid=01234567-89ab-cdef-0123-456789ABCDEF
	mkfs -q -B 64 -U $uuid image
	[ "$(field 1176 16)" = 0123456789abcdef0123456789abcdef ]
	mkfs -qf -B 64 --uuid clear image
	[ "$(field 1176 16)" = 00000000000000000000000000000000 ]
	mkfs -qf -B 64 -U random image
	first=$(field 1176 16)
	[ "${first:12:1}" = 4 ]
	mkfs -qf -B 64 image
	[ "$(field 1176 16)" != "$first" ]
	mkfs -qf -B 64 -U time image
	second=$(field 1176 16)
	[ "${second:12:1}" = 1 ]
	refused 1 'not a UUID' -f -B 64 -U 0123 image
}

@test "-P and --creation-time set every time" {
	mkfs -q -B 64 -P 1234567890 image
	[ "$(field 1112 8)" = d202964900000000 ]
	[ "$(field 1128 8)" = d202964900000000 ]
	[ "$(field 1144 8)" = d202964900000000 ]
	SOURCE_DATE_EPOCH=5 mkfs -qf -B 64 --creation-time 7 image
	[ "$(field 1112 8)" = 0700000000000000 ]
	SOURCE_DATE_EPOCH=5 mkfs -qf -B 64 image
	[ "$(field 1112 8)" = 0500000000000000 ]
}

@test "without either the time is now" {
	before=$(date +%s)
	mkfs -q -B 64 image
	then=$(od -An -td8 -j 1112 -N 8 image)
	[ "$then" -ge "$before" ]
	[ "$then" -le "$(date +%s)" ]
}

@test "-n and --dry-run write nothing and print the same" {
	before=$(state_of image)
	run mkfs -n -B 64 -U clear -P 5 image
	[ "$status" -eq 0 ]
	[ "$before" = "$(state_of image)" ]
	[[ $output == *"Segments:"*511* ]]
	mkfs --dry-run --json -B 64 -U clear -P 5 image >dry
	mkfs --json -B 64 -U clear -P 5 image >wet
	[ "$(sed 's/"written": *false/"written": true/' dry)" = \
	  "$(sed 's/"written": *true/"written": true/' wet)" ]
	run cmp -s dry wet
	[ "$status" -eq 1 ]
}

@test "-K keeps the blocks of an image, without it they are freed" {
	noise() { dd if=/dev/urandom of=image bs=1M seek=16 count=8 \
		conv=notrunc status=none; }
	noise
	mkfs -q -K -B 64 image
	[ "$(du -k image | cut -f1)" -ge 8192 ]
	mkfs -qf --keep -B 64 image
	[ "$(du -k image | cut -f1)" -ge 8192 ]
	mkfs -qf -B 64 image
	[ "$(du -k image | cut -f1)" -le 64 ]
}

@test "-c reads, -cc writes, neither harms the volume" {
	export SOURCE_DATE_EPOCH=5
	mkfs -q -B 64 -U clear image
	want=$(sum)
	image 128M
	mkfs -q -c -B 64 -U clear image
	[ "$(sum)" = "$want" ]
	mkfs -qf --check --check -B 64 -U clear image
	[ "$(sum)" = "$want" ]
	[ "$(du -k image | cut -f1)" -le 64 ]
}

@test "--size creates, enlarges, never shrinks" {
	rm image
	refused 1 'image: does not exist; --size makes' -q -B 64 image
	mkfs -q -B 64 --size 64M image
	[ "$(stat -c %s image)" -eq $((64 << 20)) ]
	mkfs -qf -B 64 --size 64M image
	mkfs -qf -B 64 --size 100M image
	[ "$(stat -c %s image)" -eq $((100 << 20)) ]
	refused 1 'not made smaller' -f -B 64 --size 99M image
	: >image
	mkfs -q -B 64 --size 64M image
	[ "$(stat -c %s image)" -eq $((64 << 20)) ]
}

@test "--size leaves no file after where it is refused" {
	rm image
	refused 1 'too small' --size 1M image
	[ ! -e image ]
	mkfs -qn -B 64 --size 64M image
	[ ! -e image ]
	truncate -s 1M image
	refused 1 'too small' --size 2M image
	[ "$(stat -c %s image)" -eq $((1 << 20)) ]
}

@test "a fresh image takes few pages whatever its size" {
	image 8T || skip "no files of 8 TiB here"
	mkfs -q image
	[ "$(du -k image | cut -f1)" -le 64 ]
}

@test "-q is silent, --json is one document" {
	run mkfs -q -B 64 image
	[ -z "$output" ]
	need gojq
	mkfs -qf --json -B 64 -L 'a"b' -O none image >json
	gojq -e '.volume | .s_nsegments == 511 and .s_volume_name == "a\"b" and
		.written == true and .features == "none" and
		.block_size == 4096' json
}

@test "-h, --help, -V, --version" {
	for option in -h --help -V --version; do
		run -0 mkfs $option
		[[ $output == *mkfs.nilfs2* ]]
	done
}

@test "on a terminal nothing is said of what is not under way" {
	need script
	run script -qec "$NILFS2_BUILD/mkfs/mkfs.nilfs2 --size 16M -B 64 new" \
		/dev/null </dev/null
	echo "$status: $output"
	[[ $output == *"New volume"* && $output != *"(null)"* ]]
}
