#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The rule of --keep on a mounted volume: the kernel has the snapshots that its
# definition says, and those that were made by hand.

bats_require_minimum_version 1.5.0
load mounted

@test "snapshots by a rule, while the volume is mounted" {
	live_volume
	live_guest <<-'EOF'
		record=/mnt/tmp/record
		# write_at TIME...: a file and a checkpoint at each time.
		write_at() {
			local time

			for time; do
				date -s "@$time" >/mnt/tmp/date || exit
				echo $time >$MNT/file
				sync
			done
		}
		points() {
			dump.nilfs2 checkpoints -a --json $MNT | perl -ne 'print "$1 $2 $3\n"
				if /"checkpoint":(\d+),"created":(\d+),.*"minor":(\w+)/'
		}
		snapshots() { lscp -s $DEV1 | awk '$1 ~ /^[0-9]+$/ { print $1 }'; }
		# keep [OPTION...]: as the definition has it, with those of $others.
		keep() {
			local status

			points | perl $live/../gc/keep.pl $rule |
				cut -d ' ' -f 1 >/mnt/tmp/wanted
			gc.nilfs2 "$@" --keep $rule --keep-state $record $MNT
			status=$?
			echo "$others" | grep . | sort -nu - /mnt/tmp/wanted >/mnt/tmp/all
			snapshots | diff /mnt/tmp/all - || exit
			return $status
		}
		rule=last=2,hourly=3,daily=3,weekly=2
		write_at $(for i in 1 2 3 4 5 6 7 8; do
			echo $((1700000000 + i * 40000)); done) 1700300000
		others=3
		chcp ss $DEV1 3 || exit
		keep || exit
		cp $record $record.before
		keep || exit
		cmp $record $record.before || exit
		echo "same record"
		# A snapshot to be dropped is mounted.
		write_at $(for i in 1 2 3 4; do
			echo $((1701000000 + i * 90000)); done)
		busy=$(gc.nilfs2 -n --keep $rule --keep-state $record $MNT |
			awk '/ dropped / { print $1; exit }')
		nilfs_mount -o ro,cp=$busy $DEV1 /mnt/tmp/old || exit
		others=$(printf "3\n$busy")
		keep
		echo "status $?"
		grep -c "^$busy " $record
		nilfs_umount /mnt/tmp/old
		gc.nilfs2 -n --keep $rule --keep-state $record $MNT |
			grep "^ *$busy .*dropped" || exit
		others=3
		keep || exit
		! grep "^$busy " $record || exit
		rule=last=1
		date -s @1702000000 >/mnt/tmp/date
		keep --protect 0 --free 1
		rule=daily=2
		nilfs_umount
		gc.nilfs2 --keep $rule --keep-state $record $DEV1 || exit
		nilfs_mount $DEV1 || exit
		keep || exit
		chcp cp $DEV1 3 || exit
		others=
		keep || exit
		nilfs_umount
		fsck.nilfs2 -nf $DEV1
	EOF
	[ "$status" -eq 0 ]
	[[ $output == *"same record"*"status 1"$'\n1\n'*": clean, "* ]]
	[[ $errors == *"is mounted; unmount it first"* ]]
	kernel_content
}
