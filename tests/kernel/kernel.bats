#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The laboratory itself: what it reports must be what happened in the guest.

bats_require_minimum_version 1.5.0

load lab

setup() {
	need_guest uml
	PATH=$PATH:/usr/sbin:/sbin
}

volume() {
	truncate -s 32M "$BATS_TEST_TMPDIR/image"
	mkfs.nilfs2 -q -B 64 "$BATS_TEST_TMPDIR/image"
	echo "$BATS_TEST_TMPDIR/image"
}

# Processes whose command line names this test's scratch directory.
left_behind() {
	pgrep -f "$TMPDIR"
}

@test "status, both outputs and arguments pass through" {
	cat >"$BATS_TEST_TMPDIR/script" <<-'EOF'
	echo "out $1 $2"
	echo err >&2
	exit 42
	EOF
	run -42 "$lab_dir/guest.sh" "$BATS_TEST_TMPDIR/script" -- 'a  b' '*'
	[[ $output == *"out a  b *"* ]]
	[[ $output == *err* ]]
}

@test "what the guest writes is in the image" {
	image=$(volume)
	guest "$image" <<-'EOF'
	nilfs_mount "$DEV1"
	echo kept >"$MNT/file"
	nilfs_umount
	EOF
	[ "$status" -eq 0 ]
	kernel_content
	guest "$image" <<-'EOF'
	nilfs_mount -o ro "$DEV1"
	cat "$MNT/file"
	EOF
	[ "$output" = kept ]
}

@test "the shared directory is written, the rest of the host is not" {
	mkdir "$BATS_TEST_TMPDIR/share"
	guest --share "$BATS_TEST_TMPDIR/share" <<-EOF
	echo shared >"\$SHARE/file"
	echo bad >"$BATS_TEST_TMPDIR/leak"
	EOF
	[ "$(cat "$BATS_TEST_TMPDIR/share/file")" = shared ]
	[ ! -e "$BATS_TEST_TMPDIR/leak" ]
}

@test "the kernel's error is in the log" {
	image=$(volume)
	# The root directory's only block, somewhere in the first segment.
	dd if=/dev/zero of="$image" bs=4096 seek=2 count=1 conv=notrunc \
		status=none
	guest "$image" <<-'EOF'
	nilfs_mount "$DEV1"
	ls "$MNT"
	EOF
	run -0 kernel_complaints
	[[ $output == *NILFS* ]]
	run -1 kernel_content
}

@test "the time limit ends the guest" {
	export TMPDIR=$BATS_TEST_TMPDIR
	guest --timeout 3 <<-'EOF'
	echo before
	while :; do :; done
	EOF
	[ "$status" -eq 124 ]
	[ "$output" = before ]
	[[ $errors == *"the guest was stopped at its limit of 3 s"* ]]
	run -1 left_behind
	# One that waits uses no CPU time, and is stopped all the same.
	begin=$SECONDS
	guest --timeout 3 <<-'EOF'
	echo before
	sleep 200
	EOF
	[ "$status" -eq 124 ]
	[ "$output" = before ]
	[ $((SECONDS - begin)) -ge 29 ]
	run -1 left_behind
}

@test "power is cut when a pattern is seen" {
	export TMPDIR=$BATS_TEST_TMPDIR
	image=$(volume)
	guest --kill-on '^now$' "$image" <<-'EOF'
	nilfs_mount "$DEV1"
	echo synced >"$MNT/file"
	sync
	echo now
	sleep 100
	EOF
	[ "$status" -eq 137 ]
	run -1 left_behind
	guest "$image" <<-'EOF'
	nilfs_mount "$DEV1"
	cat "$MNT/file"
	EOF
	[ "$output" = synced ]
	[[ $dmesg == *"mounting unchecked fs"* ]]
}

@test "power is cut after a time" {
	guest --kill-after 1 <<<'sleep 100'
	[ "$status" -eq 137 ]
}

