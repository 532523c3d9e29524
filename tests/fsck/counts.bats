#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The pass over counts: leaked blocks, and counts of live blocks.

bats_require_minimum_version 1.5.0
load ../kernel/lab
load damage

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	image=$BATS_TEST_TMPDIR/image
}

# leak VBLOCK: give a virtual block out without a user, as of now.
leak() {
	damage "bitmap:dat/$1" bit=1
	damage "dat:$1" de_blocknr=0 de_start=1 de_end=18446744073709551615
}

@test "virtual blocks without references are reported in one finding" {
	need_corpus
	image=$(copy_image snapshots)
	mapfile -t free < <(dump.nilfs2 dat --free "$image" 0..1000000 |
		awk '$NF == "free" { print $1 }' | head -n 9)
	[ "${#free[@]}" -eq 9 ]
	for v in "${free[@]}"; do
		leak "$v"
	done
	nfrees=$(dump.nilfs2 set --expert --fix-checksums --json-lines "$image" \
		group:dat/0 pg_nfrees=0 | sed -n 's/.*"old":"\([0-9]*\)".*/\1/p')
	damage group:dat/0 "pg_nfrees=$((nfrees - 9))"
	expect dat-leaked
	run -0 fsck.nilfs2 -n -j 3 "$image"
	named=$(printf '%s, ' "${free[@]:0:8}")
	[[ $output == *"found 9): virtual blocks ${named%, } and more"* ]]
}

# A wrong time of a checkpoint hides the leak. Its repair must not be undone
# because the leak is seen then.
@test "a leak that the time of a checkpoint hid is freed after its repair" {
	need_corpus
	image=$(copy_image snapshots)
	v=$(dump.nilfs2 dat --free "$image" 0..1000000 |
		awk '$NF == "free" { print $1; exit }')
	leak "$v"
	nfrees=$(dump.nilfs2 set --expert --fix-checksums --json-lines "$image" \
		group:dat/0 pg_nfrees=0 | sed -n 's/.*"old":"\([0-9]*\)".*/\1/p')
	damage group:dat/0 "pg_nfrees=$((nfrees - 1))"
	expect dat-leaked
	cno=$(dump.nilfs2 checkpoints "$image" | awk 'END { print $1 }')
	damage "checkpoint:$cno" cp_create=1
	expect cp-create
	run -1 fsck.nilfs2 -fy "$image"
	[[ $output == *"time set to "*"1 entries freed that no log lists"* ]]
	expect
}

@test "nothing is said to be leaked below what cannot be read" {
	need_corpus
	image=$(copy_image deep-1k)
	node=$(dump.nilfs2 bmap -b --nodes "$image" /large |
		awk '$NF == "node" && $6 == 1 { print $5; exit }')
	damage "node:$node" bn_nchildren=60000
	expect bmap-node-nchildren
}

# A volume of ours with exact counts, and a directory in it.
make_counted() {
	mkdir -p source
	head -c 3000000 /dev/urandom >source/one
	mkfs.nilfs2 -q --size 64M -B 128 -O sufile_live_blks_ext,track_live_blks \
		-d source image
}

@test "counts of live blocks that are exact, and some that are not" {
	make_counted
	expect
	damage segment:1 su_nlive_blks=77
	expect su-nlive
	damage segment:2 su_nsnapshot_blks=3
	expect su-nlive su-nsnapshot
	damage segment:1 su_nlive_blks=200 su_nblocks=128
	expect su-nlive-blks su-nsnapshot
	damage segment:100 su_nlive_blks=1
	expect su-clean-nlive su-nlive-blks su-nsnapshot
}

@test "counts that are marked as old are not compared" {
	make_counted
	damage segment:1 su_nlive_blks=77
	damage suheader sh_exact_cno=0
	expect
	run --separate-stderr fsck.nilfs2 -n "$image"
	[[ $stderr == *"counts of live blocks"* ]]
}

@test "a kernel that wrote to such a volume leaves nothing wrong" {
	need_guest uml
	make_counted
	guest "$image" <<-'SCRIPT'
	nilfs_mount "$DEV1"
	filler 1 2000000 >"$MNT/two"
	rm "$MNT/one"
	nilfs_umount
	SCRIPT
	[ "$status" -eq 0 ]
	expect
}
