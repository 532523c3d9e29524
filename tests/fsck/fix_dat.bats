#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The DAT repaired: what the kernel wrote there comes back from logs and
# checkpoints, number for number.

bats_require_minimum_version 1.5.0
load ../kernel/lab
load damage
load repaired

setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
}

# spoil_entries NUMBER... -- FIELD=VALUE...
spoil_entries() {
	local numbers=()

	while [ "$1" != -- ]; do
		numbers+=("$1")
		shift
	done
	for number in "${numbers[@]}"; do
		damage "dat:$number" "${@:2}"
	done
}

# repairs_entries IMAGE STATE FIELD=VALUE...: a dozen entries in that state.
repairs_entries() {
	local some

	begin "$1"
	some=$(numbers "$2" 7 12)
	[ "$(wc -w <<<"$some")" -gt 1 ]
	# shellcheck disable=SC2086
	spoil_entries $some -- "${@:3}"
	# shellcheck disable=SC2086
	repairs && same_entries $some
}

@test "where blocks of the latest state are" {
	repairs_entries deep-1k current de_blocknr=0x7fffffff
	repairs_entries deep-1k current de_blocknr=0
}

@test "where blocks of snapshots are" {
	repairs_entries cleaned snapshot de_blocknr=0x7fffffff
	repairs_entries snapshots snapshot de_blocknr=0
}

@test "where blocks of plain checkpoints, and dead ones, are" {
	repairs_entries plain-checkpoints checkpoint de_blocknr=0x7fffffff
	repairs_entries snapshots dead de_blocknr=0x7fffffff
}

@test "the beginning of blocks" {
	repairs_entries snapshots current de_start=1000
	repairs_entries cleaned snapshot de_start=4
	repairs_entries plain-checkpoints checkpoint de_start=1000
}

@test "the end of blocks" {
	repairs_entries snapshots current de_end=999
	repairs_entries snapshots snapshot de_end=999
	repairs_entries plain-checkpoints checkpoint de_end=999
	repairs_entries plain-checkpoints dead de_end=999
}

@test "the whole life of blocks" {
	repairs_entries snapshots snapshot de_start=20 de_end=3
	repairs_entries small-files current de_start=20 de_end=3
	repairs_entries deep-1k current de_start=0xffffffffffff de_end=0
}

# The first of a pair of neighbours is said to be where the second one is.
@test "two that are said to be the same block" {
	local a b block

	begin cleaned
	for a in $(numbers current 50 6); do
		b=$(awk -v a="$a" '$1 > a && $5 == "current" {
			print $1; exit }' dat.sound)
		block=$(awk -v b="$b" '$1 == b { print $2 }' dat.sound)
		damage "dat:$a" "de_blocknr=$block"
	done
	repairs
	# shellcheck disable=SC2046
	same_entries $(awk '$5 == "current" && $2 < 5000 { print $1 }' dat.sound)
}

# claim NUMBER BLOCK [FIELD=VALUE...]: an entry in use of the DAT names BLOCK.
claim() {
	damage "bitmap:dat/$1" bit=1
	damage "dat:$1" "de_blocknr=$2" "${@:3}"
}

# free_numbers: two of them.
free_numbers() {
	dump.nilfs2 dat -f "$image" 1..99 |
		awk '$NF == "free" && n++ < 2 { print $1 }'
}

# lose_log BLOCK: no log says any more what is in the segment of BLOCK.
lose_log() {
	dd if=/dev/zero of="$image" bs=4096 seek=$(($1 / 128 * 128)) count=1 \
		conv=notrunc status=none
}

# A map leads to one of them; the other is elsewhere, or free.
@test "two that name the same block of a log that is lost" {
	local dead block number

	begin cleaned
	read -r number block < <(awk '$5 == "current" && $2 >= 4736 {
		print $1, $2; exit }' dat.sound)
	cp "$image" sound
	dead=$(numbers dead 1 1)
	damage "dat:$dead" "de_blocknr=$block"
	lose_log "$block"
	says "^dat-double: .*found $block"
	repairs
	same_entries "$dead" "$number"

	mv sound "$image"
	claim "$(free_numbers | head -n 1)" "$block" de_start=5 de_end=-1
	lose_log "$block"
	says "^dat-double: .*found $block"
	repairs
	same_entries "$number"
}

