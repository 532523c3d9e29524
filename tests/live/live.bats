#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Mounted volumes: given as a directory, they are read as they are at one moment, and
# cleaned by the kernel while they are written.

bats_require_minimum_version 1.5.0
load mounted

@test "gc.nilfs2 cleans a mounted volume by each policy while it is written" {
	live_volume
	live_guest <<-'EOF'
		perl $live/writer.pl $MNT 1 /mnt/tmp/model &
		writer=$!
		for round in 1 2 3; do
			for policy in optimal greedy cost-benefit cost-benefit-lfs \
				data-first weighted timestamp; do
				sleep 0.2
				gc.nilfs2 --policy $policy --protect 0 \
					--min-reclaimable 5 $MNT || exit
			done
		done
		>/mnt/tmp/model.end
		wait $writer || exit
		all_same /mnt/tmp/model || exit
		nilfs_umount
		fsck.nilfs2 -nf $DEV1
	EOF
	[ "$status" -eq 0 ]
	[[ $output == *"4 snapshots"* ]]
	[[ $output == *": clean, "* ]]
	# It had something to do.
	[ "$(awk '/^Segments cleaned:/ { n += $3 } END { print n }' \
		<<<"$output")" -gt 50 ]
	kernel_content
}

@test "gc.nilfs2 that is killed, and a cut of the power, leave the volume whole" {
	live_volume
	live_guest <<-'EOF'
		perl $live/writer.pl $MNT 4 /mnt/tmp/model &
		writer=$!
		killed=0
		for pause in 02 03 05 08 12 17 23 30 38 47; do
			gc.nilfs2 -q --protect 0 --min-reclaimable 1 $MNT \
				>/mnt/tmp/report &
			sleep 0.$pause
			! kill -9 $! || killed=$((killed + 1))
			wait $!
		done
		>/mnt/tmp/model.end
		wait $writer || exit
		echo "$((killed > 0)) killed"
		echo 3 >/proc/sys/vm/drop_caches
		same /mnt/tmp/model $MNT || exit
		nilfs_umount
		fsck.nilfs2 -nf $DEV1
	EOF
	[ "$status" -eq 0 ]
	[[ $output == *"1 killed"*": clean, "* ]]
	kernel_content
	# The disk has what it had accepted.
	guest --backend "$backend" --kill-after 3 "$image" <<-EOF
		$tools
		nilfs_mount \$DEV1
		mkdir \$MNT/d
		perl \$live/writer.pl \$MNT/d 5 /mnt/tmp/model &
		while :; do
			gc.nilfs2 -q --protect 0 --min-reclaimable 1 \$MNT >/mnt/tmp/report
		done
	EOF
	[ "$status" -eq 137 ]
	run fsck.nilfs2 -nf "$image"
	echo "$output"
	[[ $output == *": clean, "* ]]
	live_guest <<-'EOF'
		find $MNT -type f -exec cat {} + >/dev/null || exit
		gc.nilfs2 -q --protect 0 $MNT >/dev/null || exit
		nilfs_umount
		fsck.nilfs2 -nf $DEV1
	EOF
	[ "$status" -eq 0 ]
	[[ $output == *": clean, "* ]]
	kernel_content
}

@test "a volume without a clean segment is not given to the kernel, which would hang" {
	live_volume
	live_guest <<-'EOF'
		head -c 80000000 /dev/urandom >$MNT/file
		sync
		# syncfs of x86_64: each needs a log, until the reserve is used up.
		perl -e 'open my $dir, "<", shift or die;
			for my $i (1 .. 9000) {
				utime $i, $i, "$ARGV[0]";
				syscall(306, fileno $dir) and last;
			}' $MNT $MNT/file
		timeout 60 gc.nilfs2 --protect 0 $MNT
		echo "cleaned: $?"
		dump.nilfs2 cat $MNT /file | cmp - $MNT/file && echo "read"
		fsck.nilfs2 -nf $MNT
		nilfs_umount
		gc.nilfs2 -q --protect 0 $DEV1 >/dev/null
		echo "unmounted: $?"
		nilfs_mount $DEV1
		gc.nilfs2 -q --protect 0 $MNT >/dev/null
		echo "again: $?"
		nilfs_umount
		fsck.nilfs2 -nf $DEV1
	EOF
	[ "$status" -eq 0 ]
	[[ $output == *"cleaned: 1"*"read"*": clean, "*"unmounted: 0"*"again: 0"* ]]
	[[ $errors == *"clean segments: 0, too few for the kernel to clean with"* ]]
}

