#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Cleaning volumes on zones: what becomes clean is empty, and nothing is written
# but where the zones want it.  Emulated ones refuse all else, as devices do.

bats_require_minimum_version 1.5.0
load ../kernel/lab
load ../fsck/repaired
load ../fsck/zonefile

bytes=2097152	# of a zone, and of a segment
blocks=512
spec=size=96,zone_size=4,zone_nr_conv=1,zone_max_active=6

# A volume that the kernel wrote and deleted on, with a snapshot; once.
setup_file() {
	cd "$BATS_FILE_TMPDIR" || return 1
	command -v zbd >/dev/null || return 0
	[ -z "$("$BATS_TEST_DIRNAME/../kernel/guest.sh" --available uml)" ] ||
		return 0
	"$NILFS2_BUILD/mkfs/mkfs.nilfs2" -q --size 96M --zone-size 2M image
	"$BATS_TEST_DIRNAME/../kernel/guest.sh" --timeout 600 - image <<-'SCRIPT' || return
	set -e
	nilfs_mount "$DEV1"
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
		noise "$i" 3000000 >"$MNT/$i"
		mkdir "$MNT/d$i"
		noises "$MNT/d$i/" 1 9 30000
		sync -f "$MNT"
		[ "$i" -ne 4 ] || snapshot "$DEV1" >/dev/null
	done
	rm -r "$MNT"/[2579] "$MNT"/1[0235] "$MNT"/d3 "$MNT"/d9
	sync -f "$MNT"
	nilfs_umount
	SCRIPT
	# The kernel writes each segment front to back, and none twice here.
	"$NILFS2_BUILD/dump/dump.nilfs2" segments -a --json image |
		jq -r '.segments[] | select(.segment > 0) |
			"\(.segment) \(.written)"' |
		while read -r n written; do
			[ "$written" -eq 0 ] || set_zone "$n" \
				$((n * bytes + written * 4096)) \
				$((written == blocks ? full : closed))
		done
}

setup() {
	command -v zbd >/dev/null || skip "needs zbd"
	need_guest uml
	cd "$BATS_TEST_TMPDIR" || return 1
	cp --sparse=always "$BATS_FILE_TMPDIR"/image* .
	image=image
	remember
}

gc() {
	gc.nilfs2 --protect 0 --min-reclaimable 0 "$@" image
}

# clean_segments: their numbers, but zone 0 is never reset.
clean_segments() {
	dump.nilfs2 segments -a image | awk '$2 == "----" && $1 { print $1 }'
}

# is_settled: nothing is wrong, and what is clean is empty.
is_settled() {
	local n

	is_clean && same_trees || return
	for n in $(clean_segments); do
		[ "$(zone "$n" condition)" = em ] || return
		cmp -n $bytes -i $((n * bytes)):0 image /dev/zero || return
	done
}

latest() {
	dump.nilfs2 info --json image | jq .superblocks[0].s_last_pseg
}

@test "segments that become clean are empty zones" {
	before=$(clean_segments | wc -l)
	for policy in optimal timestamp; do
		cp --sparse=always "$BATS_FILE_TMPDIR"/image* .
		gc --policy "$policy"
		is_settled
		[ "$(clean_segments | wc -l)" -gt $((before + 8)) ]
	done
}

@test "the forecast is what happens, and changes no zone" {
	before=$(cat image image.zones | cksum)
	gc --json -n >forecast
	[ "$(cat image image.zones | cksum)" = "$before" ]
	gc --json >outcome
	diff <(grep -v elapsed_ms forecast) <(grep -v elapsed_ms outcome)
}

# end_of_use: the number of segments up to the last one with something in it.
end_of_use() {
	dump.nilfs2 segments -a image |
		awk '$1 ~ /^[0-9]+$/ && $6 { n = $1 } END { print n + 1 }'
}

@test "what lives is compacted into the first zones" {
	before=$(end_of_use)
	for option in --compact --compact=all --order=tree; do
		echo "$option:"
		cp --sparse=always "$BATS_FILE_TMPDIR"/image* .
		gc --json -n "$option" >forecast
		gc --json "$option" >outcome
		diff <(grep -v elapsed_ms forecast) \
			<(grep -v elapsed_ms outcome)
		is_settled
		[ "$(end_of_use)" -lt "$((before - 8))" ]
		[ "$(jq .compaction.end_after outcome)" -eq "$(end_of_use)" ]
		sum=$(cat image image.zones | cksum)
		gc "$option" >/dev/null
		[ "$(cat image image.zones | cksum)" = "$sum" ]
	done
}

