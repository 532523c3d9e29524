#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# dump.nilfs2 info, against statfs, lscp, blkid and the kernel's log.

load ../kernel/lab
load corpus
bats_require_minimum_version 1.5.0

setup() {
	need_corpus
	PATH=$PATH:/usr/sbin:/sbin
	cd "$BATS_TEST_TMPDIR" || return 1
}

# info_of IMAGE: its JSON, one member a line, in $output.
info_of() {
	run -0 dump.nilfs2 info --json "$1"
}

# member NAME SECTION: the value in $output.
member() {
	local before=${output%%"\"$2\": {"*}
	local line=$'\n *"'$1$'": *"?([^",\n]*)"?,?\n'

	[[ ${output:${#before}} =~ $line ]]
	echo "${BASH_REMATCH[1]}"
}

space_equals_statfs() {
	local bsize bfree bavail files ffree

	# The file holds assignments and nothing else.
	# shellcheck disable=SC1090,SC2046
	local $(cat "$corpus/$1/statfs")
	[ "$(member free_bytes usage)" -eq $((bfree * bsize)) ] &&
	[ "$(member available_bytes usage)" -eq $((bavail * bsize)) ] &&
	[ "$(member inodes usage)" -eq $((files - ffree)) ] &&
	[ "$(member block_bytes geometry)" -eq "$bsize" ]
}

counts_equal_lscp() {
	[ "$(member checkpoints usage)" -eq \
		"$(awk 'NR > 1' "$corpus/$1/lscp" | wc -l)" ] &&
	[ "$(member snapshots usage)" -eq \
		"$(grep -c ' ss ' "$corpus/$1/lscp")" ] &&
	[ "$(member checkpoint latest)" -eq \
		"$(awk 'END { print $1 }' "$corpus/$1/lscp")" ] &&
	[ "$(member blocks usage)" -eq \
		"$(awk 'END { print $(NF - 1) }' "$corpus/$1/lscp")" ]
}

# Clean, or what the kernel said when it mounted a copy.
mount_as_kernel() {
	local log=$corpus/$1/dmesg.recovered salvaged

	[ -e "$log" ] || {
		[ "$(member clean state)" = true ] &&
		[[ $output == *'"mount": "mounts normally"'* ]]
		return
	}
	salvaged=$(sed -n 's/.*salvaged \([0-9]*\) blocks.*/\1/p' "$log")
	[ "$(member clean state)" = false ] &&
	[ "$(member roll_forward_blocks latest)" -eq "${salvaged:-0}" ]
}

all_as_kernel() {
	info_of "$corpus/$1/image"
	space_equals_statfs "$1" && counts_equal_lscp "$1" &&
		mount_as_kernel "$1"
}

@test "space and inodes, checkpoints, what a mount would do are as in the kernel" {
	each_image all_as_kernel
}

# Their recipes write on two files after the last checkpoint.
@test "a mount rolls forward blocks of as many files as were synced" {
	for name in crash-dsync crash-dsync-1k; do
		info_of "$corpus/$name/image"
		[ "$(member roll_forward_files latest)" -eq 2 ]
	done
}

@test "label and UUID are those of blkid" {
	command -v blkid >/dev/null || skip "no blkid"
	image=$(copy_image empty)
	same "$(blkid -p -o value -s UUID "$image")" \
		"$(dump.nilfs2 info -v "$image" |
		awk '$1 == "s_uuid" { print $2 }')"
	"$NILFS2_BUILD/mkfs/mkfs.nilfs2" -q -f -L "a label" "$image"
	[ "$(blkid -p -o value -s LABEL "$image")" = "a label" ]
	[[ $(dump.nilfs2 info -v "$image") == *"s_volume_name "*"a label "* ]]
}

# poke FILE OFFSET: spoil one byte.
poke() {
	printf '\245' | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

second_of() {
	echo $(($(stat -c %s "$1") / 4096 * 4096 - 4096))
}

@test "one spoiled superblock: the other counts, and it is said why" {
	image=$(copy_image snapshots)
	info_of "$image"
	latest=$(member checkpoint latest)
	poke "$image" $((1024 + 200))
	info_of "$image"
	[ "$(member used choice)" = second ]
	[[ $(member first choice) == *checksum* ]]
	[ "$(member other_could_take_over choice)" = false ]
	[ "$(member checkpoint latest)" = "$latest" ] ||
		[ "$(member passed latest)" -gt 0 ]
	image=$(copy_image snapshots)
	poke "$image" $(($(second_of "$image") + 6))
	info_of "$image"
	[ "$(member used choice)" = first ]
	[[ $(member second choice) == *"magic number"* ]]
	run -0 dump.nilfs2 info -v "$image"
	[[ $output == *"s_magic "*"0x3434"*"-"* ]]
}

@test "two spoiled superblocks: what they say is shown, and it fails" {
	image=$(copy_image empty)
	poke "$image" $((1024 + 200))
	poke "$image" $(($(second_of "$image") + 200))
	run -1 --separate-stderr dump.nilfs2 info -v "$image"
	[[ $output == *s_blocks_per_segment*2048* ]]
	[[ $stderr == "dump.nilfs2: "*"no NILFS2 superblock"* ]]
	run -1 --separate-stderr dump.nilfs2 info --json "$image"
	[[ ${lines[0]} == "{" && ${lines[-1]} == "}" ]]
}

@test "a log that is not there any more leaves the superblocks" {
	image=$(copy_image empty)
	dd if=/dev/zero of="$image" bs=4096 seek=1 count=1 conv=notrunc \
		status=none
	run -1 --separate-stderr dump.nilfs2 info -v "$image"
	[[ $output == *s_last_pseg* ]]
	[[ $stderr == *"block 1"* ]]
}

@test "counts of live blocks are known to be stale once mainline wrote" {
	need_guest uml
	truncate -s 64M counted
	"$NILFS2_BUILD/mkfs/mkfs.nilfs2" -q -B 64 -O sufile_live_blks_ext \
		counted
	info_of counted
	[ "$(member present live_counts)" = true ]
	[ "$(member tracked live_counts)" = false ]
	[ "$(member exact live_counts)" = true ]
	[ "$(member stale_segments live_counts)" -eq 0 ]
	[[ $(dump.nilfs2 segments -o su_nlive_blks counted 0) == *9 ]]
	guest counted <<-'EOF'
	nilfs_mount "$DEV1"
	noise 1 1000000 >"$MNT/file"
	nilfs_umount
	EOF
	[ "$status" -eq 0 ]
	info_of counted
	[ "$(member exact live_counts)" = false ]
	[ "$(member stale_segments live_counts)" -gt 2 ]
	info_of "$corpus/empty/image"
	[ "$(member present live_counts)" = false ]
}

@test "the reason of a refused mount is printed first" {
	image=$(copy_image cleaned)
	head -c 60M "$image" >cut
	run -0 dump.nilfs2 info -v cut
	[[ ${lines[0]} == "A mount would be refused: total number of segment \
blocks "*" exceeds device size (15360 blocks)" ]]
	said=${lines[0]#A mount would be }
	run -0 dump.nilfs2 info --json cut
	[ "$(gojq -r .latest.mount <<<"$output")" = "$said" ]
	dump.nilfs2 set --expert --fix-checksums "$image" super:1 \
		s_feature_compat_ro=0x80 >/dev/null
	run -0 dump.nilfs2 info -v "$image"
	[[ ${lines[0]} == "A mount would be refused unless read-only: "* ]]
}

# Alone, and two at once, of which the kernel reports one.  Older kernels find an
# inode size for which the super root has no room in another way.
@test "why a mount would be refused, in the words of the kernel" {
	local changes=(
		s_rev_level=1 s_feature_incompat=0x80
		"s_rev_level=1 s_feature_incompat=0x80"
		"s_rev_level=1 s_feature_compat_ro=0x180"
		s_log_block_size=7 "s_log_block_size=7 s_rev_level=1"
		"s_log_block_size=8 s_feature_incompat=2"
		s_inode_size=64 s_inode_size=4097
		s_first_ino=5 s_blocks_per_segment=8
		s_r_segments_percentage=0 s_r_segments_percentage=100
		s_nsegments=0x7fffffffffffffff s_nsegments=99999
		"s_nsegments=99999 s_inode_size=64" s_last_pseg=99999
		s_dat_entry_size=16 s_dat_entry_size=4097
		s_checkpoint_size=64 s_checkpoint_size=4097
		s_segment_usage_size=8 s_segment_usage_size=4097
	) i

	need_guest uml
	mkfs.nilfs2 -q --size 16M -B 16 image
	mkdir share
	for i in "${!changes[@]}"; do
		cp image "$i"
		# shellcheck disable=SC2086
		dump.nilfs2 set --expert --fix-checksums "$i" super:1 \
			${changes[i]} >/dev/null
		dd if="$i" of="share/$i" bs=1024 skip=1 count=1 status=none
		dump.nilfs2 info "$i" | sed -n \
			"s/^ *On mount: *refused[^:]*: /$i /p" >>said
	done
	guest --share share image <<-'EOF'
	for i in $(ls "$SHARE" | sort -n); do
		dd if="$SHARE/$i" of="$DEV1" bs=1024 seek=1 conv=fsync,notrunc \
			status=none
		echo "superblock $i" >/dev/kmsg
		! mount -i -t nilfs2 "$DEV1" "$MNT" 2>/dev/null || umount -i "$MNT"
	done
	dmesg -r | sed -n -e 's/.*superblock \([0-9]*\)$/\1/p' \
		-e 's/^<3>.*NILFS ([^)]*): //p' |
		awk '/^[0-9]+$/ { i = $0; next } i != "" { print i, $0; i = "" }'
	EOF
	[ "$status" -eq 0 ]
	[ "$(wc -l <said)" -eq "${#changes[@]}" ]
	diff <(echo "$output") said
}

@test "ranges in which nothing exists are errors" {
	image=$(copy_image cleaned)
	run -1 dump.nilfs2 checkpoints "$image" 4000..5000
	[[ $output == *"checkpoints from 4000 to 5000: none exist"* ]]
	run -1 dump.nilfs2 checkpoints "$image" 4000..
	[[ $output == *"checkpoints from 4000 on: none exist"* ]]
	run -1 dump.nilfs2 segments "$image" 1 99999
	[[ $output == *"segment 99999: does not exist"* ]]
	run -1 dump.nilfs2 logs "$image" 99999..
	[[ $output == *"segments from 99999: the volume has "* ]]
	run -1 dump.nilfs2 block "$image" 99999999..
	[[ $output == *"blocks from 99999999: the device has "* ]]
	run -1 dump.nilfs2 dat "$image" 99999999..
	[[ $output == *"virtual block 99999999: the DAT ends with "* ]]
	# No "file or directory" is missing.
	run -1 dump.nilfs2 inode "$image" 99999999
	[[ $output == *"the ifile has no block for it" ]]
	run -1 dump.nilfs2 ls -c 4000 "$image"
	[[ $output == *"checkpoint 4000: does not exist; the nearest is "* ]]
	run -0 dump.nilfs2 segments "$image" 1..99999
	run -0 dump.nilfs2 segments -n 1 "$image" 1 3
	run -0 dump.nilfs2 checkpoints -n 1 "$image" 010 12
	[[ ${lines[1]} == *10\ * ]]
}

@test "the zones of an image file are those that the file beside it describes" {
	mkfs.nilfs2 -q --size 96M --zone-size 1M --zone-capacity 768K \
		--conventional-zones 3+2 image
	cp image.zones before
	info_of image
	[ "$(jq -c .zones <<<"$output")" = '{"model":"image","zone_bytes":1048576,"capacity_bytes":786432,"zones":96,"conventional":3,"last_conventional":true,"max_active":0}' ]
	cmp image.zones before
	run -0 dump.nilfs2 info -v image
	[[ $output == *"Zones:                  96"* ]]
	: >image.zones
	run -1 --separate-stderr dump.nilfs2 info -v image
	[[ $stderr == *image.zones* ]]
	[[ $output == *"Blocks of files:"* ]]
	rm image.zones
	info_of image
	[ "$(gojq -r .zones.model <<<"$output")" = none ]
	[ "$(gojq .zones.zones <<<"$output")" -eq 0 ]
}

@test "the first lines are for people" {
	image=$(copy_image snapshots)
	run -0 dump.nilfs2 info "$image"
	[ "${#lines[@]}" -le 12 ]
	[[ $output == *"State:  "*"unmounted cleanly"* ]]
	[[ $output == *"On mount:  "*"mounts normally"* ]]
	[[ $output =~ Files:\ +$(wc -l <"$corpus/snapshots/manifest")$'\n' ]]
	[[ $output =~ Snapshots:\ +$(grep -c ' ss ' "$corpus/snapshots/lscp"), ]]
	awk 'NR > 1 { print $2, $3 }' "$corpus/snapshots/lscp" | sort >dates
	[[ $output =~ Checkpoints:\ +$(wc -l <dates), ]]
	[[ $output == *"from $(head -n 1 dates) +0000 to $(tail -n 1 dates) +0000"* ]]
	[[ $output == *" by linux"* ]]
	truncate -s 30M "$image"
	run dump.nilfs2 info "$image"
	[[ $output == *"On mount:  "*"refused: total number of segment"* ]]
}

@test "what holds the space, and what cleaning frees, is what others count" {
	space_as_others() {
		image=$corpus/$1/image
		info_of "$image"
		dump.nilfs2 segments --json --totals "$image" >totals
		gojq -e --slurpfile t totals '.geometry.block_bytes as $size |
			$t[0].totals as $t | .space |
			.latest_bytes == $t.live * $size and
			.snapshot_bytes == $t.snapshot * $size' <<<"$output"
		space=$(gojq .space <<<"$output")
		segment=$(member segment_bytes geometry)
		freed=$(gc.nilfs2 --json -n --no-check "$image" |
			gojq .result.bytes_freed)
		about=$(gojq .reclaimable_bytes <<<"$space")
		[ "$freed" -le $((about + about / 10 + 2 * segment)) ]
		[ "$about" -le $((freed + freed / 5 + 2 * segment)) ]
		unique=$(dump.nilfs2 du --json --free .. "$image" |
			gojq '.free.unique_blocks')
		[ "$(gojq '.snapshot_bytes + .checkpoint_bytes' <<<"$space")" -ge \
			$((unique * $(member block_bytes geometry))) ]
	}
	for name in nearly-full snapshots deep-1k plain-checkpoints cleaned; do
		space_as_others "$name"
	done
}

@test "what is recent is freed by cleaning after an hour" {
	image=$corpus/plain-checkpoints/image
	run -0 dump.nilfs2 info --json "$image"
	later=$(gojq .space.reclaimable_later_bytes <<<"$output")
	export SOURCE_DATE_EPOCH
	SOURCE_DATE_EPOCH=$(gojq .latest.written <<<"$output")
	run -0 dump.nilfs2 info --json "$image"
	gojq -e --argjson later "$later" '.space | .protected_bytes > 0 and
		.reclaimable_bytes < $later and
		.reclaimable_later_bytes == $later' <<<"$output"
}

@test "-v adds to what is printed without it, and drops nothing" {
	image=$corpus/snapshots/image
	run -0 dump.nilfs2 info "$image"
	brief=("${lines[@]}")
	run -0 dump.nilfs2 info -v "$image"
	for line in "${brief[@]}"; do
		[[ $output == *"$line"* ]]
	done
	[[ $output == *"Old checkpoints alone: "*"gc.nilfs2 frees about: "* ]]
	[[ $output == *"Dead: "*"Kept for an hour: "* ]]
}

@test "what cannot be counted in a damaged volume is called unknown" {
	image=$(copy_image snapshots)
	block=$(dump.nilfs2 bmap --nodes --json "$image" dat |
		gojq '[.runs[] | select(.level == 1)][0].blocknr')
	dump.nilfs2 set --expert --fix-checksums "$image" "node:$block" \
		bn_nchildren=60000
	run -1 --separate-stderr dump.nilfs2 info "$image"
	[[ $output == *"On mount: "*"Space usage: "*"unknown"* ]]
	# Several parts need that node.
	[[ $stderr == "dump.nilfs2: "*"block $block"* ]]
	[ "$(wc -l <<<"$stderr")" -eq 1 ]
}
