#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Repairs of the SUFILE, and what the kernel and its cleaner do to the volume
# then.  The cases (su-*, log-*) have each rule; here is what it is for.

bats_require_minimum_version 1.5.0
load ../kernel/lab
load damage
load repaired

setup() {
	need_corpus
	need_guest uml
	cd "$BATS_TEST_TMPDIR" || return 1
	begin_kept
	sum=$(dump.nilfs2 cat "$image" /kept | sha256sum)
}

# use_kernel [NAME]: files come, go, and the cleaner runs; is /kept as it was?
use_kernel() {
	guest "$1" <<-'SCRIPT'
	nilfs_mount "$DEV1"
	filler 31 4000000 >"$MNT/new"
	sync
	rm "$MNT/new" "$MNT"/small-1*
	filler 32 2000000 >"$MNT/newer"
	sync
	clean "$DEV1" "$MNT" || echo "nothing was cleaned"
	# What was freed is written to.
	rewrite "$MNT/churn" 1 8 6000000
	rm "$MNT/churn"
	sync
	nilfs_umount
	nilfs_mount -o ro "$DEV1"
	sha256sum <"$MNT/kept"
	nilfs_umount
	SCRIPT
	[ "$status" -eq 0 ]
}

@test "after a log that cannot be read the cleaner loses what lives" {
	damage_raw "log:$log" ss_magic=0
	use_kernel "$image"
	[ "$output" != "$sum" ]
}

@test "a segment that is marked as erroneous loses nothing" {
	damage_raw "log:$log" ss_magic=0
	run -1 fsck.nilfs2 -y "$image"
	[[ $output == *"segment $segment: marked as erroneous: "* ]]
	expect
	dump.nilfs2 segments "$image" "$segment" | grep -- "-de"
	run --separate-stderr -0 fsck.nilfs2 -n "$image"
	[[ $stderr == *"1 segments are marked as erroneous"* ]]
	use_kernel "$image"
	kernel_content
	[ "$output" = "$sum" ]
	expect
	dump.nilfs2 segments "$image" "$segment" | grep -- "-de"
}

@test "data is proven where only the summary of its log is damaged" {
	local first

	# All of the header but the sums and the length of the summary.
	first=$((log * $(block_size)))
	cp "$image" other
	while read -r from count; do
		put_noise "$image" $((first + from)) "$count"
	done <<<"8 40"$'\n'"52 12"
	run -1 fsck.nilfs2 -y "$image"
	[[ $output == *"segment $segment: marked as erroneous: "* ]]
	[[ $output == *"lost: nothing"* ]]
	[ "$(dump.nilfs2 cat "$image" /kept | sha256sum)" = "$sum" ]

	# Any byte of data is not.
	mv other "$image"
	damage_raw "log:$log" ss_seq=77
	printf x | dd of="$image" bs=1 conv=notrunc status=none \
		seek=$(((log + 3) * $(block_size) + 77))
	run -1 fsck.nilfs2 -y "$image"
	[[ $output == *"/kept: bytes "*" may have wrong content"* ]]
}

@test "what no log vouches for is named when superblocks are lost as well" {
	damage_raw "log:$log" ss_sumbytes=100
	cp "$image" other
	run -1 fsck.nilfs2 -y "$image"
	grep '^lost: ' <<<"$output" >named
	grep 'may have wrong content' named
	for copy in 1 2; do
		dump.nilfs2 set --expert other super:$copy s_magic=0
	done
	run -1 fsck.nilfs2 -y other
	diff named <(grep '^lost: ' <<<"$output")
}

