#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# dump.nilfs2 dat: against the logs, which dumpseg confirms, and lssu.

bats_require_minimum_version 1.5.0
load ../kernel/lab

setup() {
	command -v gojq >/dev/null || skip "gojq not found"
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
}

# The virtual blocks of all logs in use, "VBLOCK BLOCK", from dumpseg.
logged() {
	perl "$BATS_TEST_DIRNAME/logs_lines.pl" <"$1/dumpseg" |
		awk '$1 == "block" && $4 != "-" { print $4, $2 }'
}

@test "each entry that is current points to a block logged under its number" {
	for name in $(sample 8 $(corpus_names)); do
		dump.nilfs2 dat --all "$corpus/$name/image" >entries
		awk '$NF == "current" && $2 > 0 { print $1, $2 }' entries |
			sort >current
		[ -s current ]
		logged "$corpus/$name" | sort -u >logged
		comm -23 current logged >odd
		diff /dev/null odd
	done
}

# Of segments that are protected lssu counts every block as live.
@test "live blocks by the DAT and its own map are those that lssu counts" {
	for name in snapshots plain-checkpoints cleaned; do
		image=$corpus/$name/image
		per=$(od -An -tu4 -j $((1024 + 48)) -N 4 "$image" | tr -d ' ')
		{
			dump.nilfs2 bmap -b --nodes "$image" dat |
				awk '$NF == "data" || $NF == "node" { print $5 }'
			dump.nilfs2 dat --all "$image" | awk '
				$NF == "current" || $NF == "snapshot" { print $2 }'
		} | awk -v per="$per" '{ n[int($1 / per)]++ }
			END { for (s in n) print s, n[s] }' >ours
		awk '$4 ~ /d.-/ && $5 > 0 { print $1, $6 }' \
			"$corpus/$name/lssu-l" >theirs
		[ -s theirs ]
		awk 'FNR == NR { n[$1] = $2; next }
			n[$1] + 0 != $2 { print; bad = 1 }
			END { exit bad }' ours theirs
	done
}

@test "--all, ranges and single entries agree" {
	image=$corpus/cleaned/image
	dump.nilfs2 dat --all "$image" >all
	dump.nilfs2 dat "$image" .. >range
	diff <(sort all) <(sort range)
	awk 'NR > 1 && NR % 97 == 0' all | while read -r v b start end state; do
		dump.nilfs2 dat --json "$image" "$v" >one
		[ "$(gojq -r '"\(.entry.de_blocknr) \(.entry.de_start) \(.entry.state)"' \
			one)" = "$b $start $state" ]
		[ "$end" = - ] || [ "$(gojq .entry.de_end one)" = "$end" ]
	done
}

@test "an entry lies where it is said to lie" {
	image=$corpus/cleaned/image
	for v in $(dump.nilfs2 dat --all "$image" | awk 'NR % 301 == 2 { print $1 }'); do
		dump.nilfs2 dat --json "$image" "$v" >one
		at=$(gojq '.entry.place.blocknr * 4096 + .entry.place.offset' one)
		[ "$(od -An -tu8 -j "$at" -N 16 "$image" | tr -s ' ')" = \
			" $(gojq -r '"\(.entry.de_blocknr) \(.entry.de_start)"' one)" ]
	done
}

@test "entries of snapshots name a snapshot that lscp lists" {
	image=$corpus/snapshots/image
	dump.nilfs2 dat --all "$image" | awk '$NF == "snapshot" { print $1, $3, $4 }' \
		>held
	awk '$4 == "ss" { print $1 }' "$corpus/snapshots/lscp" >list
	[ -s held ]
	[ -s list ]
	awk 'FNR == NR { ss[$1]; next }
		{ found = 0; for (c in ss) found += c + 0 >= $2 && c + 0 < $3
		  if (!found) { print; exit 1 } }' list held
}

@test "a number for which the DAT has no entry is named, with its last one" {
	mkfs.nilfs2 -q -b 1K -B 16 --size 2M image
	run -0 dump.nilfs2 dat --free --json image 0..
	last=$(gojq '.entries[-1].vblocknr' <<<"$output")
	dump.nilfs2 dat image "$last"
	for number in $((last + 1)) 18446744073709551615; do
		run -1 dump.nilfs2 dat image "$number"
		[ "$output" = "dump.nilfs2: virtual block $number: the DAT ends with $last" ]
	done
}

@test "both or neither of --all and numbers is a usage error" {
	run -2 dump.nilfs2 dat "$corpus/empty/image"
	run -2 dump.nilfs2 dat --all "$corpus/empty/image" 1
}
