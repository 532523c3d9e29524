#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Zoned block devices: after a repair the stock driver finds everything, writes
# on past several zones, and the device never refuses a write.

bats_require_minimum_version 1.5.0
load ../kernel/lab
load ../kernel/parts

# One guest for all: the first device is written to, the others get copies.
setup_file() {
	local spec=size=32,zone_size=1,zone_nr_conv=1

	[ -z "$("$lab_dir/guest.sh" --available qemu)" ] || return 0
	parts --timeout 900 --mem 1G --zoned $spec --zoned $spec \
		--zoned $spec --zoned $spec --zoned $spec \
		power_cuts cleaner -- \
		"$NILFS2_BUILD/mkfs/mkfs.nilfs2" \
		"$NILFS2_BUILD/fsck/fsck.nilfs2" \
		"$NILFS2_BUILD/dump/dump.nilfs2"
}

setup() {
	need_guest qemu
}

# works NAME: the part has succeeded, and the kernel had nothing to say but that
# there is no second superblock.
works() {
	part "$1" || return
	dmesg=$(grep -v 'broken superblock, retrying with spare' <<<"$dmesg")
	kernel_content
}

guest_side=(fill sums same exits use zones piece cut current append)

sums() {
	(cd "$MNT" && cksum -- *)
}

# same FILE: the files are as in FILE.
same() {
	[ "$(sums)" = "$(<"$1")" ] || {
		sums | diff "$1" -
		return 1
	}
}

# exits STATUS COMMAND...
exits() {
	local want=$1 status=0

	shift
	"$@" || status=$?
	[ "$status" -eq "$want" ]
}

# use DEVICE FROM TO: the files are as in "sums", more are written, and all of
# them are there after a mount.
use() {
	nilfs_mount "$1"
	same /mnt/tmp/sums
	fill "$MNT" "$2" "$3" 1500000
	sums >/mnt/tmp/all
	nilfs_umount
	nilfs_mount "$1"
	same /mnt/tmp/all
	nilfs_umount
	"$fsck" -fn "$1"
}

# zones DEVICE: number, start and write pointer of each that is not conventional.
zones() {
	zbd report "$1" | sed -n 's/^Zone 0*\([0-9]*\): swr, ofst '`
		`'0*\([0-9]*\), .* wp 0*\([0-9]*\), .*/\1 \2 \3/p'
}

# piece DEVICE FROM BYTES: of the first device, to the same place.
piece() {
	dd if="$ZONED1" of="$1" bs=128K iflag=direct,skip_bytes,count_bytes \
		oflag=direct,seek_bytes skip="$2" seek="$2" count="$3" \
		conv=notrunc status=none
}

# cut DEVICE: what the first one has accepted.
cut() {
	local n start pointer

	piece "$1" 0 $((1 << 20))
	while read -r n start pointer; do
		[ "$start" -eq "$pointer" ] ||
			piece "$1" "$start" $((pointer - start))
	done </mnt/tmp/zones
}

# The last zone that is not empty.
current() {
	awk '$2 < $3 { n = $1 } END { print n }' /mnt/tmp/zones
}

# append DEVICE ZONE
append() {
	dd if=/dev/urandom of="$1" bs=4096 count=3 oflag=direct status=none \
		seek="$(awk "\$1 == $2"'{ print $3 / 4096 }' /mnt/tmp/zones)"
}

# The power is cut by a copy of all that the device had accepted: with a log
# that is to be rolled forward, and then with other things in the way, too.
power_cuts() {
	mkfs=$1 fsck=$2 dump=$3
	"$mkfs" -fq "$ZONED1"
	# No log but when asked for.
	"$dump" set --expert --fix-checksums "$ZONED1" super:1 \
		s_c_interval=3600 >/dev/null
	nilfs_mount -o order=relaxed "$ZONED1"
	fill "$MNT" 1 3 300000
	filler 1 300000 >"$MNT/f"
	sync -f "$MNT"
	rm "$MNT/2"
	sync -f "$MNT"
	command dd if=/dev/urandom of="$MNT/f" bs=4096 count=10 seek=3 \
		conv=notrunc,fdatasync status=none
	sums >/mnt/tmp/sums
	zones "$ZONED1" >/mnt/tmp/zones
	for d in "$ZONED2" "$ZONED3" "$ZONED4" "$ZONED5"; do
		cut "$d"
	done
	nilfs_umount

	n=$(current)
	append "$ZONED3" "$n"
	append "$ZONED4" $((n + 1))
	append "$ZONED5" "$n"
	append "$ZONED5" $((n + 1))
	for d in "$ZONED2" "$ZONED3" "$ZONED4" "$ZONED5"; do
		echo "== $d"
		exits 1 "$fsck" -p "$d"
		"$fsck" -fn "$d"
		use "$d" 10 11
	done
}

@test "after power cuts" {
	works power_cuts
	[ "$(grep -c 'as synced before the crash' <<<"$output")" -eq 4 ]
	[[ $output == *"zone-next: "* ]]
}

# The cleaner of a mounted volume leaves the zones of segments as they are.
cleaner() {
	mkfs=$1 fsck=$2
	Z=$ZONED1
	"$mkfs" -fq "$Z"
	"$fsck" -fn "$Z"
	nilfs_mount "$Z"
	fill "$MNT" 1 3 750000
	cno=$(snapshot "$Z")
	sums >/mnt/tmp/snapshot
	fill "$MNT" 4 15 1500000
	rm "$MNT"/? "$MNT"/1[0-4]
	sync -f "$MNT"
	clean "$Z" "$MNT"
	sums >/mnt/tmp/sums
	nilfs_umount
	exits 4 "$fsck" -fn "$Z"
	exits 1 "$fsck" -p "$Z"
	"$fsck" -p "$Z"
	use "$Z" 30 38
	# What was emptied is written again.
	zbd report "$Z" | grep '^Zone 00001: .* fu,'
	nilfs_mount -o "ro,cp=$cno" "$Z"
	same /mnt/tmp/snapshot
	nilfs_umount
}

@test "after a cleaner, past the end of the device" {
	works cleaner
	[[ $output == *"zone-clean: "* ]]
	[[ $output == *"zones of "*": reset"* ]]
}
