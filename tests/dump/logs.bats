#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# dump.nilfs2 logs: against dumpseg of nilfs-utils over the whole corpus, and
# on logs that were damaged by hand.

bats_require_minimum_version 1.5.0
load ../kernel/lab

setup() {
	command -v gojq >/dev/null || skip "gojq not found"
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
}

dumpseg_lines() {
	perl "$BATS_TEST_DIRNAME/logs_lines.pl"
}

# logs_lines BLOCKS-PER-SEGMENT
logs_lines() {
	gojq -r --argjson per "$1" -f "$BATS_TEST_DIRNAME/logs_lines.jq"
}

# put IMAGE BYTE <BYTES: overwrite part of an image.
put() {
	dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# blocks_per_segment IMAGE: s_blocks_per_segment of the first superblock.
blocks_per_segment() {
	od -An -tu4 -j $((1024 + 48)) -N 4 "$1" | tr -d ' '
}

# living LSSU <LINES: without what dumpseg shows of an earlier life, which is
# in segments of which no block is counted, under a number below the greatest.
living() {
	cat >dumped
	awk 'FILENAME != file { file = FILENAME; part++ }
		part == 1 { n[$1] = $NF; next }
		$1 == "log" { shown = n[$2] > 0 || $3 > seq }
		part == 2 && $1 == "log" && n[$2] > 0 && $3 > seq { seq = $3 }
		part == 3 && shown' "$1" dumped ./dumped
}

@test "every log, file and block is what dumpseg says" {
	for name in $(sample 8 $(corpus_names)); do
		image=$corpus/$name/image
		per=$(blocks_per_segment "$image")
		dumpseg_lines <"$corpus/$name/dumpseg" |
			living "$corpus/$name/lssu" >theirs
		dump.nilfs2 logs --blocks --json-lines "$image" |
			logs_lines "$per" >ours
		[ -s theirs ]
		diff theirs ours
	done
}

@test "a segment of which no block is in use has what dumpseg says, as stale" {
	image=$corpus/cleaned-1k/image
	per=$(blocks_per_segment "$image")
	segnum=$(awk '$4 ~ /d/ && $5 == 0 { print $1 }' "$corpus/cleaned-1k/lssu")
	dumpseg_lines <"$corpus/cleaned-1k/dumpseg" |
		awk -v s="$segnum" '$1 == "log" { shown = $2 == s } shown' >theirs
	dump.nilfs2 logs --blocks --json-lines "$image" "$segnum" >none
	[ ! -s none ]
	dump.nilfs2 logs --blocks --stale --json-lines "$image" "$segnum" |
		tee stale | logs_lines "$per" >ours
	[ -s ours ]
	[ "$(grep -vc '"state":"stale"' stale)" -eq 0 ]
	diff theirs <(head -n "$(wc -l <theirs)" ours)
}

@test "the image is left as it was" {
	image=$corpus/cleaned-1k/image
	before=$(state_of "$image")
	dump.nilfs2 logs --blocks --verify --stale "$image" >/dev/null
	[ "$(state_of "$image")" = "$before" ]
}

# What a power cut tore is after the latest super root.
@test "all checksums of the corpus are right" {
	for name in $(sample 8 $(corpus_names)); do
		dump.nilfs2 logs --verify --json-lines --short \
			"$corpus/$name/image" >rows ||
			grep -q '"state":"newer".*_is_right":false' rows
		grep '"state":"current"' rows >current
		run -1 grep -v '"sumsum_is_right":true,"datasum_is_right":true' \
			current
	done
}

@test "a data-sync log and a log of the cleaner carry their flags" {
	dump.nilfs2 logs -s --stale "$corpus/crash-dsync/image" |
		grep -q 'newer .*syndt'
	dump.nilfs2 logs -s "$corpus/cleaned/image" | grep -q 'current .*gc'
	run -1 grep -c 'gc$' <(dump.nilfs2 logs -s "$corpus/special/image")
}

@test "a changed payload is found by --verify alone" {
	image=$(copy_image special)
	printf 'x' | put "$image" $((20 * 4096 + 100))
	logs=$(dump.nilfs2 logs -s "$image" | grep -c current)
	run -1 --separate-stderr dump.nilfs2 logs -s --verify "$image"
	[[ $stderr == *"log at block 12: "* ]]
	[ "$(grep -c ' yes  *no ' <<<"$output")" -eq 1 ]
	[ "$(grep -c ' yes  *yes ' <<<"$output")" -eq $((logs - 1)) ]
}

@test "a changed summary is found, and the blocks are still shown" {
	image=$(copy_image special)
	printf 'x' | put "$image" $((12 * 4096 + 2700))
	run -1 --separate-stderr dump.nilfs2 logs -s "$image"
	[ "$(awk '$2 == 12 { print $12 }' <<<"$output")" = no ]
	run -1 dump.nilfs2 logs --blocks "$image"
	[[ $output == *$'\n        90 '* || $output == *$'\n        89 '* ]]
}

@test "a log without its magic number ends the segment with a complaint" {
	image=$(copy_image special)
	printf 'xxxx' | put "$image" $((12 * 4096 + 8))
	run -1 --separate-stderr dump.nilfs2 logs -s "$image"
	[[ $stderr == *"segment 0: no log at block 12"* ]]
	[ "$(grep -c current <<<"$output")" -eq 1 ]
}

@test "logs of an earlier life of a segment are found by --stale" {
	dump.nilfs2 logs -s --stale "$corpus/cleaned/image" >rows
	grep -q ' stale ' rows
	dump.nilfs2 logs -s "$corpus/cleaned/image" >plain
	run -1 grep stale plain
	diff <(grep current rows) <(grep current plain)
}

@test "segments by number, ranges, and segments that are not there" {
	image=$corpus/cleaned/image
	dump.nilfs2 logs -s "$image" >all
	one=$(awk 'NR == 2 { print $1 }' all)
	dump.nilfs2 logs -s "$image" "$one" >few
	diff few <(awk -v s="$one" 'NR == 1 || $1 == s' all)
	dump.nilfs2 logs -s "$image" .. | diff - <(sort -s -n -k1,1 all)
	run -1 dump.nilfs2 logs "$image" 4000000
	[[ $output == *"segment 4000000: the volume has "* ]]
}

@test "ss_cno of a header of 56 bytes, which ends before it, is absent" {
	image=$(copy_image empty)
	read -r block sum < <(dump.nilfs2 logs --json "$image" |
		gojq -r '.logs[-1] | "\(.blocknr) \(.ss_sumbytes)"')
	# What follows the header moves up by the eight bytes of ss_cno.
	dd if="$image" bs=1 skip=$((block * 4096 + 64)) count=$((sum - 64)) \
		status=none | put "$image" $((block * 4096 + 56))
	dump.nilfs2 set -q --expert --fix-checksums "$image" "log:$block" \
		ss_bytes=56 "ss_sumbytes=$((sum - 8))" >/dev/null
	run -0 dump.nilfs2 logs --json "$image"
	[ "$(gojq '.logs[-1].ss_cno' <<<"$output")" = null ]
	[ "$(gojq '.logs[-1].files | length' <<<"$output")" -eq 5 ]
	run -0 dump.nilfs2 logs "$image"
	[[ $output == *ss_cno:*" -"* ]]
	run -0 fsck.nilfs2 -fn "$image"
}
