#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Cleaning volumes on zones: what becomes clean is empty, and nothing is written
# but where the zones want it.  Emulated ones refuse all else, as devices do.

bats_require_minimum_version 1.5.0
load ../kernel/lab
load ../kernel/parts
load ../fsck/repaired
load ../fsck/zonefile

bytes=2097152	# of a zone, and of a segment
blocks=512

# A volume that the kernel wrote and deleted on, with a snapshot; once.
setup_file() {
	cd "$BATS_FILE_TMPDIR" || return 1
	command -v zbd >/dev/null || return 0
	[ -z "$("$BATS_TEST_DIRNAME/../kernel/guest.sh" --available uml)" ] ||
		return 0
	"$NILFS2_BUILD/mkfs/mkfs.nilfs2" -q --size 96M --zone-size 2M image
	"$BATS_TEST_DIRNAME/../kernel/guest.sh" --timeout 600 - image <<-'SCRIPT' || return
	set -e
	# write FROM TO: large files, and a directory of small ones beside each.
	write() {
		perl -e '
			my ($dir, $from, $to) = @ARGV;
			sub put {
				my ($name, $seed, $blocks) = @_;
				open my $file, ">:raw", "$dir/$name" or die;
				srand $seed;
				my $first = pack "L*",
					map { int rand 2 ** 32 } 1 .. 1024;
				print $file $first ^ pack("L", $_) x 1024
					for 1 .. $blocks;
				close $file or die;
			}
			for my $i ($from .. $to) {
				put($i, $i, 730);
				mkdir "$dir/d$i";
				put("d$i/$_", $_, 7) for 1 .. 9;
				open my $all, "<", $dir or die;
				# syncfs(2)
				syscall(306, fileno $all) == 0 or die;
			}' "$MNT" "$@"
	}
	nilfs_mount "$DEV1"
	write 1 4
	snapshot "$DEV1" >/dev/null
	write 5 15
	rm -r "$MNT"/[2579] "$MNT"/1[0235] "$MNT"/d3 "$MNT"/d9
	sync -f "$MNT"
	nilfs_umount
	SCRIPT
	# The kernel writes each segment front to back, and none twice here.
	"$NILFS2_BUILD/dump/dump.nilfs2" segments -a --json image |
		gojq -r '.segments[] | select(.segment > 0) |
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
	is_clean && same_trees && clean_segments | perl -e '
		my ($bytes) = @ARGV;
		my %empty = map { /^Zone 0*(\d+): .* em,/ ? ($1 => 1) : () }
			`zbd report image.zones`;
		open my $image, "<:raw", "image" or die;
		while (my $n = <STDIN>) {
			chomp $n;
			$empty{$n} or die "zone $n is not empty\n";
			seek $image, $n * $bytes, 0;
			read $image, my $data, $bytes;
			$data eq "\0" x $bytes or die "zone $n has data\n";
		}' $bytes
}

# written: when image and zones were.
written() {
	stat -c '%n %y %z' image image.zones
}

latest() {
	dump.nilfs2 info --json image | gojq .superblocks[0].s_last_pseg
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
	before=$(written)
	gc --json -n >forecast
	[ "$(written)" = "$before" ]
	gc --json >outcome
	diff <(grep -v elapsed_ms forecast) <(grep -v elapsed_ms outcome)
}

# end_of_use: the number of segments up to the last one with something in it.
end_of_use() {
	dump.nilfs2 segments -a image |
		awk '$1 ~ /^[0-9]+$/ && $7 { n = $1 } END { print n + 1 }'
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
		[ "$(gojq .compaction.end_after outcome)" -eq "$(end_of_use)" ]
		then=$(written)
		gc "$option" >/dev/null
		[ "$(written)" = "$then" ]
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

guest_side=(fill fill_up sums same collect zones)

sums() {
	(cd "$MNT" && cksum -- *)
}

# same: the files are what they were.
same() {
	sums | diff /mnt/tmp/sums -
}

# fill_up FROM N: files of these numbers until it is full, N at least.
fill_up() {
	local files

	files=$(fill "$MNT" "$1" $(($1 + 99)) 750000)
	echo "$files"
	[ "${files% files}" -ge "$2" ]
}

collect() {
	"$gc" --json --protect 0 --min-reclaimable 0 "$@" "$Z" |
		grep -v elapsed_ms
}

# zones CONDITION: how many there are.
zones() {
	zbd report "$Z" | grep -c " $1,"
}

# Past the end of the device: what was reset is written again.
emptied() {
	mkfs=$1 gc=$2 fsck=$3 Z=$ZONED1
	"$mkfs" -fq "$Z"
	nilfs_mount "$Z"
	filler 0 3000000 >"$MNT/held"
	cno=$(snapshot "$Z")
	rm "$MNT/held"
	fill_up 100 14
	rm "$MNT"/1*[02468]
	sync -f "$MNT"
	for round in 2 3; do
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
		same
		fill_up "${round}00" 4
		sums >/mnt/tmp/sums
		nilfs_umount
		nilfs_mount "$Z"
		same
		rm "$MNT"/"$round"*[13579]
		sync -f "$MNT"
	done
	nilfs_umount
	"$fsck" -fn "$Z"
}

@test "the kernel writes on in zones that were emptied" {
	need_guest qemu
	parts --timeout 900 --mem 1G \
		--zoned size=32,zone_size=1,zone_nr_conv=1,zone_max_active=6 \
		emptied -- \
		"$NILFS2_BUILD/mkfs/mkfs.nilfs2" \
		"$NILFS2_BUILD/gc/gc.nilfs2" \
		"$NILFS2_BUILD/fsck/fsck.nilfs2"
	part emptied
	dmesg=$(grep -v 'broken superblock, retrying with spare' <<<"$dmesg")
	kernel_content
}

# holds SEED: whether the image has a certain block of that large file.
holds() {
	perl -e 'srand shift;
		 my $piece = pack "L*", map { int rand 2 ** 32 } 1 .. 1024;
		 $piece ^= pack("L", 20) x 1024;
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