@test "a signal leaves no process and no file" {
	local tries

	# Not below /dev, where guest.sh takes another directory.
	export TMPDIR=/tmp/nilfs2-test.$$
	mkdir "$TMPDIR"
	for signal in TERM KILL; do
		"$lab_dir/guest.sh" - <<<'sleep 100' 3>&- &
		pid=$!
		for ((tries = 0; tries < 600; tries++)); do
			! ls "$TMPDIR"/*/started 2>/dev/null || break
			sleep 0.1
		done
		kill -s "$signal" "$pid"
		wait "$pid" || true
		sleep 1
		run -1 left_behind
		[ -z "$(ls "$TMPDIR")" ]
	done
	rmdir "$TMPDIR"
}

@test "several guests at once" {
	for i in 1 2 3; do
		"$lab_dir/guest.sh" - <<<"exit $i" 3>&- &
		pids[i]=$!
	done
	for i in 1 2 3; do
		status=0
		wait "${pids[i]}" || status=$?
		[ "$status" -eq "$i" ]
	done
}

@test "a guest that panics is a failure of its own" {
	run -125 "$lab_dir/guest.sh" - <<<'echo c >/proc/sysrq-trigger; sleep 9'
	[[ $output == *panic* ]]
}

@test "an ordinary user can run it" {
	[ "$(id -u)" -eq 0 ] || skip "is one"
	install -d -m 777 "$BATS_TEST_TMPDIR/tmp"
	chmod a+rx "$BATS_RUN_TMPDIR" "$BATS_TEST_TMPDIR" \
		"$(dirname "$BATS_TEST_TMPDIR")"
	setpriv --reuid=65534 --regid=65534 --clear-groups \
		test -x "$lab_dir/guest.sh" ||
		skip "another user cannot read the source"
	TMPDIR=$BATS_TEST_TMPDIR/tmp run -5 setpriv --reuid=65534 \
		--regid=65534 --clear-groups env HOME=/nonexistent \
		"$lab_dir/guest.sh" - <<<'id -u; exit 5'
	[[ $output == *0* ]]
}

@test "qemu runs the same script, and zones" {
	need_guest qemu
	image=$(volume)
	guest --backend qemu --zoned size=64,zone_size=8,zone_nr_conv=1 \
		"$image" <<-'EOF'
	nilfs_mount "$DEV1"
	echo kept >"$MNT/file"
	nilfs_umount
	cat "/sys/block/${ZONED1#/dev/}/queue/zoned"
	exit 6
	EOF
	[ "$status" -eq 6 ]
	[ "$output" = host-managed ]
	kernel_content
	grep -aq kept "$image"
}

@test "a manifest does not depend on where holes are" {
	cd "$BATS_TEST_TMPDIR"
	mkdir a b
	printf data | dd of=a/f bs=1 seek=100000 status=none
	truncate -s 200M a/f
	cp -p --sparse=never a/f b/f
	touch -r a b
	run -0 diff <(manifest --drop portable a) <(manifest --drop portable b)
	printf x | dd of=b/f bs=1 seek=150000000 conv=notrunc status=none
	touch -r a/f b/f
	run -1 diff <(manifest --drop portable a) <(manifest --drop portable b)
}

@test "a manifest distinguishes odd names, links, times and content" {
	cd "$BATS_TEST_TMPDIR"
	mkdir d
	printf hello >d/$'a\n\t\\\377'
	ln d/a* d/second
	ln -s $'to\nthere' d/link
	touch -d @-1.5 d/second
	run -0 manifest --drop portable,uid,gid,mode d
	echo "$output"
	hash=$(printf hello | sha256sum | cut -d' ' -f1)
	name='a\012\011\134\377'
	first=$'f\t-\t-\t-\t2\t5\t-\t-1.500000000\t-\t-\t-\tsha256:'
	[ "${lines[1]}" = "$first$hash"$'\t'"$name"$'\t'"$name" ]
	[[ ${lines[2]} == l*$'target:to\\012there\t-\tlink' ]]
	[[ ${lines[3]} == f*$'\ta\\012\\011\\134\\377\tsecond' ]]
}

@test "the manifest of a huge sparse file is that of its known content" {
	need_corpus
	# The recipe's file: one byte at the end of the largest size.
	expected=$(awk -F'\t' '$NF == "last-byte" { print $12 }' \
		"$corpus/sparse-2k/manifest")
	byte=$("$lab_dir/guest.sh" - <<<'noise 5 1 | od -An -tx1' | tr -d ' ')
	at=$(((1 << 63) - 2 - ((1 << 63) - 2) % 1024))
	hash=$({ printf '%d %d\n' "$at" 1023
		 head -c 1022 /dev/zero; printf "\\x$byte"; } |
		sha256sum | cut -d' ' -f1)
	[ "$expected" = "runs:$hash" ]
}

@test "images of the corpus mount without complaint" {
	need_corpus
	for name in $(sample 6 $(corpus_names)); do
		images+=("$(copy_image "$name")")
	done
	# A guest has room for 16 disks.
	for ((i = 0; i < ${#images[@]}; i += 10)); do
		guest "${images[@]:i:10}" <<-'EOF'
		set -e
		for device in ${!DEV*}; do
			nilfs_mount "${!device}"
			find "$MNT" -xdev -type f -size -64M \
				-exec cat {} + >/dev/null
			nilfs_umount
		done
		EOF
		[ "$status" -eq 0 ]
		kernel_content
	done
}
