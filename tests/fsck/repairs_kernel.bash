# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Many volumes under the stock kernel, one after the other in one guest: each is
# mounted, read, written to, mounted again, and so are its snapshots.  Load it
# after ../kernel/lab.

# kernel_uses take|look: see use.pl; the guest sees the host's files at the same
# place.
kernel_uses() {
	echo 'guest_module loop'
	echo "exec perl '$BATS_TEST_DIRNAME/../fsck/use.pl' $1 \"\$SHARE\"/*"
}

# Each complaint of the kernel with the volume that it is about.
kernel_blames() {
	local volume=- line

	while IFS= read -r line; do
		case $line in
		*'volume '*) volume=${line##*volume } ;;
		*) dmesg=$line kernel_complaints | sed "s/^/$volume: /" ;;
		esac
	done <<<"$dmesg"
}

# kernel_takes DIRECTORY: all volumes in it, and nothing else; the checker has
# nothing to say of what the kernel then left.
kernel_takes() {
	local file bad=0

	guest --share "$1" --timeout 1200 < <(kernel_uses take)
	[ "$status" -eq 0 ] && [ -z "$output" ] || {
		echo "status $status: $output $errors"
		bad=1
	}
	kernel_content >/dev/null || {
		kernel_blames
		bad=1
	}
	for file in "$1"/*; do
		"$NILFS2_BUILD/fsck/fsck.nilfs2" -fnq "$file" || {
			echo "${file##*/}: is wrong after the kernel wrote"
			bad=1
		}
	done
	[ "$bad" -eq 0 ]
}
