#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# fsck.nilfs2 -n with the directory of a mounted volume: one state is checked, whatever
# is written meanwhile.

bats_require_minimum_version 1.5.0
load mounted

@test "nothing is found on a mounted volume that is written and cleaned" {
	live_volume
	live_guest <<-'EOF'
		perl $live/writer.pl $MNT 3 /mnt/tmp/model &
		writer=$!
		sleep 0.5
		for i in 1 2 3 4 5 6; do
			fsck.nilfs2 -nf $MNT || exit
			fsck.nilfs2 -n --data $MNT || exit
			gc.nilfs2 -q --protect 0 $MNT >/mnt/tmp/report || exit
		done
		fsck.nilfs2 -n --quick $MNT || exit
		>/mnt/tmp/model.end
		wait $writer || exit
		nilfs_umount
		fsck.nilfs2 -nf $DEV1
	EOF
	[ "$status" -eq 0 ]
	[ "$(grep -c ": clean, " <<<"$output")" -eq 14 ]
	# Neither warnings, nor notes about a recovery.
	[[ $errors != *fsck.nilfs2:* ]]
	kernel_content
}

# writer_and_cleaner: both run until /mnt/tmp/model.end exists.
busy='
	writer_and_cleaner() {
		# No snapshots, which would fill a small volume.
		head -c 300000 /dev/urandom >/mnt/tmp/noise
		until [ -e /mnt/tmp/model.end ]; do
			for i in $(seq 20); do
				cat /mnt/tmp/noise >$MNT/written.$i
				[ $((i % 5)) -ne 0 ] || sync
			done
		done 2>/mnt/tmp/full &
		until [ -e /mnt/tmp/model.end ]; do
			gc.nilfs2 --protect 0 --min-reclaimable 1 $MNT
		done >/mnt/tmp/cleaned 2>&1 &
		sleep 0.5
	}
'

@test "--share: cleaning goes on during the check, and nothing is found" {
	# A small volume, whose freed segments are soon overwritten.
	image=$BATS_TEST_TMPDIR/live.img
	truncate -s 24M "$image"
	mkfs.nilfs2 -q -B 64 "$image"
	live_guest <<-EOF
		$busy
		writer_and_cleaner
		count() {
			grep -c "^Segments cleaned: *[1-9]" /mnt/tmp/cleaned
		}
		wait_until count
		echo "before \$(count)"
		# Until what is overwritten has been found, but not twice.
		for i in \$(seq 30); do
			fsck.nilfs2 -nv --data --share --speed 8M \$MNT \
				2>>/mnt/tmp/said || exit
			[ \$i -lt 3 ] || ! grep -q ": check 2: " /mnt/tmp/said || break
		done
		grep ": check .: found" /mnt/tmp/said
		echo "after \$(count)"
		>/mnt/tmp/model.end
		wait
		fsck.nilfs2 -n --share \$MNT || exit
		nilfs_umount
		fsck.nilfs2 -nf \$DEV1
	EOF
	[ "$status" -eq 0 ]
	[ "$(grep -c ": clean, " <<<"$output")" -ge 5 ]
	[[ $output == *": check 2: found"* ]]
	[ "$(sed -n 's/^after //p' <<<"$output")" -gt \
		"$(sed -n 's/^before //p' <<<"$output")" ]
	kernel_content
}

@test "--share: damage under a mounted volume is found while it is cleaned" {
	live_volume
	live_guest <<-EOF
		head -c 20000 /dev/urandom >\$MNT/file
		sync
		# The superblocks name a later log then.
		echo x >\$MNT/other
		nilfs_umount
		nilfs_mount \$DEV1
		echo "inode \$(stat -c %i \$MNT/file) is damaged"
		$busy
		block=\$(dump.nilfs2 bmap \$MNT /file | awk '\$1 == 0 { print \$5; exit }')
		dd if=/dev/urandom of=\$DEV1 bs=4096 count=1 seek=\$block oflag=direct \
			conv=notrunc status=none
		writer_and_cleaner
		for i in 1 2 3; do
			fsck.nilfs2 -nv --data --share --speed 32M \$MNT
			echo "status \$?"
		done
		>/mnt/tmp/model.end
		wait
		fsck.nilfs2 -n --data --share --json \$MNT >/mnt/tmp/json
		echo "status \$?"
		gojq -c '.findings[].rule, .counts, .summary.errors' /mnt/tmp/json
		try() {
			"\$@"
			echo "status \$?"
		}
		try fsck.nilfs2 --share \$MNT
		try fsck.nilfs2 -n --share --quick \$MNT
		try fsck.nilfs2 -n --share \$DEV1
	EOF
	ino=$(sed -n 's/^inode \([0-9]*\) is damaged$/\1/p' <<<"$output")
	[ "$(grep -c "log-datasum: .*: inodes .*\<$ino\>" <<<"$output")" -eq 3 ]
	[ "$(grep -c ": 1 error, " <<<"$output")" -eq 3 ]
	[ "$(grep -c "^status 4" <<<"$output")" -eq 4 ]
	[ "$(grep -c "^status 16" <<<"$output")" -eq 3 ]
	[[ $output == *'"log-datasum"'* ]]
	[[ $errors == *"run fsck.nilfs2 -y --data "* ]]
	kernel_content
}

