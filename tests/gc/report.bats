#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What gc.nilfs2 prints: numbers that others count too, and how far it is.

bats_require_minimum_version 1.5.0

load ../kernel/lab
load ../kernel/things
load gc

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	need_corpus
	image=$(copy_image deep-1k)
}

# value KEY: of the report in the file outcome, be it of cleaning or of $job.
value() {
	gojq ".${job-result}.$1" outcome
}

# logs FILTER: a sum over all logs of $image that were written by the cleaner.
logs() {
	dump.nilfs2 logs --json "$image" |
		gojq "[.logs[] | select(.ss_cno > $latest) | $1] | add"
}

# remember_latest: the checkpoint that there is before.
remember_latest() {
	latest=$(dump.nilfs2 checkpoints -a "$image" |
		awk '$1 ~ /^[0-9]+$/ { n = $1 } END { print n }')
}

# is_in_logs: the report is that of one batch, and all of it stands in the logs.
is_in_logs() {
	[ "$(value batches)" -eq 1 ] &&
		[ "$(value blocks_written)" -eq "$(logs .ss_nblocks)" ] &&
		[ "$(value written_summaries)" -eq \
			"$(logs .summary_blocks)" ] &&
		[ "$(value written_data)" -eq "$(logs '[.files[] |
			select(.fi_ino < 3 or .fi_ino > 6) | .fi_nblocks] |
			add // 0')" ] &&
		[ "$(value written_metadata)" -eq "$(($(logs '[.files[] |
			select(.fi_ino >= 3 and .fi_ino <= 6) |
			.fi_nblocks] | add // 0') + 1))" ]
}

@test "what was written is what stands in the new logs" {
	remember_latest
	gc --json >outcome
	is_in_logs
	image=$(copy_image deep-1k)
	job=copy
	gc --json --output copy.image >outcome
	image=copy.image is_in_logs
	job=grow
	gc --json --grow=100M >outcome
	is_in_logs
}

@test "each job prints what was written, and how long it took" {
	while read -ra words; do
		job=${words[0]}
		echo "$job:"
		image=$(copy_image deep-1k)
		gc --json "${words[@]:1}" >outcome
		gojq -e ".$job | .blocks_written > 0 and .elapsed_ms < 600000 and
			.blocks_written == .written_data + .written_metadata +
				.written_summaries and
			(.written_per_moved - 100 * .blocks_written /
				.blocks_moved | fabs) < 0.01" outcome
	done <<-'JOBS'
	result --free=4
	compaction --compact
	shrink --shrink
	defragmentation --defrag=all
	purge --purge --free=0
	JOBS
}

@test "amplification is what is written for what was moved and won" {
	gc --json >outcome
	[ "$(value bytes_freed)" -eq "$((($(value clean_after) - \
		$(value clean_before)) * 1024 * 1024))" ]
	gojq -e '.result | (.written_per_moved - 100 * .blocks_written /
		.blocks_moved | fabs) < 0.01' outcome
	gojq -e '.result | (.written_per_freed - 100 * 1024 * .blocks_written /
		.bytes_freed | fabs) < 0.01' outcome
	[ "$(value elapsed_ms)" -lt 600000 ]
	gc --json >outcome
	[ "$(value written_per_moved)" = null ]
	[ "$(value written_per_freed)" = null ]
}

@test "progress goes from nothing to all blocks" {
	for image in $(copy_image deep-1k) $(copy_image plain-checkpoints); do
		gc -C 3 3>steps >/dev/null
		grep -q ' checking files$' steps
		grep ' moving$' steps >progress
		[ "$(wc -l <progress)" -gt 50 ]
		[ "$(cut -d ' ' -f 1,3,4 progress | sort -u | wc -l)" -eq 1 ]
		sort -c -n -k 2 progress
		# The total is an estimate.
		tail -n 1 progress | awk '{ exit !($4 == "moving" &&
			$2 <= $3 && $2 > 0.9 * $3) }'
	done
	gc -q -C 3 3>progress
	[ ! -s progress ]
}

@test "a forecast says what keeps old blocks, and the option that helps" {
	for name in snapshots deep-1k nearly-full; do
		image=$(copy_image "$name")
		size=$(dump.nilfs2 info --json "$image" | gojq .geometry.block_bytes)
		gc.nilfs2 -n -v --json --free 0 --protect 0 "$image" >forecast
		gojq -e --argjson size "$size" '(.segments | map(.snapshot) | add) *
			$size == .kept.snapshot_bytes and
			(.segments | map(.dead) | add) * $size ==
			.kept.spared_bytes + .kept.other_bytes' forecast
		run -0 gc.nilfs2 -n --protect 99999999999 "$image"
		[[ $output == *"Protection period: "* ]]
	done
	run -0 gc.nilfs2 -n --protect 0 "$(copy_image snapshots)"
	[[ $output == *"To free more: --to-checkpoint or --delete-checkpoints"* ]]
	run -0 gc.nilfs2 -n --protect 99999999999 "$(copy_image deep-1k)"
	[[ $output == *"To free more: a shorter period of --protect"* ]]
	run -0 gc.nilfs2 -n --protect 0 "$(copy_image nearly-full)"
	[[ $output == *"To free more: --min-reclaimable 1 "* ]]
}

@test "the deletion of old checkpoints is announced before it happens" {
	image=$(copy_image nearly-full)
	run -0 --separate-stderr gc.nilfs2 --protect 0 -n "$image"
	[[ $stderr == *"up to 55 plain checkpoints of 1..55, older than --protect"* ]]
	[[ $output == *"Old checkpoints deleted:  55"* ]]
	run -0 --separate-stderr gc.nilfs2 --protect 99999999999 "$image"
	[ -z "$stderr" ]
	run -0 --separate-stderr gc.nilfs2 --protect 0 --free 0 "$image"
	[ -z "$stderr" ]
}

