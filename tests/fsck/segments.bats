#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The pass over segments: one field of the SUFILE wrong, the rules it breaks.

bats_require_minimum_version 1.5.0
load ../kernel/lab
load damage

setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
	image=$(copy_image cleaned)
	bps=128
	# Its view by the kernel: SEGNUM DATE TIME STAT NBLOCKS, "ad--" active.
	current=$(awk '$4 ~ /^ad/ && $5 > 0 { print $1 }' "$corpus/cleaned/lssu")
	next=$(awk '$4 ~ /^ad/ && $5 == 0 { print $1 }' "$corpus/cleaned/lssu")
	clean=$(awk '$1 ~ /^[0-9]+$/ && $4 ~ /^--/ { print $1; exit }' \
		"$corpus/cleaned/lssu")
	used=$(awk '$4 ~ /^-d/ && $5 > 0 { print $1; exit }' \
		"$corpus/cleaned/lssu")
	nsegs=$(awk '$1 ~ /^[0-9]+$/' "$corpus/cleaned/lssu" | wc -l)
}

@test "what the kernel left is clean" {
	expect
}

@test "counts of the header" {
	damage suheader sh_ncleansegs=1
	expect su-nclean
	damage suheader sh_ndirtysegs=1
	expect su-nclean su-ndirty
	run -4 fsck.nilfs2 -n "$image"
	[[ $output == *"expected $(grep -c -- ' --- ' "$corpus/cleaned/lssu")"* ]]
}

@test "an erroneous segment is neither clean nor counted as dirty" {
	damage "segment:$clean" su_flags=error
	expect su-nclean
	nclean=$(grep -c -- ' --- ' "$corpus/cleaned/lssu")
	damage suheader "sh_ncleansegs=$((nclean - 1))"
	expect
}

@test "an ACTIVE flag is a leftover" {
	damage "segment:$used" su_flags=active,dirty
	expect
}

@test "the segment being written and the next one" {
	damage "segment:$current" su_flags=dirty,error
	expect su-active-error
	damage "segment:$current" su_flags=dirty
	damage "segment:$next" su_nblocks=3
	expect su-next-nblocks
	damage "segment:$next" su_nblocks=0 su_flags=0
	expect su-active-clean su-nclean su-ndirty
}

@test "the last log names its own segment as the next" {
	log=$(dump.nilfs2 logs -s "$image" "$current" | awk 'END { print $2 }')
	damage "log:$log" "ss_next=$((current * bps))"
	expect su-active-same
}

@test "the count of the segment being written ends after the last log" {
	damage "segment:$current" "su_nblocks=$bps"
	expect su-log-end
}

@test "more blocks than a segment has, unknown flags" {
	damage "segment:$used" "su_nblocks=$((bps + 1))"
	expect su-nblocks
	damage "segment:$next" su_flags=0x82
	expect su-flags su-nblocks
}

@test "a segment after the last one" {
	block=$(dump.nilfs2 bmap -b "$image" sufile |
		awk '$NF == "data" && $1 == 0 { print $5 }')
	# The header has the places of two entries; su_flags is the last field.
	damage "block:$block" "byte[$(((nsegs + 2) * 16 + 12))]=2"
	expect su-beyond
}

@test "a block of the SUFILE that is not there is reported once" {
	damage superroot 'sr_sufile.i_bmap[1]=0'
	expect su-unreadable
}
