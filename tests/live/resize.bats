#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The size of mounted volumes: shrunk while they are written, and free space discarded.

bats_require_minimum_version 1.5.0
load mounted

# resize_guest: live_guest with more functions.
resize_guest() {
	live_guest <<-EOF
		# in_tail: the number of segments after 191 that are in use.
		in_tail() {
			lssu \$DEV1 | awk '\$1 + 0 > 190 { n++ } END { print n + 0 }'
		}
		$(cat)
	EOF
}

@test "gc.nilfs2 shrinks a mounted volume while it is written" {
	live_volume
	resize_guest <<-'EOF'
		perl $live/writer.pl full=1 $MNT 1 /mnt/tmp/model &
		writer=$!
		wait_until writes_after 280
		gc.nilfs2 -n --shrink=48M --protect 0 $MNT || exit
		[ $(in_tail) -gt 20 ] || exit
		gc.nilfs2 --shrink=48M --protect 0 $MNT || exit
		gc.nilfs2 -q --protect 0 $MNT >/mnt/tmp/report || exit
		sleep 0.3
		gc.nilfs2 -q --protect 0 $MNT >/mnt/tmp/report || exit
		>/mnt/tmp/model.end
		wait $writer || exit
		echo "after the end: $(in_tail)"
		all_same /mnt/tmp/model || exit
		nilfs_umount
		# Once more, with the sums in a file of the volume itself.
		nilfs_mount $DEV1 || exit
		same /mnt/tmp/model $MNT || exit
		nilfs_umount
	EOF
	[ "$status" -eq 0 ]
	[[ $output == *"after the end: 0"*"4 snapshots"* ]]
	[ "$(grep -c "^Segments after: *191$" <<<"$output")" -eq 2 ]
	[ "$(awk '/^Blocks moved:/ { print $3 }' <<<"$output" | tail -1)" -gt 100 ]
	fsck.nilfs2 -nf "$image"
	truncate -s 48M "$image"
	run fsck.nilfs2 -nf "$image"
	[ "$status" -eq 0 ]
	[[ $output == *": clean, "* ]]
}

@test "a snapshot after the new end moves too, and so does a nearly empty volume" {
	live_volume
	resize_guest <<-'EOF'
		# Dead blocks, so that the file is in the tail.
		head -c 1000000 /dev/urandom >/mnt/tmp/noise
		more_noise() {
			cp /mnt/tmp/noise $MNT/noise
			sync
			writes_after 250
		}
		wait_until more_noise
		rm $MNT/noise
		sum=$(sha256sum </mnt/tmp/noise)
		cp /mnt/tmp/noise $MNT/file
		gc.nilfs2 -q --take-snapshot $MNT || exit
		cno=$(lscp -s $DEV1 | awk 'NR == 2 { print $1 }')
		rm $MNT/file
		sync
		gc.nilfs2 --shrink=48M --protect 0 $MNT || exit
		[ "$(dump.nilfs2 cat -c $cno $MNT /file | sha256sum)" = "$sum" ] || exit
		df -B1M $MNT | tail -1
		gc.nilfs2 -q --to-checkpoint $cno $MNT || exit
		gc.nilfs2 --shrink=24M --protect 0 $MNT || exit
		ls -A $MNT
		gc.nilfs2 --shrink $MNT
		echo "no size: $?"
		gc.nilfs2 --shrink=min $MNT
		echo "minimum: $?"
		gc.nilfs2 --shrink=90M $MNT
		echo "larger: $?"
		gc.nilfs2 --shrink=1M $MNT
		echo "too small: $?"
		nilfs_umount
	EOF
	[ "$status" -eq 0 ]
	[[ $output == *"no size: 1"*"minimum: 1"*"larger: 1"*"too small: 1"* ]]
	[[ $errors == *"--shrink: give a size"* ]]
	[[ $errors == *"are more than the 25165824 that the volume has"* ]]
	[[ $errors == *"1048576 bytes are 3 segments"* ]]
	truncate -s 24M "$image"
	run fsck.nilfs2 -nf "$image"
	[ "$status" -eq 0 ]
	[[ $output == *": clean, "* ]]
}