# No map leads to any of them: a cleaner has freed the number.
@test "two dead ones that name the same block of a log that is lost" {
	local early late block

	begin cleaned
	block=$(awk '{ used[$2] } END {
		for (b = 3202; b in used; b++); print b }' dat.sound)
	read -r early late < <(free_numbers | xargs)
	claim "$early" "$block" de_start=7 de_end=9
	claim "$late" "$block" de_start=8 de_end=9
	lose_log "$block"
	says "^dat-double: .*found $block"
	repairs
	dump.nilfs2 dat -a "$image" >now
	run ! grep "^ *$early *$block " now
	grep -q "^ *$late *$block *8 *9 *dead" now
}

@test "a block of entries full of noise" {
	begin small-files
	noise 5 | overwrite "$(map_block dat 3)"
	repairs
	# shellcheck disable=SC2046
	same_entries $(awk '$1 >= 128 && $1 < 256 { print $1 }' dat.sound)
}

@test "a block of entries full of zeros" {
	begin small-files
	overwrite "$(map_block dat 4)" </dev/zero
	repairs
	# shellcheck disable=SC2046
	same_entries $(awk '$1 >= 256 && $1 < 384 { print $1 }' dat.sound)
}

# repairs_map IMAGE: and most of what it leads to is where it was.
repairs_map() {
	repairs
	grep -q '^repaired: DAT: map rebuilt' <<<"$output"
	dump.nilfs2 dat -a "$image" >dat.now
	# What the new checkpoint itself replaces is metadata.
	[ "$(diff <(cut -c -60 dat.sound) <(cut -c -60 dat.now) |
		grep -c '^<')" -lt 9 ]
}

@test "a map that leads nowhere" {
	for name in cleaned deep-1k many-snapshots-2k; do
		begin "$name"
		overwrite "$(map_node dat 0)" </dev/zero
		repairs_map
	done
}

@test "a map with a pointer outside, or one twice" {
	begin cleaned-1k
	damage "node:$(map_node dat 0)" ptr[1]=0x7fffffff
	repairs_map
	begin deep-1k
	damage "node:$(map_node dat 1)" "ptr[4]=$(map_block dat 2)"
	repairs_map
}

@test "a map with keys out of order" {
	begin small-files
	damage "node:$(map_node dat 0)" key[1]=200001
	repairs_map
}

@test "a map with a block where no group can be" {
	begin special
	damage "node:$(map_node dat 0)" bn_nchildren=11 \
		key[10]=0x7ffffffffffffff "ptr[10]=$(map_block dat 1)"
	repairs_map
}

# The log that has the oldest block of the DAT is lost too.
@test "a map that leads nowhere, and logs that do not have all" {
	local block per segment log

	begin small-files
	block=$(dump.nilfs2 bmap -b "$image" dat |
		awk '$NF == "data" { print $5 }' | sort -n | head -n 1)
	per=$(dump.nilfs2 info -v "$image" |
		awk '/^s_blocks_per_segment/ { print $2 }')
	segment=$((block / per))
	log=$(dump.nilfs2 logs -s "$image" "$segment" | awk -v b="$block" '
		NR > 1 && $2 <= b && b < $2 + $7 { print $2; exit }')
	overwrite "$(map_node dat 0)" </dev/zero
	dd if=/dev/zero of="$image" bs=4096 seek="$log" count=1 conv=notrunc \
		status=none
	run -4 fsck.nilfs2 -fy "$image"
	[[ $output == *--rebuild* ]]
	says '^bmap-node-level: DAT: '
	repairs --rebuild
}

@test "what is damaged is not what it was before" {
	begin small-files
	noise 5 | overwrite "$(map_block dat 3)"
	run ! same_trees
}

# kernel_uses: the kernel reads what is repaired, writes, and cleans.
kernel_uses() {
	guest "$image" <<-'EOF'
	nilfs_mount "$DEV1"
	find "$MNT" -type f -exec cat {} + >/dev/null
	filler 1 3000000 >"$MNT/new"
	sync
	rm "$MNT/new"
	sync
	clean "$DEV1" "$MNT"
	noise 2 1000000 >"$MNT/newer"
	nilfs_umount
	EOF
	[ "$status" -eq 0 ] || echo "$errors"
	[ "$status" -eq 0 ]
	kernel_content
	is_clean
}

@test "the kernel goes on with entries that were repaired" {
	need_guest uml
	begin small-files
	noise 5 | overwrite "$(map_block dat 3)"
	repairs
	kernel_uses
}

@test "the kernel goes on with a map that was rebuilt" {
	need_guest uml
	begin cleaned
	overwrite "$(map_node dat 0)" </dev/zero
	repairs_map
	kernel_uses
}

# spoil_all: each block of the DAT is entries in use that lead anywhere.
spoil_all() {
	local block bytes

	bytes=$(block_size)
	for block in $(dump.nilfs2 bmap -b "$image" dat |
		awk '$NF == "data" { print $5 }'); do
		perl -e 'srand($ARGV[0]); print map { pack("Q4",
			1 + int(rand($ARGV[2])), 1, ~0, 0) } 1 .. $ARGV[1] / 32' \
			"$block" "$bytes" $(($(stat -c %s "$image") / bytes)) |
			dd of="$image" bs="$bytes" seek="$block" conv=notrunc \
				status=none
	done
}

