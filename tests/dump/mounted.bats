#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A device that the kernel has mounted is read without its page cache, which has what
# was there before the kernel's own logs.

bats_require_minimum_version 1.5.0
load ../kernel/lab

@test "a mounted device is read as it is, not as it was in the page cache" {
	backend=$(guest_with dump.nilfs2)
	need_guest "$backend"
	need_corpus
	image=$(copy_image cleaned)
	guest --backend "$backend" "$image" <<-EOF
		set -e
		PATH=$NILFS2_BUILD/dump:$NILFS2_BUILD/fsck:\$PATH
		nilfs_mount \$DEV1
		cat \$DEV1 >/dev/null
		for i in 1 2 3; do
			head -c 300000 /dev/urandom >\$MNT/new\$i
			mkdir \$MNT/dir\$i
			cp \$MNT/small-1 \$MNT/dir\$i/copy
			cno=\$(snapshot \$DEV1)
		done
		echo "snapshot \$cno"
		cd \$MNT && find . -type f -exec sha256sum {} + | sort >/mnt/tmp/want
		mkdir /mnt/tmp/got
		dump.nilfs2 export -q -c \$cno \$DEV1 /mnt/tmp/got
		cd /mnt/tmp/got && find . -type f -exec sha256sum {} + | sort >/mnt/tmp/is
		wc -l </mnt/tmp/want
		cmp /mnt/tmp/want /mnt/tmp/is
		fsck.nilfs2 -nf \$DEV1
		cd / && nilfs_umount
	EOF
	echo "$output"
	echo "$errors"
	[ "$status" -eq 0 ]
	[[ $output == *"snapshot "* ]]
	[[ $output == *": clean, 16"[0-9]" files, "* ]]
	kernel_content
}

@test "a shell on a mounted volume shows one state of it, and changes nothing" {
	backend=$(guest_with dump.nilfs2)
	need_guest "$backend"
	need_corpus
	image=$(copy_image special)
	guest --backend "$backend" "$image" <<-EOF
		set -e
		PATH=$NILFS2_BUILD/dump:\$PATH
		nilfs_mount \$DEV1
		echo before >\$MNT/before
		mkfifo /mnt/tmp/lines
		dump.nilfs2 shell \$MNT </mnt/tmp/lines >/mnt/tmp/said &
		exec 9>/mnt/tmp/lines
		echo ls >&9
		while [ ! -s /mnt/tmp/said ]; do sleep 0.1; done
		cp /mnt/tmp/said /mnt/tmp/first
		echo after >\$MNT/after
		sync
		echo ls >&9
		exec 9>&-
		wait
		cat /mnt/tmp/first /mnt/tmp/first | cmp - /mnt/tmp/said
		grep -x before /mnt/tmp/first
		! grep -x after /mnt/tmp/first
		printf "%s\n" "cd links" "ls ../after" | dump.nilfs2 shell \$MNT
		! dump.nilfs2 shell --expert \$MNT </dev/null
		! dump.nilfs2 shell --expert \$DEV1 </dev/null
		nilfs_umount
	EOF
	echo "$output"
	echo "$errors"
	[ "$status" -eq 0 ]
	[[ $output == *"before"*"/after"* ]]
	[[ $errors == *"in use"* ]]
	kernel_content
}