@test "a deleted file that is still open is no finding on a mounted volume" {
	live_volume
	live_guest <<-'EOF'
		echo x >$MNT/open
		exec 7<>$MNT/open
		rm $MNT/open
		# One that had a name before another was renamed over it, and a directory.
		echo y >$MNT/over
		exec 8<>$MNT/over
		echo z >$MNT/new
		mv $MNT/new $MNT/over
		mkdir $MNT/gone
		cd $MNT/gone
		rmdir $MNT/gone
		fsck.nilfs2 -nf $MNT
		echo "status $?"
		cd /
		exec 7>&- 8>&-
		nilfs_umount
		fsck.nilfs2 -nf $DEV1
	EOF
	[ "$status" -eq 0 ]
	[[ $output == *": clean, "*"status 0"*": clean, "* ]]
	[[ $errors != *fsck.nilfs2:* && $output != *inode-orphan* ]]
	kernel_content
}

@test "a damaged block is found on a mounted volume, with its file" {
	live_volume
	live_guest <<-'EOF'
		head -c 20000 /dev/urandom >$MNT/file
		sync
		echo "inode $(stat -c %i $MNT/file) is damaged"
		# The last log, which a mount verifies, is another one.
		echo x >$MNT/other
		nilfs_umount
		block=$(dump.nilfs2 bmap $DEV1 /file | awk '$1 == 0 { print $5; exit }')
		printf damage | dd of=$DEV1 bs=1 seek=$((block * 4096 + 777)) \
			conv=notrunc status=none
		nilfs_mount $DEV1 || exit
		perl $live/writer.pl $MNT 4 /mnt/tmp/model &
		fsck.nilfs2 -n $MNT || exit
		fsck.nilfs2 -n --data $MNT
		echo "status $?"
		fsck.nilfs2 -n --data --json $MNT 2>/mnt/tmp/errors
		echo "status $?"
		cat /mnt/tmp/errors
		>/mnt/tmp/model.end
		wait
		echo "device $DEV1"
	EOF
	ino=$(sed -n 's/^inode \([0-9]*\) is damaged$/\1/p' <<<"$output")
	[[ $output == *"log-datasum: "*": inodes "*" $ino,"* ]]
	[[ $output == *": 1 error, "*"status 4"*"status 4"* ]]
	[[ $errors == *"run fsck.nilfs2 -y --data ${output##*device }"* ]]
	kernel_content
}

@test "a mounted volume is checked, but not repaired" {
	live_volume
	live_guest <<-'EOF'
		try() {
			"$@"
			echo "status $?"
		}
		try fsck.nilfs2 -n /mnt/tmp
		for mode in "" -a -y "-p -f" --rebuild-counters --rollback \
			"--undo x" "-y --undo-file /mnt/tmp/undo" \
			"-y --output /mnt/tmp/copy" "-n --rebuild" "-n --state 1" \
			"-n --give-up snapshot=1"; do
			try fsck.nilfs2 $mode $MNT
		done
		ls /mnt/tmp
		try fsck.nilfs2 $DEV1
		try fsck.nilfs2 -n $DEV1
		echo x >$MNT/file
		try fsck.nilfs2 -n $MNT/.
		chmod 666 $DEV1
		cp $(command -v fsck.nilfs2) /mnt/tmp
		try setpriv --reuid 65534 --clear-groups /mnt/tmp/fsck.nilfs2 \
			-n --progress-fd 3 $MNT 3>/mnt/tmp/progress
		tail -1 /mnt/tmp/progress
		fsck.nilfs2 -n --json $MNT >/mnt/tmp/json
		gojq -r '.summary | .clean, .device' /mnt/tmp/json
		mount -o remount,ro $MNT
		try fsck.nilfs2 -n --data $MNT
		try fsck.nilfs2 -y $MNT
		nilfs_umount
		fsck.nilfs2 -nf $DEV1
	EOF
	[ "$status" -eq 0 ]
	[ "$(grep -c "^status 8" <<<"$output")" -eq 15 ]
	[ "$(grep -c "can only be checked, with -n" <<<"$errors")" -eq 13 ]
	[[ $errors == *"/mnt/tmp: not a directory of a mounted NILFS2 volume"* ]]
	[[ $errors == *"; to check it, give -n and this directory"* ]]
	[[ $errors == *"; give this directory to check one state of it"* ]]
	# Nothing was written in between.
	[[ $output == *": clean, 1 files, checkpoint 1, "* ]]
	[[ $output == *$'/.: clean, 2 files, checkpoint 2, '* ]]
	# A user who may not take the lock; JSON; a volume that is mounted read-only.
	[[ $errors == *"/dev/shm/sem."*"a cleaner may run meanwhile"* ]]
	[[ $output == *$'\n5 '* ]]
	[[ $output == *$'\ntrue\n/'*": clean, 2 files"*"status 0"*"status 8"* ]]
	kernel_content
}
