# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# What a person asks about the past: history, find, du, a copy of the metadata, of a
# volume with many checkpoints, each with one file more than the one before.
#
#	BENCH_NAMES	thousands of files of the first checkpoint (100)
#	BENCH_PLAIN	checkpoints (1000)

past_case() {
	local v=$scratch/past d=$dump

	title "past: $1 thousand files, $2 checkpoints"
	interleave 5 -s 60 -b "rm -f $scratch/meta" -r "limit: find of the tree" \
		"ours, history of a file=$d history $v /000/01/file-00007" \
		"ours, history of a new one=$d history $v /000/05/new-15" \
		"ours, find --all=$d find --all $v new-*" \
		"ours, find --deleted=$d find --deleted $v" \
		"ours, find=$d find $v new-*" \
		"ours, du=$d du $v" \
		"ours, du --free=$d du --free ..$(($2 / 2)) $v" \
		"ours, image=$d image $v $scratch/meta" \
		"limit: find of the tree=find $scratch/names -name new-*" \
		"limit: du of the tree=du $scratch/names"
	rm -f "$scratch/meta"
}

bench_past() {
	local names=${BENCH_NAMES:-100} plain=${BENCH_PLAIN:-1000}

	# shellcheck source=tests/bench/snapshots.sh
	. "$here/snapshots.sh"
	mkdir "$scratch/names" "$scratch/layers"
	make_names "$scratch/names" "$names"
	make_layers "$scratch/layers" "$plain"
	fill_layers "$plain" "$scratch/past"
	rm -rf "$scratch/layers"
	past_case "$names" "$plain"
	rm -rf "$scratch/names" "$scratch/past"
}
