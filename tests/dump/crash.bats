#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Volumes that were cut off while they were written: their files as a mount
# without recovery shows them, and with --recover as the next mount would.

load ../kernel/lab
load corpus
load files
bats_require_minimum_version 1.5.0

setup() {
	need_corpus
	make_room
}

teardown() {
	drop_room
}

crashed() {
	corpus_names | grep '^crash-'
}

# view_equals NAME MANIFEST OPTION...
view_equals() {
	echo "image $1:"
	dump.nilfs2 export "${@:3}" "$corpus/$1/image" "$room/d"
	equals_kernel "$room/d" "$corpus/$1/$2"
	rm -rf "$room/d"
}

@test "without recovery" {
	need_root
	for name in $(crashed); do
		view_equals "$name" manifest.norecovery
	done
}

@test "as the next mount recovers it, and the image stays as it was" {
	need_root
	for name in $(crashed); do
		before=$(state_of "$corpus/$name/image")
		view_equals "$name" manifest.recovered --recover
		[ "$(state_of "$corpus/$name/image")" = "$before" ]
	done
}

@test "the recovery of data syncs makes a difference" {
	for name in crash-dsync crash-dsync-1k; do
		run ! cmp -s "$corpus/$name/manifest.norecovery" \
			"$corpus/$name/manifest.recovered"
	done
}

@test "a recovered state is the latest one only" {
	run -2 dump.nilfs2 ls --recover -c 1 "$corpus/crash-sr/image"
}
