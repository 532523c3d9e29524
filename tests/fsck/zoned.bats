#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Zoned block devices: after a repair the stock driver finds everything, writes
# on past several zones, and the device never refuses a write.

bats_require_minimum_version 1.5.0
load ../kernel/lab

spec=size=96,zone_size=4,zone_nr_conv=1

setup() {
	need_guest qemu
	cd "$BATS_TEST_TMPDIR" || return 1
}

# on_devices N <SCRIPT: SCRIPT succeeds on N zoned devices, with the tools as
# arguments, and the kernel has nothing to say but that there is no second
# superblock.
on_devices() {
	local zoned=() i

	for ((i = 0; i < $1; i++)); do
		zoned+=(--zoned "$spec")
	done
	{ shared; cat; } >script
	run "$lab_dir/guest.sh" --backend qemu --timeout 900 --mem 1G \
		"${zoned[@]}" --dmesg dmesg script -- \
		"$NILFS2_BUILD/mkfs/mkfs.nilfs2" \
		"$NILFS2_BUILD/fsck/fsck.nilfs2" \
		"$NILFS2_BUILD/dump/dump.nilfs2"
	echo "$output"
	[ "$status" -eq 0 ] || return
	dmesg=$(grep -v 'broken superblock, retrying with spare' dmesg)
	kernel_content
}

shared() {
	cat <<-'EOF'
	set -e
	mkfs=$1 fsck=$2 dump=$3
	sums() {
		(cd "$MNT" && find . -type f -exec cksum {} + | sort -k3)
	}
	# fill FROM TO: files of these numbers, each on the device at once.
	fill() {
		local i

		for ((i = $1; i <= $2; i++)); do
			filler "$i" 1500000 >"$MNT/$i"
			sync -f "$MNT"
		done
	}
	# exits STATUS COMMAND...
	exits() {
		local want=$1 status=0

		shift
		"$@" || status=$?
		[ "$status" -eq "$want" ]
	}
	# use DEVICE FROM TO: the files are as in "sums", more are written, and
	# all of them are there after a mount.
	use() {
		nilfs_mount "$1"
		sums | cmp - /mnt/tmp/sums
		fill "$2" "$3"
		sums >/mnt/tmp/all
		nilfs_umount
		nilfs_mount "$1"
		sums | cmp - /mnt/tmp/all
		nilfs_umount
		"$fsck" -fn "$1"
	}
	EOF
}

# The power is cut by a copy of all that the device had accepted: with a log
# that is to be rolled forward, and then with other things in the way, too.
@test "after power cuts" {
	on_devices 2 <<-'EOF'
	S=$ZONED1 D=$ZONED2
	zones() {
		zbd report "$1" | sed -n 's/^Zone 0*\([0-9]*\): swr, ofst '`
			`'0*\([0-9]*\), .* wp 0*\([0-9]*\), .*/\1 \2 \3/p'
	}
	piece() {
		dd if="$S" of="$D" bs=128K iflag=direct,skip_bytes,count_bytes \
			oflag=direct,seek_bytes skip="$1" seek="$1" \
			count="$2" conv=notrunc status=none
	}
	cut() {
		local n start pointer

		zbd reset "$D"
		piece 0 $((4 << 20))
		zones "$S" | while read -r n start pointer; do
			[ "$start" -eq "$pointer" ] ||
				piece "$start" $((pointer - start))
		done
		nilfs_umount
	}
	volume() {
		"$mkfs" -fq "$S"
		# No log but when asked for.
		"$dump" set --expert --fix-checksums "$S" super:1 \
			s_c_interval=3600 >/dev/null
		nilfs_mount -o order=relaxed "$S"
		fill 1 3
		filler 1 300000 >"$MNT/f"
		sync -f "$MNT"
		rm "$MNT/2"
		sync -f "$MNT"
		dd if=/dev/urandom of="$MNT/f" bs=4096 count=10 seek=3 \
			conv=notrunc,fdatasync status=none
		sums >/mnt/tmp/sums
	}
	# The last one that is not empty.
	current() { zones "$D" | awk '$2 < $3 { n = $1 } END { print n }'; }
	append() {
		dd if=/dev/urandom of="$D" bs=4096 count=3 oflag=direct \
			seek="$(zones "$D" | awk "\$1 == $1"'{ print $3 / 4096 }')" \
			status=none
	}
	for damage in none tail next both; do
		echo "== $damage"
		volume
		cut
		n=$(current)
		case $damage in
		tail) append "$n" ;;
		next) append $((n + 1)) ;;
		both) append "$n"; append $((n + 1)) ;;
		esac
		exits 1 "$fsck" -p "$D"
		"$fsck" -fn "$D"
		use "$D" 10 18
	done
	EOF
	[ "$(grep -c 'as they were synced before the crash' <<<"$output")" -eq 4 ]
	[[ $output == *"zone-next: "* ]]
}

# The cleaner of a mounted volume leaves the zones of segments as they are.
@test "after a cleaner, past the end of the device" {
	on_devices 1 <<-'EOF'
	Z=$ZONED1
	"$mkfs" -fq "$Z"
	"$fsck" -fn "$Z"
	nilfs_mount "$Z"
	fill 1 3
	cno=$(snapshot "$Z")
	sums >/mnt/tmp/snapshot
	fill 4 26
	rm "$MNT"/? "$MNT"/1? "$MNT"/2[0-3]
	sync -f "$MNT"
	clean "$Z" "$MNT"
	sums >/mnt/tmp/sums
	nilfs_umount
	exits 4 "$fsck" -fn "$Z"
	exits 1 "$fsck" -p "$Z"
	"$fsck" -p "$Z"
	use "$Z" 30 48
	nilfs_mount -o "ro,cp=$cno" "$Z"
	sums | cmp - /mnt/tmp/snapshot
	nilfs_umount
	EOF
	[[ $output == *"zone-clean: "* ]]
	[[ $output == *"clean segments: emptied"* ]]
}