@test "all blocks of the DAT, bitmaps and descriptors too" {
	for name in special cleaned-1k; do
		begin "$name"
		spoil_all
		repairs
		rm "$image"
	done
}

# Entries of 50 files of which no older version is in any log.
@test "all blocks of a DAT that was written once" {
	image=$PWD/once
	mkdir files
	for i in $(seq 50); do head -c $((i * 5000)) /dev/zero >"files/$i"; done
	mkfs.nilfs2 -q --size 128M -B 256 -d files "$image"
	remember
	spoil_all
	repairs
	[[ $output != *"was removed"* ]]
}

# A cleaner frees a number together with the segment whose log lists it.
@test "what no checkpoint has keeps its number" {
	begin snapshots
	spoil_all
	repairs
	numbers dead 1 1000 >dead
	[ "$(wc -l <dead)" -gt 10 ]
	diff <(awk 'NR == FNR { these[$1]; next }
			$1 in these { print $1, $2 }' dead dat.sound) \
		<(dump.nilfs2 dat -a "$image" |
			awk 'NR == FNR { these[$1]; next }
				$1 in these { print $1, $2 }' dead -)
}

@test "the kernel's cleaner reads what is left of a DAT's logs" {
	need_guest uml
	begin snapshots
	spoil_all
	repairs
	guest "$image" <<-'END'
	nilfs_mount "$DEV1"
	noises "$MNT/new" 1 20 5000 100
	sync
	clean "$DEV1" "$MNT"
	nilfs_umount
	nilfs_mount "$DEV1"
	noises /mnt/tmp/new 1 20 5000 100
	for n in $(seq 20); do cmp "$MNT/new$n" "/mnt/tmp/new$n"; done
	nilfs_umount
	END
	[ "$status" -eq 0 ] && [ -z "$output$errors" ]
	kernel_content
	expect
}

# The entry of the SUFILE's only block leads to a block of a file, whose own entry is
# wrong as well: no segment is known to be in use, and no other entry contradicts it.
@test "an entry without a lifetime that leads to a block of another one" {
	image=$PWD/image
	mkdir tree
	seq 9999 >tree/file
	mkfs.nilfs2 -q --size 16M -B 64 -d tree "$image"
	cp "$image" sound
	read -r number < <(dump.nilfs2 bmap -b "$image" sufile |
		awk '$NF == "data" { print $4 }')
	read -r other block < <(dump.nilfs2 bmap -b "$image" /file |
		awk '$NF == "data" { print $4, $5 }')
	damage "dat:$number" "de_blocknr=$block" de_start=0 de_end=0
	damage "dat:$other" de_blocknr=0 de_start=0 de_end=0
	run -1 fsck.nilfs2 -fy "$image"
	[[ $output == *"lost: nothing"* ]]
	run -0 fsck.nilfs2 -fn "$image"
	dump.nilfs2 cat "$image" /file | cmp - tree/file
}
