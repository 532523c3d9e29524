#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The pass over checkpoints: one field of the cpfile wrong, the rules it breaks.

bats_require_minimum_version 1.5.0
load ../kernel/lab
load damage

# What the kernel left: checkpoints 1 ... 22 without 16 and 17, of which 2, 4, 7
# and 21 are snapshots; a block has 21, the first one the header's place.
setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
	image=$(copy_image snapshots)
}

# cpfile_block N: the block of the device that has block N of the cpfile.
cpfile_block() {
	dump.nilfs2 bmap -b "$image" cpfile |
		awk -v n="$1" '$1 == n && $NF == "data" { print $5 }'
}

@test "what the kernel left is clean" {
	expect
	[ "$(awk '$4 == "ss" { printf "%s ", $1 }' "$corpus/snapshots/lscp")" = \
		"2 4 7 21 " ]
}

@test "counts of the header" {
	damage cpheader ch_ncheckpoints=21
	expect cp-ncheckpoints
	says "expected 20"
	damage cpheader ch_ncheckpoints=20 ch_nsnapshots=5
	expect cp-nsnapshots
	says "expected 4"
}

@test "both ends of the list of snapshots" {
	damage cpheader ch_snapshot_list.ssl_next=4
	expect cp-snapshot-next
	damage cpheader ch_snapshot_list.ssl_next=2 ch_snapshot_list.ssl_prev=7
	expect cp-snapshot-prev
	says "expected 21"
}

@test "links of the list of snapshots" {
	damage checkpoint:4 cp_snapshot_list.ssl_next=21
	expect cp-snapshot-next
	says "checkpoint 4"
	damage checkpoint:4 cp_snapshot_list.ssl_next=7
	damage checkpoint:7 cp_snapshot_list.ssl_prev=0
	expect cp-snapshot-prev
	says "checkpoint 7"
	damage checkpoint:7 cp_snapshot_list.ssl_prev=4
	damage checkpoint:21 cp_snapshot_list.ssl_next=2
	expect cp-snapshot-next
}

@test "lists that loop, run backwards, or lead out of the file" {
	damage checkpoint:4 cp_snapshot_list.ssl_next=4 \
		cp_snapshot_list.ssl_prev=4
	expect cp-snapshot-next cp-snapshot-prev
	damage checkpoint:4 cp_snapshot_list.ssl_next=2 \
		cp_snapshot_list.ssl_prev=7
	expect cp-snapshot-next cp-snapshot-prev
	damage checkpoint:4 cp_snapshot_list.ssl_next=0xffffffffffffffff \
		cp_snapshot_list.ssl_prev=0xffffffffffffffff
	expect cp-snapshot-next cp-snapshot-prev
	[ "$(fsck.nilfs2 -n "$image" | grep -c '^cp-')" -eq 2 ]
}

@test "a snapshot that is none any longer is found by its neighbours" {
	damage checkpoint:7 cp_flags=none
	expect cp-nsnapshots cp-snapshot-next cp-snapshot-prev
	[ "$(fsck.nilfs2 -n "$image" | grep -c '^cp-')" -eq 3 ]
}

@test "links of checkpoints that are no snapshots mean nothing" {
	damage checkpoint:5 cp_snapshot_list.ssl_next=3 \
		cp_snapshot_list.ssl_prev=9
	expect
}

@test "a number that is not its place" {
	damage checkpoint:9 cp_cno=8
	expect cp-cno
	says "expected 9, found 8"
}

@test "flags" {
	damage checkpoint:9 cp_flags=0x20
	expect cp-flags
	run -0 fsck.nilfs2 -n "$image"
	damage checkpoint:9 cp_flags=minor,sketch
	expect
}

@test "a deleted checkpoint is not counted" {
	damage checkpoint:9 cp_flags=invalid
	expect cp-ncheckpoints
	damage cpheader ch_ncheckpoints=19
	expect
}

@test "a deleted checkpoint is no snapshot" {
	damage checkpoint:7 cp_flags=invalid,snapshot
	damage cpheader ch_ncheckpoints=19 ch_nsnapshots=3
	damage checkpoint:4 cp_snapshot_list.ssl_next=21
	damage checkpoint:21 cp_snapshot_list.ssl_prev=4
	expect cp-deleted-snapshot
	damage checkpoint:7 cp_flags=invalid
	expect
}

# Checkpoints 21 and 22 are in block 1, whose first entry has the count.
@test "the count of a block" {
	damage checkpoint:21 cp_checkpoints_count=3
	expect cp-block-count
	says "expected 2, found 3"
	damage checkpoint:21 cp_checkpoints_count=2
	damage checkpoint:1 cp_checkpoints_count=77
	expect
}

@test "checkpoints to come" {
	block=$(cpfile_block 1)
	# The third entry of 192 bytes, checkpoint 23: its flags.
	damage "block:$block" "byte[$((2 * 192))]=0"
	expect cp-future
	damage "block:$block" "byte[$((2 * 192))]=1"
	expect cp-future
	says "found 1"
}

@test "the latest checkpoint is deleted" {
	damage checkpoint:22 cp_flags=invalid
	says '^cp-latest: checkpoint 22'
}

@test "an unwritten header" {
	damage superroot 'sr_cpfile.i_bmap[1]=0'
	says '^cp-header-missing: cpfile: block 0'
}

@test "holes where all are deleted are what the kernel leaves" {
	image=$(copy_image many-snapshots-2k)
	[ -z "$(cpfile_block 2)" ]
	expect
}
