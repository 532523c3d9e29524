#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Logs of a job that was interrupted before the superblocks lead to them.  The kernel goes
# on with the volume as it was; if it crashes then, it must not take these logs for its
# own, which it searches by segment and sequence number.

bats_require_minimum_version 1.5.0
load ../kernel/lab

setup() {
	need_guest uml
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir share old new small
	for i in $(seq 30); do
		seq "$i" 3000 >"old/x$i"
	done
	for i in $(seq 1 2 30); do
		seq "$i" 2999 >"new/x$i"
	done
	echo small >small/small
	mkfs.nilfs2 -q -B 16 --size 16M -d old -d new before
	cp --sparse=always before image
}

# leave IMAGE STATE: the job that led from "before" to IMAGE ended before the superblocks
# named its log; they have STATE.
leave() {
	local last=$(($(stat -c %s before) / 4096 - 1)) block

	for block in 0 $last; do
		dd if=before of="$1" bs=4096 skip="$block" seek="$block" count=1 \
			conv=notrunc status=none
	done
	dump.nilfs2 set -q --expert --fix-checksums "$1" super:1 s_state="$2" >/dev/null
	dump.nilfs2 set -q --expert --fix-checksums "$1" super:2 s_state="$2" >/dev/null
}

# crashed IMAGE STATE CHECKPOINT: a mount finds this one as the latest, and after a crash at
# each of the first synchronizations what they have written.
crashed() {
	leave "$1" "$2"
	[ "$(dump.nilfs2 info --json "$1" | gojq .latest.checkpoint)" -eq "$3" ] || return
	guest --share "$PWD/share" "$1" <<-'EOF'
		nilfs_mount "$DEV1" || exit
		for i in 1 2 3 4 5 6 7 8 9; do
			head -c $((i * 700)) /dev/zero >"$MNT/f$i"
			sync
			dd if=$DEV1 of=$SHARE/crash.$i bs=1M iflag=direct status=none
		done
		nilfs_umount
	EOF
	[ "$status" -eq 0 ] || return
	kernel_content || return
	guest share/crash.[1-9] <<-'EOF'
		for i in 1 2 3 4 5 6 7 8 9; do
			dev=DEV$i
			nilfs_mount "${!dev}" || exit
			ls "$MNT" | grep -c '^f' | sed "s/^/files of $i: /"
			cmp "$MNT/f$i" <(head -c $((i * 700)) /dev/zero)
			nilfs_umount
		done
	EOF
	echo "$output$errors"
	[ "$status" -eq 0 ] || return
	[ "$output" = "$(for i in 1 2 3 4 5 6 7 8 9; do
		echo "files of $i: $i"
	done)" ]
}

# The superblocks say that it is not unmounted before there is a super root.
@test "of gc.nilfs2" {
	gc.nilfs2 -q --protect 0 image
	crashed image 0 3
}

@test "of gc.nilfs2 that changes a checkpoint" {
	gc.nilfs2 -q --to-snapshot 1 image
	crashed image 0 3
}

@test "of mkfs.nilfs2 --add" {
	mkfs.nilfs2 -q --add -d old image
	crashed image 1 2
}

@test "of mkfs.nilfs2 --add with small layers" {
	mkfs.nilfs2 -q -f -B 128 --size 16M -d small before
	cp --sparse=always before image
	mkfs.nilfs2 -q --add -d small -d small -d small image
	crashed image 1 1
}