@test "--watch keeps segments clean, also after it was killed, until the end" {
	live_volume
	live_guest <<-'EOF'
		export RUNTIME_DIRECTORY=/mnt/tmp/run
		watch="gc.nilfs2 --watch -v --low 80% --high 90% --protect 0"
		gc.nilfs2 --status $MNT
		echo "before: $?"
		perl $live/writer.pl $MNT 3 /mnt/tmp/model &
		writer=$!
		$watch $MNT &
		# reports PATTERN: whether the status has such a line.
		reports() {
			gc.nilfs2 --status $MNT 2>/dev/null | grep "$1"
		}
		wait_until reports "^Runs of cleaning: *[1-9]"
		kill -9 $!
		wait $!
		gc.nilfs2 --status $MNT | grep Running
		$watch $MNT &
		wait_until reports "^Segments cleaned: *[1-9][0-9]"
		# Its lock is free between runs, or it waits for another.
		gc.nilfs2 -q --protect 0 --free 1 $MNT >/mnt/tmp/report
		>/mnt/tmp/model.end
		wait $writer || exit
		kill $!
		wait $!
		echo "ended: $?"
		gc.nilfs2 --status $MNT
		echo "after: $?"
		same /mnt/tmp/model $MNT || exit
		# It is idle, and does not keep the volume mounted.
		gc.nilfs2 --watch -v --low 1 --high 2 $MNT &
		sleep 1
		nilfs_umount || exit
		wait $!
		echo "unmounted: $?"
		fsck.nilfs2 -nf $DEV1
	EOF
	[ "$status" -eq 0 ]
	[[ $output == *"before: 1"*"Running: "*no*"ended: 0"*"after: 1"* ]]
	[[ $output == *"unmounted: 0"*": clean, "* ]]
	[[ $errors == *": cleaning, "*": unmounted, "* ]]
	kernel_content
}

@test "--watch keeps fewer segments clean the fuller the volume is" {
	live_volume
	live_guest <<-'EOF'
		export RUNTIME_DIRECTORY=/mnt/tmp/run
		# limits LEAST MOST: the lower limit is one of these, the upper one higher.
		limits() {
			gc.nilfs2 --status $MNT 2>/dev/null | awk -v a="$1" -v b="$2" '
				/^Cleaning begins below:/ { low = $4 }
				/^Cleaning ends at:/ { high = $4 }
				END { exit !(low >= a && low <= b && high > low) }'
		}
		gc.nilfs2 --watch --protect 0 $MNT &
		# Of 383 segments 20 are reserved.
		wait_until limits 41 41
		head -c 76M /dev/zero >$MNT/file
		sync
		wait_until limits 22 35
		# Until the kernel writes a log there is no latest checkpoint.
		rmcp $DEV1 $(lscp -n 1 -r $DEV1 | awk 'END { print $1 }')
		sleep 6
		wait_until limits 22 35
		rm $MNT/file
		sync
		wait_until limits 41 41
		kill $!
		wait $!
		nilfs_umount
		fsck.nilfs2 -nf $DEV1
	EOF
	[ "$status" -eq 0 ]
	[[ $output == *": clean, "* ]]
	kernel_content
}

# half_dead: files of half of a segment each, of some every other one deleted: a
# quarter of the volume is clean, and less than half of it will be.
half_dead='perl -e "
	chdir shift;
	sub file { qq(f\$_[0]) }
	for my \$i (1 .. 560) {
		open my \$fh, q(>), file(\$i) or die;
		print \$fh chr(\$i % 256) x 128000 or die;
	}
	system q(sync);
	unlink map { file(2 * \$_) } 1 .. 160;
" $MNT; export RUNTIME_DIRECTORY=/mnt/tmp/run
# is_clean N: whether so many segments are clean.
is_clean() {
	gc.nilfs2 --status $MNT 2>/dev/null | awk -v n="$1" "
		/^Clean segments:/ && \$3 >= n { at = 1 } END { exit !at }"
}'