@test "zones that an earlier run has left are emptied" {
	for n in $(clean_segments | tail -3); do
		append "$n" 7
	done
	run -4 fsck.nilfs2 -fn image
	[[ $output == *zone-clean* ]]
	gc --free 0
	is_settled
}

@test "after a torn log the next one begins another zone" {
	before=$(latest)
	append $((before / blocks)) 3
	append $((before / blocks + 1)) 2
	torn=$(zone $((before / blocks)) wp)
	gc
	is_settled
	[ "$(zone $((before / blocks)) wp)" -eq "$torn" ] ||
		[ "$(zone $((before / blocks)) condition)" = em ]
}

@test "what is no cleaning keeps to the zones, too" {
	before=$(latest)
	run -0 gc --free 0 --delete-checkpoints 2..3
	[ "$(latest)" -gt "$before" ]
	is_settled
	append $(($(latest) / blocks)) 3
	# A snapshot is kept.
	run -1 gc --free 0 --delete-checkpoints 4..12
	is_settled
}

@test "where the zones cannot be determined nothing is done" {
	: >image.zones
	before=$(cksum <image)
	run -1 gc
	run -1 gc -n
	[ "$(cksum <image)" = "$before" ]
}

# On a device, past its end: what was reset is written again.
@test "the kernel writes on in zones that were emptied" {
	need_guest qemu
	cat >script <<-'EOF'
	set -e
	Z=$ZONED1 mkfs=$1 gc=$2 fsck=$3
	sums() {
		(cd "$MNT" && find . -type f -exec cksum {} + | sort -k3)
	}
	# fill FROM N: files of these numbers until it is full, N at least.
	fill() {
		local i=$1

		while { filler "$i" 1500000 >"$MNT/$i" &&
			sync -f "$MNT"; } 2>/dev/null; do
			i=$((i + 1))
		done
		rm -f "$MNT/$i"
		sync -f "$MNT"
		echo "$((i - $1)) files"
		[ $((i - $1)) -ge "$2" ]
	}
	collect() {
		"$gc" --json --protect 0 --min-reclaimable 0 "$@" "$Z" |
			grep -v elapsed_ms
	}
	zones() { zbd report "$Z" | grep -c " $1,"; }

	"$mkfs" -fq "$Z"
	nilfs_mount "$Z"
	filler 0 9000000 >"$MNT/held"
	cno=$(snapshot "$Z")
	rm "$MNT/held"
	fill 100 20
	rm "$MNT"/1*[02468]
	sync -f "$MNT"
	for round in 2 3 4; do
		[ "$round" -ne 3 ] || chcp cp "$Z" "$cno"
		sums >/mnt/tmp/sums
		nilfs_umount
		empty=$(zones em)
		collect -n >/mnt/tmp/forecast
		[ "$(zones em)" -eq "$empty" ]
		collect >/mnt/tmp/outcome
		cat /mnt/tmp/outcome
		cmp /mnt/tmp/forecast /mnt/tmp/outcome
		[ "$(zones em)" -gt "$empty" ]
		"$fsck" -fn "$Z"
		nilfs_mount "$Z"
		sums | cmp - /mnt/tmp/sums
		fill "${round}00" 4
		sums >/mnt/tmp/sums
		nilfs_umount
		nilfs_mount "$Z"
		sums | cmp - /mnt/tmp/sums
		rm "$MNT"/"$round"*[13579]
		sync -f "$MNT"
	done
	nilfs_umount
	"$fsck" -fn "$Z"
	EOF
	run "$lab_dir/guest.sh" --backend qemu --timeout 900 --mem 1G \
		--zoned "$spec" --dmesg dmesg script -- \
		"$NILFS2_BUILD/mkfs/mkfs.nilfs2" \
		"$NILFS2_BUILD/gc/gc.nilfs2" \
		"$NILFS2_BUILD/fsck/fsck.nilfs2"
	echo "$output"
	[ "$status" -eq 0 ]
	dmesg=$(grep -v 'broken superblock, retrying with spare' dmesg)
	kernel_content
}

# holds SEED: whether the image has a block of the large file with that noise.
holds() {
	perl -e 'srand shift;
		 my $piece;
		 $piece = pack("L*", map { int rand 2 ** 32 } 1 .. 1024)
			for 0 .. 20;
		 local $/;
		 open my $image, "<:raw", "image" or die;
		 exit(index(<$image>, $piece) < 0)' "$1"
}

@test "what was deleted is gone from the zones, too" {
	holds 13
	holds 2
	gc --purge
	is_settled
	run ! holds 13
	# A snapshot has it.
	holds 2
	gc --purge -f --delete-checkpoints ..
	is_clean
	run ! holds 2
	holds 14
}
