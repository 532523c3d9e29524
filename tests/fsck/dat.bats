#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The pass over the DAT: one field of it wrong, the rules it breaks.

bats_require_minimum_version 1.5.0
load ../kernel/lab
load damage

# What is changed are entries that no checkpoint has any longer, so that only
# this pass finds it.
setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
	image=$(copy_image snapshots)
	dat=$(dump.nilfs2 dat -a "$image")
	dead=$(awk '$5 == "dead" { print $1; exit }' <<<"$dat")
	other=$(awk '$5 == "dead" { n = $1 } END { print n }' <<<"$dat")
	other_block=$(awk -v n="$other" '$1 == n { print $2 }' <<<"$dat")
	free=$(dump.nilfs2 dat -f "$image" 0..2000 |
		awk '$5 == "free" { print $1; exit }')
	used=$(awk '$1 ~ /^[0-9]+$/' <<<"$dat" | wc -l)
	latest=22
}

@test "what the kernel left is clean" {
	expect
	[ -n "$dead" ] && [ -n "$free" ] && [ "$other" -gt "$dead" ]
}

@test "counts of free entries" {
	damage group:dat/0 pg_nfrees=17
	expect palloc-nfrees
	says "DAT: group 0: .*expected $((32768 - used)), found 17"
	damage group:dat/0 pg_nfrees=32769
	expect palloc-nfrees-range
}

@test "a count of entries in use where there is no bitmap" {
	damage group:dat/1000 pg_nfrees=32767
	expect palloc-bitmap-missing
	says "DAT: group 1000: .*expected 32768, found 32767"
}

@test "a bit where there is no entry" {
	damage bitmap:dat/30000 bit=1
	expect palloc-entry-missing palloc-nfrees
	damage group:dat/0 "pg_nfrees=$((32768 - used - 1))"
	expect palloc-entry-missing
}

@test "virtual block 0 is never given out" {
	damage bitmap:dat/0 bit=0
	damage group:dat/0 "pg_nfrees=$((32768 - used + 1))"
	expect dat-reserved
}

@test "an entry dies before it is born" {
	damage "dat:$dead" de_start=2 de_end=1
	expect dat-lifetime
	says "virtual block $dead: .*expected 2, found 1"
}

@test "an entry is born, or dies, after the latest checkpoint" {
	damage "dat:$dead" "de_start=$((latest + 1))" "de_end=$((latest + 1))"
	expect dat-start
	damage "dat:$dead" de_start=1 "de_end=$((latest + 1))"
	expect dat-end
	damage "dat:$dead" de_start=1 "de_end=$latest"
	expect
}

@test "an entry leads outside the segments" {
	for block in 0xffffffffffffffff $((256 * 2048)); do
		damage "dat:$dead" "de_blocknr=$block"
		expect dat-blocknr
	done
	damage "dat:$dead" de_blocknr=0
	expect
}

@test "entries that are not in use are not looked at" {
	damage "dat:$free" de_blocknr=0xffffffffff de_start=9 de_end=1
	expect
}

@test "two entries lead to the same block" {
	damage "dat:$dead" "de_blocknr=$other_block"
	expect dat-double
	says "virtual block $other: "
	says "virtual block $dead has that block"
	[ "$(grep -c ^dat-double <<<"$output")" -eq 1 ]
}

@test "an entry leads to a block of the DAT" {
	block=$(dump.nilfs2 bmap -b "$image" dat |
		awk '$NF == "data" { print $5; exit }')
	damage "dat:$dead" "de_blocknr=$block"
	expect dat-double
	says "the DAT itself has that block"
}

@test "many entries lead to the same block, by several workers" {
	for v in $(awk '$5 == "dead" { print $1 }' <<<"$dat" | head -n 20); do
		damage "dat:$v" "de_blocknr=$other_block"
	done
	for threads in 1 4; do
		run -4 fsck.nilfs2 -n -j "$threads" "$image"
		grep '^dat-double' <<<"$output" >"$threads"
		[ "$(wc -l <"$threads")" -eq 20 ]
	done
	cmp 1 4
}

# A DAT of three blocks: descriptors, a bitmap, entries.
@test "pointers of the DAT's own map" {
	image=$(copy_image empty)
	root=$(dump.nilfs2 inode "$image" dat |
		awk '$1 == "i_bmap[1]:" { print $2 }')
	damage superroot "sr_dat.i_bmap[4]=$root"
	says "^dat-map-double: DAT: block 3: .*found $((root))"
	damage superroot "sr_dat.i_bmap[4]=0xffffffffff"
	says "^dat-map-blocknr: DAT: block 3: "
}

# old_own_block: one that a log lists as the DAT's, which has it elsewhere now.
old_own_block() {
	local block now

	now=$(dump.nilfs2 bmap -b "$image" 3 | awk '$NF == "data" { print $5 }')
	for block in $(dump.nilfs2 logs --json "$image" | gojq '.logs[] |
		range(.blocknr + 1; .blocknr + .ss_nblocks)')
	do
		dump.nilfs2 block "$image" "$block" | grep -q ' dat$' &&
			! grep -qx "$block" <<<"$now" && break
	done
	echo "$block"
}

@test "an old block of the DAT itself is no other's" {
	image=$(copy_image plain-checkpoints)
	dead=$(dump.nilfs2 dat -a "$image" |
		awk '$5 == "dead" { print $1; exit }')
	damage "dat:$dead" "de_blocknr=$(old_own_block)"
	expect log-unlisted
	says "log-unlisted: virtual block $dead: "
	fsck.nilfs2 -fy "$image" || [ $? -eq 1 ]
	gc.nilfs2 --protect 0 --min-reclaimable 0 --compact "$image"
	expect
}
