#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Mounted volumes on zoned devices, written again and again around their end while runs
# of gc.nilfs2 are killed.  Two minutes, so make check-live runs it.
#
# MIB=N writes so many MiB (280), POLICY_ROUNDS=N runs each policy so often (1), and
# STEPS=N kills a run after each of its first N steps (12).

bats_require_minimum_version 1.5.0
load mounted
load zones

@test "a volume with zones is written while it is cleaned, also if gc is killed" {
	zoned_volume size=256,zone_size=4,zone_nr_conv=1
	live_guest <<-'EOF'
		perl $live/writer.pl $MNT 6 /mnt/tmp/model &
		writer=$!
		four_snapshots() {
			[ $(ls /mnt/tmp/model.*[0-9] 2>/dev/null | wc -l) -eq 4 ]
		}
		wait_until four_snapshots
		# Files there are not compared.
		perl $live/churn.pl $MNT/.taken/churn 64 7 $mib 24 &
		churn=$!
		# It is read from the device while its blocks are moved.
		filler 5 2097152 >/mnt/tmp/still
		for i in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
			dd if=/mnt/tmp/still of=$MNT/.taken/still bs=128K count=1 \
				skip=$i seek=$i conv=notrunc,fsync status=none
		done
		while [ ! -e /mnt/tmp/model.end ]; do
			dd if=$MNT/.taken/still bs=256K iflag=direct status=none |
				cmp - /mnt/tmp/still || exit
			echo >>/mnt/tmp/reads
			sleep 0.2
		done &
		reader=$!
		few_clean() {
			[ "$(lssu $DEV1 | tail -n +2 | wc -l)" -gt 32 ]
		}
		wait_until few_clean
		for ((round = 0; round < rounds; round++)); do
			for policy in optimal greedy cost-benefit cost-benefit-lfs \
				data-first weighted timestamp; do
				gc.nilfs2 --policy $policy --protect 0 --free 2 \
					--min-reclaimable 1 --latency 5000 $MNT
			done
		done
		for ((step = 1; step <= steps; step++)); do
			stepping STEP_LOG=/mnt/tmp/steps.$step STEP_KILL=$step
			echo "killed: $? after $(tail -n 1 /mnt/tmp/steps.$step)"
		done
		gc.nilfs2 --watch --latency 5000 --low 45% --high 60% --protect 0 $MNT &
		watch=$!
		wait $churn || exit
		gc.nilfs2 --status $MNT
		kill $watch
		wait $watch || exit
		>/mnt/tmp/model.end
		wait $writer || exit
		wait $reader || exit
		echo "$(wc -l </mnt/tmp/reads) reads"
		all_same /mnt/tmp/model || exit
		nilfs_umount
		fsck.nilfs2 -nf $DEV1
	EOF
	[ "$status" -eq 0 ]
	[[ $errors != *skipped* ]]
	[[ $output == *"MiB written"*"4 snapshots"*": clean, "* ]]
	[[ $output == *"killed: 137 after "*" move"* ]]
	[[ $output == *"killed: 137 after "*" reset"* ]]
	[ "$(grep -c "^killed: 137" <<<"$output")" -ge 8 ]
	no_complaints
}