# while_watched OPTION...: the commands of standard input, with such a volume, while
# gc.nilfs2 --watch is at work on it without a protection period.
while_watched() {
	live_volume
	{
		echo "$half_dead"
		echo "gc.nilfs2 --watch --protect 0 $* \$MNT &"
		echo 'watcher=$!'
		cat
		echo 'kill $watcher; wait $watcher; nilfs_umount; fsck.nilfs2 -nf $DEV1'
	} >"$BATS_TEST_TMPDIR/watched"
	live_guest <"$BATS_TEST_TMPDIR/watched"
	[ "$status" -eq 0 ]
	[[ $output == *": clean, "* ]]
	kernel_content
}

@test "--watch lets writers wait longer while clean segments are scarce" {
	while_watched --low 98% --high 99% --latency 1 <<-'EOF'
		wait_until is_clean 160
		grep -E "^(calls|clean) " /mnt/tmp/run/*
	EOF
	# Of 64 blocks each they would be 60.
	[ "$(awk '$1 == "calls" { print $2 }' <<<"$output")" -lt 30 ]
}

@test "the kernel cleans with what a writer leaves that fills the volume" {
	while_watched --low 98% --high 99% <<-'EOF'
		for i in 1 2 3 4 5 6 7 8; do
			head -c 40M /dev/zero >$MNT/more
			rm $MNT/more
		done
	EOF
	[[ $dmesg != *"cleaning segments"* ]]
}

# The snapshot is there only during the call, which fails, so that no pass sees it and
# the number of snapshots is never another.  The limits can be reached.
# One file, so that there is little metadata and calls are as large as they can be.
@test "large calls leave room for what a writer has in memory" {
	live_volume
	live_guest <<-'EOF'
		export RUNTIME_DIRECTORY=/mnt/tmp/run
		head -c 68M /dev/urandom >$MNT/file
		sync
		gc.nilfs2 --watch --protect 0 --min-reclaimable 1 --low 97% --high 99% \
			$MNT 2>/mnt/tmp/said &
		# A tenth gets most of the blocks; there may be no space for one.
		timeout 12 perl -e 'open my $fh, "+<", shift or die;
			for (my $i = 1; ; $i++) {
				sysseek $fh, 4096 * int(rand 10 < 9 ? rand 1740 : rand 17400), 0;
				syswrite $fh, chr($i % 256) x 4096 or
					select undef, undef, undef, 0.01;
			}' $MNT/file
		gc.nilfs2 --status $MNT
		kill $!
		wait $!
		nilfs_umount
		fsck.nilfs2 -nf --data $DEV1
	EOF
	[ "$status" -eq 0 ]
	[[ $output == *": clean, "* ]]
	[ "$(awk '/^Calls of the kernel:/ { print $NF }' <<<"$output")" -gt 5 ]
	kernel_content
}

@test "--watch goes on if a snapshot is made and deleted during a call" {
	command -v cc >/dev/null || skip "no C compiler for steps.c"
	mkdir "$BATS_TEST_TMPDIR/share"
	cc -O1 -shared -fPIC -o "$BATS_TEST_TMPDIR/share/steps.so" \
		"$NILFS2_SOURCE/tests/live/steps.c"
	live_volume
	live_devices=(--share "$BATS_TEST_TMPDIR/share" "$image")
	live_guest <<-EOF
		$half_dead
		STEP_SNAPSHOT=/mnt/tmp/made LD_PRELOAD=\$SHARE/steps.so gc.nilfs2 \
			--watch --protect 0 --low 150 --high 155 --latency 1 \$MNT &
		wait_until is_clean 150
		[ -e /mnt/tmp/made ] && echo "snapshot made"
		gc.nilfs2 --status \$MNT
		kill \$!
		wait \$!
		lscp -s \$DEV1 | awk 'END { print "snapshots", NR - 1 }'
		nilfs_umount
		fsck.nilfs2 -nf \$DEV1
	EOF
	[ "$status" -eq 0 ]
	[[ $output == *"snapshot made"*"snapshots 0"*": clean, "* ]]
	grep "^Last problem: *-$" <<<"$output"
	[[ $errors != *"no segment is worth"* ]]
	[[ $dmesg == *"error -16 preparing GC"* ]]
	run -1 grep -v "error -16 preparing GC: cannot delete checkpoints" \
		<(kernel_complaints "$dmesg")
}

@test "mkcp -s gets its snapshot from a volume that is cleaned meanwhile" {
	while_watched --low 98% --high 99% --latency 1 <<-'EOF'
		# What its checkpoint has dies while it waits for the lock.
		for i in $(seq 1 2 319); do
			rm $MNT/f$i
			sync
			sleep 0.02
		done &
		remover=$!
		while kill -0 $remover 2>/dev/null; do
			mkcp -s $DEV1 || echo "mkcp: $?"
			lscp -s $DEV1 | awk 'NR > 1 { print $1 }' | xargs -rn 1 chcp cp $DEV1
		done
	EOF
	[[ $output$errors != *mkcp:* ]]
}

@test "a run lends the lock to a program that waits for it" {
	while_watched --low 26% --high 60% --speed 100K --latency 1 <<-'EOF'
		calls() {
			gc.nilfs2 --status $MNT 2>/dev/null | grep "^Calls.*[1-9]"
		}
		wait_until calls
		timeout 60 mkcp -s $DEV1; echo "made: $?"
		lscp -s $DEV1 | grep -c " ss "
		grep -E "^(runs|clean|state) " /mnt/tmp/run/*
	EOF
	# The run that had begun goes on.
	[[ $output == *"made: 0"*$'\n1\n'*"state cleaning"*"runs 1"* ]]
}

@test "--watch and nilfs_cleanerd are not at work together" {
	live_volume
	live_guest <<-'EOF'
		nilfs_cleanerd -n $DEV1 $MNT </dev/null >/mnt/tmp/said 2>&1 &
		sleep 1
		gc.nilfs2 --watch $MNT
		echo "watch: $?"
		gc.nilfs2 -q --protect 0 $MNT >/dev/null
		echo "once: $?"
		kill $(sed 's/.*=//' /mnt/tmp/said)
		for i in 1 2 3 4 5 6 7 8 9 10; do
			nilfs_umount && break
			sleep 0.3
		done
	EOF
	[ "$status" -eq 0 ]
	[[ $output == *"watch: 1"*"once: 0"* ]]
	[[ $errors == *"nilfs_cleanerd is running (process "*"nogc"* ]]
	kernel_content
}

@test "dump.nilfs2 reads a mounted volume in one state while it is written" {
	live_volume
	live_guest <<-'EOF'
		perl $live/writer.pl full=1 $MNT 2 /mnt/tmp/model &
		writer=$!
		# Files with a checksum, each replaced by a rename, where there is space: on a
		# slow machine much is written until the next run of gc.nilfs2.
		cat >/mnt/tmp/replace.pl <<-'EOP'
			use Digest::SHA 'sha256_hex';
			my $dir = shift;
			for (my $n = 0; !-e '/mnt/tmp/model.end'; $n++) {
				my $data = chr(65 + $n % 26) x (1 + rand 30000);
				select undef, undef, undef, 0.01;
				open my $fh, '>', "$dir/.new" or next;
				print $fh sha256_hex($data), "\n", $data;
				close $fh or next;
				rename "$dir/.new", "$dir/" . $n % 20;
			}
		EOP
		cat >/mnt/tmp/verify.pl <<-'EOP'
			use Digest::SHA 'sha256_hex';
			for (@ARGV) {
				local $/;
				open my $fh, '<', $_ or die "$_: $!";
				my ($sum, $data) = split /\n/, scalar <$fh>, 2;
				die "$_: differs\n" if $sum ne sha256_hex($data);
			}
			print scalar @ARGV, " files verified\n";
		EOP
		mkdir $MNT/sums
		perl /mnt/tmp/replace.pl $MNT/sums &
		sleep 1
		for i in 1 2 3 4; do
			dump.nilfs2 export -q $MNT /mnt/tmp/out$i /sums || exit
			perl /mnt/tmp/verify.pl /mnt/tmp/out$i/* || exit
			gc.nilfs2 -q --protect 0 $MNT >/mnt/tmp/report || exit
			dump.nilfs2 segments $MNT >/mnt/tmp/segments || exit
			dump.nilfs2 report $MNT /mnt/tmp/report$i.html || exit
		done
		>/mnt/tmp/model.end
		wait $writer || exit
		wait
		rm -r $MNT/sums
		# The latest state, without a call of sync, and an old one.
		dump.nilfs2 export -q $MNT /mnt/tmp/last || exit
		same /mnt/tmp/model /mnt/tmp/last || exit
		cno=$(ls /mnt/tmp/model.*[0-9] | sed 's/.*\.//' | sort -n | head -1)
		dump.nilfs2 export -q -c $cno $MNT /mnt/tmp/old || exit
		rm -rf /mnt/tmp/old/sums
		same /mnt/tmp/model.$cno /mnt/tmp/old || exit
		nilfs_umount
		fsck.nilfs2 -nf $DEV1
	EOF
	[ "$status" -eq 0 ]
	[ "$(grep -c "files verified" <<<"$output")" -eq 4 ]
	[[ $output == *": clean, "* ]]
	kernel_content
}

@test "a forecast says what keeps old blocks, and a run what it deletes, before" {
	live_volume
	live_guest <<-'EOF'
		# Of 10 and 6 MiB: what only a snapshot has, what only the last hour has.
		head -c 10M /dev/urandom >$MNT/snapshot
		sync
		mkcp -s $DEV1
		rm $MNT/snapshot
		date -s "2 hours" >/mnt/tmp/date
		head -c 6M /dev/urandom >$MNT/recent
		sync
		rm $MNT/recent
		# A hundred dead blocks between a thousand live ones.
		head -c 4M /dev/urandom >$MNT/kept
		sync
		perl -e 'open my $fh, "+<", shift or die;
			for (1 .. 100) { seek $fh, $_ * 40960, 0; print $fh $_ }' $MNT/kept
		head -c 30M /dev/urandom >$MNT/more
		sync
		lscp $DEV1 >/mnt/tmp/before
		for period in 3600 0; do
			gc.nilfs2 -n --json --protect $period $MNT | gojq -r '.kept |
				"\(.protected_bytes) \(.snapshot_bytes) kept"'
			gc.nilfs2 -n --protect $period $MNT
		done
		gc.nilfs2 -n --protect 0 --max-memory 64K $MNT
		lscp $DEV1 | cmp - /mnt/tmp/before || exit
		gc.nilfs2 --protect 0 $MNT
		lscp $DEV1 | awk '$1 ~ /^[134]$/ { n++ } END { print n + 0 " of 1, 3, 4" }'
		nilfs_umount
		fsck.nilfs2 -nf $DEV1
	EOF
	[ "$status" -eq 0 ]
	# But for what is in segments that are written, or with metadata.
	grep " kept$" <<<"$output" | awk '
		{ had[NR] = $1; snapshot[NR] = $2 }
		function near(bytes, mib) {
			return bytes > (mib - 0.6) * 1048576 && bytes < (mib + 0.6) * 1048576
		}
		END { exit !(NR == 2 && near(had[1], 6) && had[2] == 0 &&
			near(snapshot[1], 10) && near(snapshot[2], 10)) }'
	[ "$(grep -c "To free more: --to-checkpoint" <<<"$output")" -eq 3 ]
	# Checkpoint 2 is the snapshot; 4 is older than an hour.
	[ "$(grep -c ": up to 1 plain checkpoint of 1..1, older" <<<"$errors")" -eq 1 ]
	[ "$(grep -c ": up to . plain checkpoints of 1..., older" <<<"$errors")" -eq 3 ]
	[ "$(grep -c ": --max-memory: only 102 segments" <<<"$errors")" -eq 1 ]
	[[ $output == *$'\n0 of 1, 3, 4'*": clean, "* ]]
	kernel_content
}

@test "snapshots are made and deleted, and the volume grows, while it is mounted" {
	live_volume
	truncate -s 160M "$image"
	live_guest <<-'EOF'
		head -c 300000 /dev/urandom >$MNT/file
		sum=$(sha256sum <$MNT/file)
		gc.nilfs2 --take-snapshot $MNT | grep "New snapshot" || exit
		rm $MNT/file
		sync
		cno=$(lscp -s $DEV1 | awk 'NR == 2 { print $1 }')
		[ "$(dump.nilfs2 cat -c $cno $MNT /file | sha256sum)" = "$sum" ] || exit
		gc.nilfs2 --delete-checkpoints $cno $MNT
		echo "kept: $?"
		gc.nilfs2 -n --to-checkpoint $cno $MNT || exit
		lscp -s $DEV1 | awk 'END { print "snapshots", NR - 1 }'
		gc.nilfs2 --to-checkpoint $cno $MNT || exit
		lscp -s $DEV1 | awk 'END { print "snapshots", NR - 1 }'
		gc.nilfs2 --to-snapshot $cno $MNT || exit
		mkdir /mnt/tmp/old
		nilfs_mount -o ro,cp=$cno $DEV1 /mnt/tmp/old
		gc.nilfs2 -f --delete-checkpoints $cno $MNT
		echo "mounted: $?"
		nilfs_umount /mnt/tmp/old
		gc.nilfs2 -f --delete-checkpoints $cno --protect 0 $MNT || exit
		gc.nilfs2 --delete-checkpoints 999 $MNT
		echo "no such: $?"
		gc.nilfs2 -n --grow $MNT
		gc.nilfs2 --grow=120M $MNT
		gc.nilfs2 --grow $MNT
		df $MNT | tail -1
		gc.nilfs2 --grow=120M $MNT
		echo "smaller: $?"
		lssu $DEV1 | tail -1
		nilfs_umount
		fsck.nilfs2 -nf $DEV1
	EOF
	[ "$status" -eq 0 ]
	[[ $output == *"kept: 1"*"snapshots 1"*"snapshots 0"*"mounted: 1"* ]]
	[[ $output == *"no such: 1"*"smaller: 1"* ]]
	[[ $errors == *"is mounted; unmount it first"* ]]
	[[ $errors == *"there is no checkpoint 999"* ]]
	[[ $(grep "Segments after:" <<<"$output" | tr -d '\n') == \
		*" 639"*" 479"*" 639" ]]
	[[ $output == *": clean, 1 files, "* ]]
	# The device is longer than the volume.
	run ! grep -v "broken superblock, retrying with spare" \
		<(kernel_complaints "$dmesg")
}

@test "what is not possible with a mounted volume is refused, with the reason" {
	live_volume
	live_guest <<-'EOF'
		try() {
			"$@"
			echo "status $?"
		}
		try gc.nilfs2 /
		try dump.nilfs2 ls /
		try gc.nilfs2 --compact $MNT
		try gc.nilfs2 --free 1 --label x $MNT
		try gc.nilfs2 $DEV1
		try gc.nilfs2 --watch --compact $MNT
		try gc.nilfs2 --watch --low 30% $MNT
		try gc.nilfs2 --watch $DEV1
		echo x >$MNT/file
		chmod 666 $DEV1
		cp $(command -v dump.nilfs2) $(command -v gc.nilfs2) /mnt/tmp
		user="setpriv --reuid 65534 --clear-groups"
		try $user /mnt/tmp/dump.nilfs2 cat $MNT /file
		try $user /mnt/tmp/gc.nilfs2 $MNT
		for job in "--free 1" --watch --take-snapshot "--to-snapshot 1" \
			"--delete-checkpoints 1" --grow --shrink=64M --trim; do
			try $user /mnt/tmp/gc.nilfs2 $job $MNT
		done
		gc.nilfs2 --watch $MNT &
		wait_until gc.nilfs2 --status $MNT >/mnt/tmp/status
		try $user /mnt/tmp/gc.nilfs2 --status $MNT
		kill $!
		wait $!
		# Where no cleaner has run as root, a user has all that reading needs.
		rm /dev/shm/sem.nilfs-cleaner-*
		for tool in "dump.nilfs2 ls" "dump.nilfs2 segments" "gc.nilfs2 -n"; do
			$user /mnt/tmp/$tool $MNT >/mnt/tmp/read 2>&1 || cat /mnt/tmp/read
			grep -q . /mnt/tmp/read && echo "user reads: $tool"
		done
		mount -o remount,ro $MNT
		try gc.nilfs2 $MNT
		try dump.nilfs2 cat $MNT /file
		nilfs_umount
	EOF
	[ "$status" -eq 0 ]
	[[ $output == *"status 1"*"status 1"*"status 1"*"status 1"*"status 1"* ]]
	[[ $errors == *"/: not a directory of a mounted NILFS2 volume"* ]]
	[[ $errors == *"--compact: not while the volume is mounted"* ]]
	[[ $errors == *"--label: not while the volume is mounted"* ]]
	[[ $errors == *"not a directory; give the one on which"* ]]
	[[ $errors == *"--watch and --compact exclude each other"* ]]
	[[ $errors == *"--low: 115 segments are not less than --high, 77"* ]]
	[[ $errors == *"mounted on "*"; give this directory to clean it"* ]]
	[[ $errors == *"mounted read-only"* ]]
	[ "$(grep -c "^x" <<<"$output")" -eq 2 ]
	[ "$(grep -c "only with the capability CAP_SYS_ADMIN" <<<"$errors")" -eq 9 ]
	[[ $output == *"Running: "*yes* ]]
	[ "$(grep -c "^user reads: " <<<"$output")" -eq 3 ]
	[[ $errors == *"may be overwritten while they are read"* ]]
	kernel_content
}
