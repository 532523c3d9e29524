#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Mounted volumes on zoned devices: the zones of cleaned segments are reset, whenever
# the power is cut.  CUTS=all cuts it after all steps, not only in the first call and
# after the first of some that are alike.

bats_require_minimum_version 1.5.0
load mounted
load zones

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
