#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Zones of image files: what the options say is what zbd(8) reports, and the
# image is an ordinary volume.

bats_require_minimum_version 1.5.0

load mkfs

guest=$BATS_TEST_DIRNAME/../kernel/guest.sh

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

# plan_field NAME [MKFS-OPTION...]: a field of the plan.
plan_field() {
	local name=$1

	shift
	mkfs -n --json "$@" image | sed -n "s/^ *\"$name\": \\(.*[^,]\\),*\$/\\1/p"
}

@test "the file beside the image is what zbd reports" {
	need zbd
	mkfs -q --size 192M --zone-size 8M --zone-capacity 6M \
		--conventional-zones 2+1 image
	zbd report image.zones >report
	[ "$(grep -c '^Zone' report)" -eq 24 ]
	[ "$(grep -c ': cnv, ' report)" -eq 3 ]
	grep -q '^Zone 00001: cnv, ofst 0*8388608, len 0*8388608' report
	grep -q '^Zone 00023: cnv, ' report
	[ "$(grep -c 'swr.* cap 0*6291456, .* em, ' report)" -eq 21 ]
}

# Zones as long as the default segment, and recipe B, are the usual layout.
@test "with the last zone conventional the bytes are those without zones" {
	export SOURCE_DATE_EPOCH=1700000000
	mkfs -q -U clear --size 256M --zone-size 8M --conventional-zones 1+1 \
		image
	mv image zoned
	rm image.zones
	mkfs -q -U clear --size 256M image
	cmp image zoned
}

@test "the kernel uses the image as any other" {
	reason=$("$guest" --available uml)
	[ -z "$reason" ] || skip "$reason"
	mkfs -q --size 128M --zone-size 4M --zone-capacity 3M image
	run "$guest" --dmesg dmesg - image <<-'EOF'
	set -e
	nilfs_mount "$DEV1"
	# 64 segments of 512 blocks; 31 have the flag, two are in use.
	[ "$(stat -f -c %f "$MNT")" -eq $((31 * 512)) ]
	filler 1 9000000 >"$MNT/file"
	sync
	[ "$(lssu -a "$DEV1" | grep -c -- '--e')" -eq 31 ]
	nilfs_umount
	nilfs_mount "$DEV1"
	filler 1 9000000 | cmp - "$MNT/file"
	lssu -a "$DEV1" | awk '$1 % 2 && $1 > 1 && $5 > 0 { exit 1 }'
	nilfs_umount
	EOF
	echo "$output"
	[ "$status" -eq 0 ]
}

# Flags past the first block of the sufile, zones of every kind, and each write
# held to the rules, whichever worker writes.
@test "a filled volume keeps to the zones, with any number of workers" {
	mkdir -p tree/small
	for i in {1..150}; do
		head -c $((i * 197)) /dev/urandom >"tree/small/$i"
	done
	head -c 9000000 /dev/urandom >tree/large
	export SOURCE_DATE_EPOCH=1700000000
	for options in \
		'--size 64M --zone-size 4M' \
		'--size 256M --zone-size 4M --zone-capacity 520K' \
		'--size 64M --zone-size 1M --conventional-zones 3+2 -b 1024' \
		'--size 128M --zone-size 2M --zone-capacity 1300K --collect 20'
	do
		for workers in 1 4; do
			rm -f image image.zones
			# shellcheck disable=SC2086
			mkfs -q -U clear -j $workers -d tree $options image
			sum >sum$workers
			cat image.zones >zones$workers
		done
		cmp sum1 sum4
		cmp zones1 zones4
		rm -rf out
		mkdir out
		dump.nilfs2 export image out
		diff -r tree out
	done
}

