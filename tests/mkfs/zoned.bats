#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Zoned block devices: the stock driver fills a volume of ours and finds
# everything again, and the device never refuses a write.

bats_require_minimum_version 1.5.0

load mkfs
load ../kernel/lab
load ../kernel/parts

# One guest for all.
setup_file() {
	local spec=size=96,zone_size=4,zone_capacity=3,zone_nr_conv=1

	[ -z "$("$lab_dir/guest.sh" --available qemu)" ] || return 0
	mkdir "$BATS_FILE_TMPDIR/parts"
	cd "$BATS_FILE_TMPDIR/parts" || return 1
	sample_tree
	mkfs -q --size 96M --zone-size 4M --zone-capacity 3M v_zone_data.dump
	mv v_zone_data.dump.zones v_zone_info.dump
	parts --timeout 600 --mem 768M \
		--zoned size=48,zone_size=2,zone_nr_conv=1 \
		--zoned size=192,zone_size=8,zone_capacity=3,zone_nr_conv=1 \
		--zoned size=48,zone_size=2,zone_nr_conv=2 \
		--zoned $spec,zone_max_active=3 --zoned $spec \
		--zoned size=96,zone_size=4,zone_nr_conv=0 \
		one_conventional capacity last_conventional restored refusals \
		filled -- "$NILFS2_BUILD/mkfs/mkfs.nilfs2"
}

sample_tree() {
	mkdir -p tree/small
	perl -e 'for my $i (1 .. 100) {
			open my $file, ">", "tree/small/$i" or die;
			print $file pack "C*", map { rand 256 } 1 .. $i * 97;
		}'
	head -c 12000000 /dev/urandom >tree/large
	head -c 3000000 /dev/zero >tree/zeros
}

setup() {
	need_guest qemu
}

# works NAME RECIPE: the part has succeeded, and the kernel had nothing to say but
# recipe A's one complaint.
works() {
	local log=$BATS_TEST_TMPDIR/dmesg

	part "$1" || return
	echo "$dmesg" >"$log"
	if [ "$2" = A ]; then
		sed -i '/broken superblock, retrying with spare/d' "$log"
	fi
	clean_log "$log"
}

guest_side=(remount fill fill_all)

remount() {
	nilfs_umount
	nilfs_mount "$Z"
}

# Files until there is no room, a remount on the way and one in the end, after
# which it stays mounted: at least so many, and all of them as they were.
fill_all() {
	nilfs_mount "$Z"
	fill "$MNT" 0 9 1500000
	cksum "$MNT"/? >/mnt/tmp/sums
	remount
	fill "$MNT" 10 99 1500000
	cksum "$MNT"/?? >>/mnt/tmp/sums
	remount
	cksum "$MNT"/? "$MNT"/?? | diff /mnt/tmp/sums -
	mapfile -t sums </mnt/tmp/sums
	[ ${#sums[@]} -ge "$1" ]
}

one_conventional() {
	Z=$ZONED1
	# Something in the way, at the end too.
	dd if=/dev/urandom of="$Z" bs=1M count=3 status=none
	dd if=/dev/urandom of="$Z" bs=1M seek=46 count=2 oflag=direct \
		status=none
	zbd report "$Z" | grep '^Zone 00023:.* fu,'
	"$1" -q "$Z"
	[ "$(zbd report "$Z" | grep -c ': swr,.* em,')" -eq 23 ]
	fill_all 14
	nilfs_umount
}

@test "one conventional zone" {
	works one_conventional A
}

capacity() {
	Z=$ZONED2
	"$1" -q "$Z"
	fill_all 18
	# Of four segments in a zone one is used, but in zone 0 all.
	[ "$(lssu -a "$Z" | grep -c -- '--e')" -eq $((23 * 3)) ]
	nilfs_umount
}

@test "capacity below size" {
	works capacity A
}

# Drives have conventional zones at the beginning only: the second of two is
# brought to the end.
last_conventional() {
	guest_module dm-mod
	Z=$ZONED3
	zone=$((2 * 2048))
	size=$(blockdev --getsz "$Z")
	printf '%d %d linear %s %d\n' 0 $zone "$Z" 0 \
		$zone $((size - 2 * zone)) "$Z" $((2 * zone)) \
		$((size - zone)) $zone "$Z" $zone |
		dmsetup create --noudevsync zones
	Z=/dev/dm-0
	zbd report "$Z" | grep '^Zone 00023: cnv'
	"$1" -q "$Z"
	fill_all 14
	nilfs_umount
	# s_magic of the second superblock.
	dd if="$Z" bs=512 skip=$((size - 8)) count=1 status=none |
		od -An -tx2 -j6 -N2 | grep -x ' 3434'
}

@test "the last zone conventional" {
	need dmsetup
	works last_conventional B
}

# The kernel appends where the logs of mkfs end, then begins the next zone.
filled() {
	Z=$ZONED4
	tree=$SHARE/tree
	"$1" -fq -d "$tree" "$Z"
	# So few can be active that those after the last are finished.
	zbd report "$Z" >/mnt/tmp/zones
	[ "$(grep -c ' fu,' /mnt/tmp/zones)" -ge 4 ]
	[ "$(grep -c ' o[ie],' /mnt/tmp/zones)" -eq 1 ]
	nilfs_mount "$Z"
	diff -r "$tree" "$MNT"
	filler 1 2000000 >"$MNT/new"
	echo more >>"$MNT/small/17"
	sync -f "$MNT"
	sum=$(cksum "$MNT/new")
	remount
	[ "$(cksum "$MNT/new")" = "$sum" ]
	{ cat "$tree/small/17"; echo more; } | cmp - "$MNT/small/17"
	diff -r -x new -x 17 "$tree" "$MNT"
	nilfs_umount
}

@test "a volume that was filled when it was made" {
	works filled A
}

restored() {
	Z=$ZONED5
	cd "$SHARE"
	zbd restore -d . -f v "$Z"
	nilfs_mount "$Z"
	filler 1 9000000 >"$MNT/file"
	sum=$(cksum "$MNT/file")
	remount
	[ "$(cksum "$MNT/file")" = "$sum" ]
	nilfs_umount
}

@test "an emulated image, restored to a device" {
	works restored A
}

refusals() {
	try() {
		echo "== $*"
		if "$@"; then
			echo made
		fi
	}
	try "$1" -f "$ZONED6"
	try "$1" "$ZONED4"
	try "$1" --zoned=off "$ZONED4"
	try "$1" --zone-size 4M "$ZONED4"
	try "$1" -fn --json --zoned=require "$ZONED4"
}

@test "devices that cannot hold a volume, and contradictions" {
	part refusals
	mapfile -t lines <<<"$output"
	[[ ${lines[1]} == *'first zone is not conventional'* ]]
	[[ ${lines[3]} == *'3 of its 23 sequential zones'* ]]
	[[ ${lines[5]} == *'host-managed'* ]]
	[[ ${lines[7]} == *'block device'* ]]
	[ "${lines[-1]}" = made ]
	grep -q '"max_active": 3' <<<"$output"
	grep -q '"emulated": false' <<<"$output"
}