@test "with -q only warnings and errors are printed, and JSON" {
	run -0 gc.nilfs2 -q --protect 0 "$image"
	[ -z "$output" ]
	run -0 gc.nilfs2 -q -v -n --compact "$image"
	[ -z "$output" ]
	run -0 gc.nilfs2 -q --json --take-snapshot "$image"
	[[ $output == *'"taken": '* ]]
	run -1 gc.nilfs2 -q --free 100% "$image"
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == *"segments requested"* ]]
}

@test "a limit of memory that ends cleaning is mentioned" {
	run -0 --separate-stderr gc --max-memory 1M -n
	[[ $stderr == *"--max-memory: a batch of this size gains nothing more"* ]]
	run -0 --separate-stderr gc -n
	[[ $stderr != *"--max-memory"* ]]
}

@test "more than all of a segment cannot be reclaimable" {
	run -2 gc --min-reclaimable 101
	[[ $output == *"--min-reclaimable: 101 is too large"* ]]
	run -0 gc --min-reclaimable 100 -n
}

@test "policies are compared by what each would do" {
	before=$(state_of "$image")
	gc --json --compare --free 4 >table
	[ "$(state_of "$image")" = "$before" ]
	policies=$(gojq -r '.policies[].policy' table)
	[ "$(wc -w <<<"$policies")" -ge 6 ]
	for policy in $policies; do
		echo "$policy"
		image=$(copy_image deep-1k)
		gc --json --free 4 --policy "$policy" >outcome
		diff <(gojq -S ".policies[] | select(.policy == \"$policy\") |
			del(.policy)" table) \
			<(gojq -S '.result | {segments_cleaned, blocks_moved,
				blocks_written, bytes_freed, written_per_moved,
				written_per_freed}' outcome)
	done
}

@test "policies are compared as of what is left of the checkpoints" {
	image=$(copy_image snapshots)
	gc -q --json --compare >all
	gc -q --json --compare -f --delete-checkpoints .. >fewer
	[ "$(gojq '.policies[0].bytes_freed' fewer)" -gt \
		"$(gojq '.policies[0].bytes_freed' all)" ]
}

# cells: in an SVG, how many there are of each look; one is a unit.
cells() {
	awk '
		match($0, /height="1" fill="[^>]*>/) {
			split($0, part, "\"")
			cells[substr($0, RSTART, RLENGTH)] += part[6]
		}
		END { for (c in cells) print c, cells[c] }' | sort
}

# rectangles TITLE: of map.svg, below that title.
rectangles() {
	awk -v title=">$1<" '
		/font-size="14"/ { on = index($0, title) }
		on' map.svg | cells
}

# drawn: how dump.nilfs2 draws $image.
drawn() {
	dump.nilfs2 map --svg - "$image" | cells
}

@test "the picture shows what dump.nilfs2 shows, before and after" {
	drawn >before
	gc -n --svg map.svg
	xmllint --noout map.svg
	rectangles After >forecast
	diff <(rectangles Before) before
	rm map.svg
	gc --svg map.svg
	diff <(rectangles Before) before
	diff <(rectangles After) forecast
	diff <(rectangles After) <(drawn)
	! cmp -s before forecast
}

@test "no picture takes the place of anything, and nothing is cleaned then" {
	before=$(cksum "$image")
	spares_things 1 gc.nilfs2 --protect 0 --svg OUT "$image"
	# --force is what deletes snapshots.
	spares 1 mine exists gc.nilfs2 --protect 0 --force --svg OUT "$image"
	[[ $output != *--force* ]]
	[ "$(cksum "$image")" = "$before" ]
}

# listed IMAGE: what dump.nilfs2 counts for the segments of an image.
listed() {
	dump.nilfs2 segments -o segment,live,snapshot,dead "$1" |
		awk '$1 ~ /^[0-9]+$/ { print $1, $2 + $3, $3, $4 }' | sort -n
}

# rows WHICH: of the listing in the file outcome: those cleaned, or the others.
rows() {
	gojq -r --arg which "$1" '.segments[] |
		select((.fate == "cleaned") == ($which == "cleaned")) |
		"\(.segment) \(.live) \(.snapshot) \(.dead)"' outcome | sort
}

@test "each segment is listed once, with its counts and its fate" {
	for name in snapshots nearly-full; do
		image=$(copy_image "$name")
		cp "$image" before
		gc -v --json --free 3 >outcome
		rows cleaned >cleaned
		rows others >others
		[ "$(cat cleaned others | awk '{ print $1 }' | sort |
			uniq -d | wc -l)" -eq 0 ]
		[ -z "$(comm -13 <(listed before | sort) cleaned)" ]
		[ -z "$(comm -13 <(listed "$image" | sort) others)" ]
		[ "$(gojq '[.segments[] | select(.fate == "cleaned")] | length' \
			outcome)" -eq "$(value segments_cleaned)" ]
		[ "$(gojq '[.segments[] | select(.fate == "unneeded")] | length' \
			outcome)" -gt 0 ]
	done
}

@test "why a segment was not worth it" {
	image=$(copy_image snapshots)
	gc.nilfs2 --protect 0 --min-reclaimable 60 -v --json "$image" >outcome
	gojq -e '[.segments[] | select(.fate == "spared")] | length > 0 and
		all(.reclaimable < 60 and .live > 0)' outcome
	gojq -e '[.segments[] | select(.fate == "spared" and .snapshot > 0)] |
		length > 0' outcome
	gojq -e '[.segments[] | select(.fate == "cleaned")] |
		all(.reclaimable >= 60 or .live == 0)' outcome
	gc --json >outcome
	[ "$(gojq .segments outcome)" = null ]
}