@test "a mounted volume that is not shrunk is used as before" {
	live_volume
	resize_guest <<-'EOF'
		head -c 55000000 /dev/urandom >$MNT/file || exit
		sync
		gc.nilfs2 --shrink=48M --protect 0 $MNT
		echo "too full: $?"
		rm $MNT/file
		sync
		gc.nilfs2 --shrink=48M $MNT
		echo "protected: $?"
		head -c 12000000 /dev/urandom >/mnt/tmp/noise
		# write_until N: until the kernel writes after segment N.
		write_until() {
			for i in $(seq 40); do
				gc.nilfs2 -q --protect 0 $MNT >/mnt/tmp/report || exit
				cp /mnt/tmp/noise $MNT/new || exit
				mv $MNT/new $MNT/file
				sync
				! writes_after $1 || return 0
			done
			exit 1
		}
		write_until 330
		# A block of the file in the tail, without the page cache.
		segment=$(lssu $DEV1 | awk '$4 ~ /a/ { print $1 - 10; exit }')
		dd if=/dev/urandom of=$DEV1 bs=4096 count=1 oflag=direct conv=notrunc \
			seek=$((segment * 64 + 30)) || exit
		gc.nilfs2 --shrink=40M --protect 0 $MNT
		echo "damaged: $?"
		# With clean segments at the front the kernel goes on at the old end.
		write_until 250
		cmp /mnt/tmp/noise $MNT/file || exit
		df $MNT | tail -1
		nilfs_umount
		fsck.nilfs2 -nf $DEV1
	EOF
	[ "$status" -eq 0 ]
	[[ $output == *"too full: 1"*"protected: 1"*"damaged: 1"*" 98044 "*": clean, "* ]]
	[[ $errors == *"191 segments, 43 too few for "*"(0 blocks)"* ]]
	[[ $errors == *": skipped: a log does not match its checksum"* ]]
	[[ $errors == *": skipped segments are after the new end; unmount"* ]]
	kernel_content
}

@test "what is in memory is not lost if the kernel finds no room for it" {
	live_volume
	command -v cc >/dev/null || skip "no C compiler for steps.c"
	mkdir "$BATS_TEST_TMPDIR/share"
	cc -O1 -shared -fPIC -o "$BATS_TEST_TMPDIR/share/steps.so" \
		"$NILFS2_SOURCE/tests/live/steps.c"
	live_devices=(--share "$BATS_TEST_TMPDIR/share" "$image")
	resize_guest <<-EOF
		head -c 10M /dev/urandom >\$MNT/file
		head -c 12M /dev/urandom >/mnt/tmp/noise
		head -c 12M /dev/urandom >\$MNT/dirty
		sync
		# The third synchronization precedes the request: that is in memory then.
		cat >/mnt/tmp/write <<-'EOS'
			[ \$1 -ne 3 ] || dd if=/mnt/tmp/noise of=\$MNT/dirty bs=12M \
				conv=notrunc status=none
		EOS
		export MNT DEV1
		STEP_RUN="sh /mnt/tmp/write" LD_PRELOAD=\$SHARE/steps.so \
			gc.nilfs2 --shrink=30M --protect 0 \$MNT
		echo "shrunk: \$?"
		nilfs_umount
		nilfs_mount \$DEV1
		cmp /mnt/tmp/noise \$MNT/dirty && echo same
		nilfs_umount
	EOF
	[ "$status" -eq 0 ]
	[[ $output == *"Segments after: "*" 119"*"shrunk: 0"*same* ]]
	[[ $dmesg != *"disposed unprocessed dirty file"* ]]
	truncate -s 30M "$image"
	fsck.nilfs2 -nf "$image"
}

@test "gc.nilfs2 --trim discards the free space of a mounted volume" {
	live_volume
	live_guest <<-'EOF'
		head -c 50000000 /dev/urandom >$MNT/file || exit
		head -c 1000000 $MNT/file >$MNT/kept
		sum=$(sha256sum <$MNT/kept)
		sync
		rm $MNT/file
		sync
		gc.nilfs2 -q --protect 0 $MNT || exit
		gc.nilfs2 -n --trim $MNT
		gc.nilfs2 --trim $MNT
		nilfs_umount
		nilfs_mount $DEV1 || exit
		[ "$(sha256sum <$MNT/kept)" = "$sum" ] || exit
		nilfs_umount
		fsck.nilfs2 -nf --data $DEV1
	EOF
	[ "$status" -eq 0 ]
	[[ $output == *": clean, "* ]]
	[[ $errors == *": cannot discard"* ]] || [ "$(du -k "$image" | cut -f 1)" -lt 40000 ]
	kernel_content
	gc.nilfs2 --trim "$image" >"$BATS_TEST_TMPDIR/trim"
	gc.nilfs2 --punch "$image" | diff "$BATS_TEST_TMPDIR/trim" -
}