# mislist: the log lists the first block of /kept in $segment as another one of
# the file, which lies elsewhere.
mislist() {
	local vblock block from

	dump.nilfs2 bmap -b "$image" /kept >map
	block=$(awk -v s="$segment" '$NF == "data" && int($5 / 128) == s {
		print $5; exit }' map)
	vblock=$(awk -v s="$segment" '$NF == "data" && int($5 / 128) != s {
		print $4; exit }' map)
	from=$(dump.nilfs2 logs -s "$image" "$segment" | awk -v at="$block" '
		NR > 1 && $2 <= at { from = $2 } END { print from }')
	damage "binfo:$from/$((block - from))" "bi_vblocknr=$vblock"
}

@test "a block that is listed by the number of another is lost to the cleaner" {
	mislist
	expect log-unlisted
	use_kernel "$image"
	[ "$output" != "$sum" ]
}

@test "what lives where a number is wrong in a log is moved, for the cleaner" {
	mislist
	run -1 fsck.nilfs2 -fp "$image"
	[[ $output == *"segment $segment: live blocks moved"* ]]
	expect
	dump.nilfs2 segments -o segment,written "$image" "$segment" |
		grep -x " *$segment  *0"
	use_kernel "$image"
	kernel_content
	[ "$output" = "$sum" ]
	expect
}

@test "segments that live are not written over where the SUFILE calls all clean" {
	for s in $(dump.nilfs2 segments "$image" | awk 'NR > 1 { print $1 }'); do
		damage "segment:$s" su_flags=none su_nblocks=0 su_lastmod=0
	done
	nclean=$(dump.nilfs2 info -v "$image" | awk '/^s_nsegments/ { print $2 }')
	damage suheader "sh_ncleansegs=$nclean" sh_ndirtysegs=0
	run -1 fsck.nilfs2 -y "$image"
	expect
	use_kernel "$image"
	kernel_content
	[ "$output" = "$sum" ]
	expect
}

@test "a SUFILE that is lost is rebuilt as the kernel had it" {
	damage superroot 'sr_sufile.i_bmap[1]=0'
	run -1 fsck.nilfs2 -y "$image"
	[[ $output == *"segment usage file: rebuilt"* ]]
	expect
	awk '$1 ~ /^[0-9]+$/ && $4 ~ /^-d/ && $5 { print $1, $5 }' \
		"$corpus/cleaned/lssu" >wanted
	dump.nilfs2 segments -o segment,written "$image" |
		awk 'NR > 1 { print $1, $2 }' >got
	run -1 grep -vxFf got wanted
	use_kernel "$image"
	kernel_content
	[ "$output" = "$sum" ]
	expect
}

@test "nothing in a segment: its logs are given up, the cleaner frees it" {
	clean=$(awk '$1 ~ /^[0-9]+$/ && $4 ~ /^--/ { print $1; exit }' \
		"$corpus/cleaned/lssu")
	# Logs of its former life, called those of today.
	damage "segment:$clean" su_flags=dirty su_nblocks=50
	run -1 fsck.nilfs2 -y "$image"
	expect
	dump.nilfs2 segments -o segment,written "$image" "$clean" |
		grep -x " *$clean  *0"
	use_kernel "$image"
	kernel_content
	[ "$output" = "$sum" ]
	expect
}

current() {
	dump.nilfs2 info -v "$image" | awk -F ':  *' '
		/^Latest state:/ { inside = 1 }
		inside && $1 == "  Segment" { print $2; exit }'
}

@test "the segment in writing is left where its logs cannot be read" {
	image=$(copy_image small-files)
	current=$(current)
	log=$(dump.nilfs2 logs -s "$image" "$current" |
		awk 'NR == 2 { print $2 }')
	damage_raw "log:$log" ss_magic=0
	run -1 fsck.nilfs2 -y "$image"
	expect
	[ "$(current)" -ne "$current" ]
	dump.nilfs2 segments "$image" "$current" | grep -- "-de"
	manifest=$corpus/small-files/manifest
	guest "$image" <<-'SCRIPT'
	nilfs_mount "$DEV1"
	manifest "$MNT"
	filler 31 4000000 >"$MNT/new"
	sync
	clean "$DEV1" "$MNT" || echo "nothing was cleaned" >&2
	nilfs_umount
	SCRIPT
	[ "$status" -eq 0 ]
	kernel_content
	diff "$manifest" - <<<"$output"
	expect
}

# What no entry can have says that the block is none of the SUFILE: flags that
# are possible there are no more to be believed than counts that are not.
@test "a block of garbage: all of its segments are what DAT and logs say" {
	for what in noise inodes; do
		echo "$what"
		begin snapshots
		block=$(dump.nilfs2 bmap -b "$image" sufile |
			awk '$NF == "data" { print $5; exit }')
		other=$(dump.nilfs2 bmap -b "$image" ifile |
			awk '$NF == "data" { print $5; exit }')
		if [ "$what" = noise ]; then
			overwrite "$block" < <(noise 7)
		else
			overwrite "$block" < <(dd if="$image" bs=4096 \
				skip="$other" count=1 status=none)
		fi
		expect su-unreadable
		repairs
		[ "$(dump.nilfs2 segments -a "$image" |
			awk '$2 ~ /e/ && NR > 1' | wc -l)" -eq 0 ]
		[ "$(dump.nilfs2 segments -a "$image" |
			awk '$2 == "----"' | wc -l)" -eq 240 ]
	done
}

@test "the last log of a segment, with a file that has too many blocks" {
	image=$(copy_image plain-checkpoints)
	segment=$(dump.nilfs2 segments "$image" |
		awk '$2 ~ /^-d/ && $8 > 0 { n = $1 } END { print n }')
	read -r log file < <(dump.nilfs2 logs "$image" "$segment" |
		awk '/^First block/ { n = $3 } /^ss_nfinfo/ { f = $2 - 1 }
			END { print n, f }')
	dump.nilfs2 set --expert --fix-checksums "$image" \
		"finfo:$log/$file" fi_nblocks=67108865
	run -4 fsck.nilfs2 -fn "$image"
	run -1 fsck.nilfs2 -fy "$image"
	run -0 fsck.nilfs2 -fn "$image"
}

@test "--rebuild: only segments that cannot be read stay erroneous" {
	image=$(copy_image snapshots)
	dump.nilfs2 set --expert --fix-checksums "$image" segment:3 \
		su_flags=dirty,error
	dump.nilfs2 set --expert --fix-checksums "$image" segment:20 \
		su_flags=error
	dump.nilfs2 set --expert --fix-checksums "$image" suheader \
		sh_ncleansegs=240
	run -0 fsck.nilfs2 -fy "$image"
	[ "$(dump.nilfs2 segments -a "$image" |
		awk 'NR > 1 && $2 ~ /e/ { print $1 }' | xargs)" = "3 20" ]
	run -1 fsck.nilfs2 -fy --rebuild "$image"
	[ -z "$(dump.nilfs2 segments -a "$image" | awk 'NR > 1 && $2 ~ /e/')" ]
	run -0 fsck.nilfs2 -fn "$image"

	noise 8 | dd of="$image" bs=4096 count=32 seek=$((3 * 64)) \
		iflag=fullblock conv=notrunc status=none
	run -1 fsck.nilfs2 -fy "$image"
	run fsck.nilfs2 -fy --rebuild "$image"
	dump.nilfs2 segments "$image" | awk '$1 == 3 { exit $2 !~ /e/ }'
}

# Blocks of the DAT, of a snapshot's file and of logs are among them.  What the
# segment had is gone, and only the logs show what is wrong with it.
@test "a segment of random bytes costs what it had, which is named" {
	while read -r name segment count file; do
		echo "$name $segment"
		image=$(copy_image "$name")
		size=$(block_size)
		noise "$segment" | dd of="$image" bs="$size" count="$count" \
			seek=$((segment * count)) iflag=fullblock conv=notrunc \
			status=none
		run -1 fsck.nilfs2 -fyv "$image"
		grep "^lost: .*, $file: bytes .* may have wrong content" \
			<<<"$output"
		run -0 fsck.nilfs2 -fn "$image"
	done <<-'END'
	snapshots 7 64 /d/f2
	snapshots 9 64 /changing
	snapshots 10 64 /changing
	deep-1k 21 1024 /large
	END
}
