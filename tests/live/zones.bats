#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Mounted volumes on zoned devices: the zones of cleaned segments are reset, so that the
# kernel can write around the end of the volume again and again, whenever a run is
# killed and whenever the power is cut.
#
# MIB=N writes so many MiB (280), POLICY_ROUNDS=N runs each policy so often (1), and
# STEPS=N kills a run after each of its first N steps (12).  CUTS=all cuts the power after
# all steps, not only in the first call and after the first of some that are alike.

bats_require_minimum_version 1.5.0
load mounted

# zoned_volume SPEC...: a new volume on the first of zoned devices, made in the guest.
zoned_volume() {
	local spec

	need_guest qemu
	command -v cc >/dev/null || skip "no C compiler for steps.c"
	backend=qemu
	mkdir "$BATS_TEST_TMPDIR/share"
	cc -O1 -shared -fPIC -o "$BATS_TEST_TMPDIR/share/steps.so" \
		"$NILFS2_SOURCE/tests/live/steps.c"
	live_devices=(--mem 1G --timeout 900 --share "$BATS_TEST_TMPDIR/share")
	for spec; do
		live_devices+=(--zoned "$spec")
	done
	tools="$tools
		export DEV1=\$ZONED1 ZONED2 live RUNTIME_DIRECTORY=/mnt/tmp/run
		export all_cuts=${CUTS-}
		mib=${MIB-280} rounds=${POLICY_ROUNDS-1} steps=${STEPS-12}
		# stepping STEP_...=VALUE...: gc, as steps.c has it.
		stepping() {
			env LD_PRELOAD=\$SHARE/steps.so \"\$@\" gc.nilfs2 -q \\
				--protect 0 --min-reclaimable 1 \$MNT \\
				>>/mnt/tmp/report
		}
		mkfs.nilfs2 -q \$DEV1"
}

# The second superblock does not exist on such a device.  Numbers that are freed twice,
# after a run that was killed, are harmless.
no_complaints() {
	run ! grep -v "broken superblock, retrying with spare" \
		<(kernel_complaints "$dmesg")
	run ! grep "already clean\|must be clean" <<<"$dmesg"
}

@test "a volume with zones is written several times its size, also if gc is killed" {
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
				gc.nilfs2 -q --policy $policy --protect 0 --free 2 \
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

# After each step what is on the device is copied to another one with such zones.
@test "the power is cut after any step of gc on a volume with zones" {
	zoned_volume size=40,zone_size=1,zone_nr_conv=1 \
		size=40,zone_size=1,zone_nr_conv=1
	live_guest <<-'EOF'
		cat >/mnt/tmp/cut <<-'END'
			step=$1 last=
			[ ! -e /mnt/tmp/last ] || last=$(cat /mnt/tmp/last)
			echo $2 >/mnt/tmp/last
			if [ -z "$all_cuts" ]; then
				[ -e /mnt/tmp/cuts ] || [ $2 = move ] || exit 0
				[ "$last" != $2 ] || exit 0
				echo >>/mnt/tmp/cuts
				[ $(wc -l </mnt/tmp/cuts) -le 5 ] || exit 0
			fi
			. /mnt/host/guest-lib.sh
			cd /mnt/tmp
			fails() {
				echo "step $step: $*"
				exit 1
			}
			blockdev --flushbufs $DEV1
			zbd reset $ZONED2
			zbd dump -d . -f cut $DEV1 >/dev/null &&
				zbd restore -d . -f cut $ZONED2 >/dev/null ||
				fails copy
			# Until a segment is known to have no blocks, its logs list
			# the numbers that the move has freed.
			if ! fsck.nilfs2 -nf $ZONED2 >found; then
				[[ " $2 $last " == *" move "* ]] &&
					! grep -v "^log-numbers: \|, 0 warnings, " \
						found || fails fsck $(cat found)
			fi
			nilfs_mount $ZONED2 /mnt/tmp/cut.d || fails mount
			(cd cut.d && sha256sum -c --quiet ../sums) || fails sums
			gc.nilfs2 -q --protect 0 cut.d >/dev/null || fails gc
			head -c 12000000 /dev/zero >cut.d/zeros || fails write
			(cd cut.d && sha256sum -c --quiet ../sums) || fails sums
			nilfs_umount /mnt/tmp/cut.d
			fsck.nilfs2 -nf $ZONED2 || fails fsck after
			echo "step $step: right after $2"
		END
		noises $MNT/a 10 39 200000
		snapshot $DEV1
		perl $live/churn.pl $MNT/churn 3 8 9
		rm $MNT/a?0
		sync
		(cd $MNT && sha256sum a* churn) >/mnt/tmp/sums
		stepping STEP_RUN="bash /mnt/tmp/cut"
		echo "ended: $?"
		cat /mnt/tmp/report
		nilfs_umount
		fsck.nilfs2 -nf $DEV1
	EOF
	[ "$status" -eq 0 ]
	for step in move set sync reset; do
		[[ $output == *": right after $step"* ]]
	done
	[[ $output == *"ended: 0"*": clean, "* ]]
	no_complaints
}