@test "the zones stay until they are described again or ignored" {
	image 256M
	[ "$(plan_field zones)" = '' ]
	mkfs -q --zone-size 4M image
	[ "$(plan_field zone_size -f)" = 4194304 ]
	[ "$(plan_field zone_size -f --zone-size 8M)" = 8388608 ]
	[ "$(plan_field zone_size -f --zoned=off)" = '' ]
	[ "$(plan_field s_blocks_per_segment -f --zoned=off)" = 2048 ]
	mkfs -qf image
	[ "$(plan_field s_nsegments -f)" = 64 ]
	truncate -s 260M image
	refused 1 'image.zones' -f image
	rm image.zones
	: >image.zones
	refused 1 'truncated' -f image
}

@test "an emulated format wipes what was there" {
	image 64M
	tr '\0' '\377' </dev/zero | dd of=image bs=1M count=64 \
		iflag=fullblock conv=notrunc status=none
	mkfs -qf -K --zone-size 2M image
	# Both superblock places, and the zones, which a reset empties.
	[ "$(field $((64 * 1048576 - 4096)) 16)" = "$(printf '%032d' 0)" ]
	cmp -n $((62 * 1048576)) -i $((2 * 1048576)):0 image /dev/zero
	[ "$(blkid -p -o value -s TYPE image)" = nilfs2 ]
}

@test "a dry run makes neither image nor file of zones" {
	mkfs -nq --size 256M --zone-size 8M image
	[ ! -e image ]
	[ ! -e image.zones ]
	image 256M
	mkfs -nq --zone-size 8M image
	[ ! -e image.zones ]
}

@test "a format that fails leaves no image behind" {
	mkdir image.zones
	run mkfs -q --size 256M --zone-size 8M image
	[ "$status" -eq 1 ]
	[[ $output == *image.zones* ]]
	[ ! -e image ]
}

@test "options that do not fit" {
	image 64M
	refused 1 'has no zones' --zoned=require image
	refused 1 'not with' --zoned=off --zone-size 2M image
	refused 1 'needs --zone-size' --zone-capacity 8M image
	refused 1 'needs --zone-size' --conventional-zones 1 image
	refused 1 'no whole zones' --zone-size 128M image
	refused 1 'power of 2' --zone-size 3M --size 66M image
	refused 1 'capacity' --zone-size 2M --zone-capacity 3M image
	refused 1 'first zone is not conv' --zone-size 2M \
		--conventional-zones 0+1 image
	refused 1 'conventional' --zone-size 2M --conventional-zones 20+20 \
		image
	refused 1 '16 are needed' --zone-size 8M image
	refused 1 '--blocks-per-segment' -B 1024 --zone-size 2M image
	refused 1 '--check' -cc --zone-size 2M image
	refused 1 '--zoned' --zoned=maybe image
	refused 1 '--size' --zone-size 2M --size auto image
	[ ! -e image.zones ]
}

@test "no link and no other file takes the place of the file of zones" {
	local zones=(--zone-size 8M --size 192M)

	echo mine >mine
	ln -s mine image.zones
	run -1 mkfs -q -f "${zones[@]}" image
	[[ $output == *"image.zones: is a symbolic link"* ]]
	rm image.zones
	ln mine image.zones
	run -1 mkfs -q -f "${zones[@]}" image
	[[ $output == *"image.zones: "*"is not a file of zones; rename it" ]]
	[ "$(cat mine image.zones)" = $'mine\nmine' ]
	[ ! -e image ]
	# One that is truncated, or of other zones, is described again, as a new file.
	rm image.zones
	: >image.zones
	mkfs -q "${zones[@]}" image
	ln image.zones older
	mkfs -q -f --zone-size 4M image
	run ! cmp -s image.zones older
	[ "$(ls -A)" = $'image\nimage.zones\nmine\nolder' ]
	# Nor is a link followed by what only uses the zones.
	mv image.zones real
	ln -s real image.zones
	sum=$(cksum image real)
	run -1 mkfs -q -f image
	[[ $output == *"image.zones: is a symbolic link"* ]]
	run -1 gc.nilfs2 image
	[[ $output == *"image.zones: is a symbolic link"* ]]
	[ "$(cksum image real)" = "$sum" ]
}
