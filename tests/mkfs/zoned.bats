#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Zoned block devices: the stock driver fills a volume of ours and finds
# everything again, and the device never refuses a write.

bats_require_minimum_version 1.5.0

load mkfs

guest=$BATS_TEST_DIRNAME/../kernel/guest.sh

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	reason=$("$guest" --available qemu)
	[ -z "$reason" ] || skip "$reason"
}

# on_device SPEC RECIPE <SCRIPT: SCRIPT must succeed on a device $Z, and the
# kernel must have nothing to say but recipe A's one complaint.
on_device() {
	{ echo 'set -e; Z=$ZONED1'; again; cat; } >script
	run "$guest" --backend qemu --timeout 600 --zoned "$1" --dmesg dmesg \
		script -- "$NILFS2_BUILD/mkfs/mkfs.nilfs2"
	echo "$output"
	[ "$status" -eq 0 ] || return
	if [ "$2" = A ]; then
		sed -i '/broken superblock, retrying with spare/d' dmesg
	fi
	clean_log dmesg
}

# Files until there is no room, a remount on the way and one in the end: at least
# so many, and all of them as they were.
fill() {
	cat <<-'EOF'
	find_zone() { zbd report "$Z" | sed -n "s/^Zone 0*$1: //p"; }
	fill() {
		nilfs_mount "$Z"
		local i=0
		while { filler "$i" 1500000 >"$MNT/$i" &&
			sync -f "$MNT"; } 2>/dev/null; do
			cksum "$MNT/$i" >>/mnt/tmp/sums
			i=$((i + 1))
			[ "$i" -ne 20 ] || remount
		done
		rm -f "$MNT/$i"
		sync -f "$MNT"
		echo "$i files"
		[ "$i" -ge "$1" ]
		again
		remount
		again
		flagged=$(lssu -a "$Z" | grep -c -- '--e') || :
		nilfs_umount
	}
	remount() {
		nilfs_umount
		nilfs_mount "$Z"
	}
	EOF
}

# Files are what they were: sha256sum takes ten times as long where each instruction
# is emulated.
again() {
	echo 'again() { cut -d" " -f3 /mnt/tmp/sums | xargs cksum |'
	echo '	diff /mnt/tmp/sums -; }'
}

@test "one conventional zone" {
	{
		fill
		cat <<-'EOF'
		# Something in the way, at the end too.
		dd if=/dev/urandom of="$Z" bs=1M count=3 status=none
		dd if=/dev/urandom of="$Z" bs=1M seek=92 count=4 oflag=direct \
			status=none
		find_zone 23 | grep ' fu,'
		"$1" -q "$Z"
		[ "$(zbd report -ro em "$Z" | grep -c swr)" -eq 23 ]
		fill 28
		EOF
	} | on_device size=96,zone_size=4,zone_nr_conv=1 A
}

@test "capacity below size" {
	{
		fill
		cat <<-'EOF'
		"$1" -q "$Z"
		fill 18
		# Of four segments in a zone one is used, but in zone 0 all.
		[ "$flagged" -eq $((23 * 3)) ]
		EOF
	} | on_device size=192,zone_size=8,zone_capacity=3,zone_nr_conv=1 A
}

# Drives have conventional zones at the beginning only: the second of two is
# brought to the end.
@test "the last zone conventional" {
	need dmsetup
	{
		fill
		cat <<-'EOF'
		guest_module dm-mod
		zone=$((4 * 2048))
		size=$(blockdev --getsz "$Z")
		dmsetup create --noudevsync zones <<-TABLE
		0 $zone linear $Z 0
		$zone $((size - 2 * zone)) linear $Z $((2 * zone))
		$((size - zone)) $zone linear $Z $zone
		TABLE
		Z=/dev/dm-0
		find_zone 23 | grep '^cnv'
		"$1" -q "$Z"
		fill 28
		# s_magic of the second superblock.
		dd if="$Z" bs=512 skip=$((size - 8)) count=1 status=none |
			od -An -tx2 -j6 -N2 | grep -x ' 3434'
		EOF
	} | on_device size=96,zone_size=4,zone_nr_conv=2 B
}

# The kernel appends where the logs of mkfs end, then begins the next zone.
@test "a volume that was filled when it was made" {
	mkdir -p tree/small
	for i in {1..100}; do
		head -c $((i * 97)) /dev/urandom >"tree/small/$i"
	done
	head -c 12000000 /dev/urandom >tree/large
	head -c 3000000 /dev/zero >tree/zeros
	{
		echo "tree=$PWD/tree"
		cat <<-'EOF'
		"$1" -fq -d "$tree" "$Z"
		# So few can be active that those after the last are finished.
		[ "$(zbd report "$Z" | grep -c ' fu,')" -ge 4 ]
		[ "$(zbd report "$Z" | grep -c ' o[ie],')" -eq 1 ]
		nilfs_mount "$Z"
		diff -r "$tree" "$MNT"
		filler 1 2000000 >"$MNT/new"
		echo more >>"$MNT/small/17"
		sync -f "$MNT"
		(cd "$MNT" && find . -type f -exec cksum {} +) \
			>/mnt/tmp/sums
		nilfs_umount
		nilfs_mount "$Z"
		(cd "$MNT" && again)
		nilfs_umount
		EOF
	} >append
	on_device size=96,zone_size=4,zone_capacity=3,zone_nr_conv=1,zone_max_active=3 \
		A <append
}

@test "an emulated image, restored to a device" {
	mkdir share
	mkfs -q --size 96M --zone-size 4M --zone-capacity 3M \
		share/v_zone_data.dump
	mv share/v_zone_data.dump.zones share/v_zone_info.dump
	cat >script <<-'EOF'
	set -e
	zbd restore -d "$SHARE" -f v "$ZONED1"
	nilfs_mount "$ZONED1"
	filler 1 9000000 >"$MNT/file"
	sum=$(cksum <"$MNT/file")
	nilfs_umount
	nilfs_mount "$ZONED1"
	[ "$(cksum <"$MNT/file")" = "$sum" ]
	nilfs_umount
	EOF
	run "$guest" --backend qemu --timeout 300 --share share --dmesg dmesg \
		--zoned size=96,zone_size=4,zone_capacity=3,zone_nr_conv=1 \
		script
	echo "$output"
	[ "$status" -eq 0 ]
	sed -i '/broken superblock, retrying with spare/d' dmesg
	clean_log dmesg
}

@test "devices that cannot hold a volume, and contradictions" {
	run "$guest" --backend qemu --timeout 300 \
		--zoned size=96,zone_size=4,zone_nr_conv=0 \
		--zoned size=96,zone_size=4,zone_nr_conv=1,zone_max_active=3 \
		- -- "$NILFS2_BUILD/mkfs/mkfs.nilfs2" <<-'EOF' 2>&1
	try() {
		echo "== $*"
		"$@" 2>&1 && echo made
	}
	try "$1" -f "$ZONED1"
	try "$1" "$ZONED2"
	try "$1" --zoned=off "$ZONED2"
	try "$1" --zone-size 4M "$ZONED2"
	try "$1" -fn --json --zoned=require "$ZONED2"
	EOF
	echo "$output"
	[[ ${lines[1]} == *'first zone is not conventional'* ]]
	[[ ${lines[3]} == *'3 of its 23 sequential zones'* ]]
	[[ ${lines[5]} == *'host-managed'* ]]
	[[ ${lines[7]} == *'block device'* ]]
	[ "${lines[-1]}" = made ]
	grep -q '"max_active": 3' <<<"$output"
	grep -q '"emulated": false' <<<"$output"
}
