# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Many volumes under the stock kernel, one after the other in one guest: each is
# mounted, read, written to, mounted again, and so are its snapshots.  Load it
# after ../kernel/lab.

# The guest sees the host's files at the same place.
kernel_script() {
	echo "use() { perl '$BATS_TEST_DIRNAME/use.pl' \"\$1\" \"\$MNT\"; }"
	cat <<-'EOF'
	guest_module loop
	use_volume() {
		nilfs_mount "$1" && use read && use write && nilfs_umount &&
			nilfs_mount "$1" && use same && mkcp -s "$1" &&
			lscp -s "$1" >snapshots &&
			rm "$MNT/new file" && nilfs_umount
	}
	# The two oldest ones, and the one just made.
	some_snapshots() {
		awk '$1 + 0 { all[++n] = $1 }
			END { for (i = 1; i <= n; i++)
				if (i < 3 || i == n) print all[i]
			      exit !n }' snapshots
	}
	read_snapshots() {
		local cno cnos

		cnos=$(some_snapshots) || return
		for cno in $cnos; do
			nilfs_mount -o "ro,cp=$cno" "$1" && use read &&
				nilfs_umount || return
		done
	}
	for file in "$SHARE"/*; do
		echo "volume ${file##*/}" >/dev/kmsg
		loop=$(losetup -f --show "$file")
		use_volume "$loop" && read_snapshots "$loop" ||
			echo "volume ${file##*/}: status $?"
		umount -i "$MNT" 2>/dev/null
		losetup -d "$loop"
	done
	EOF
}

# Each complaint of the kernel with the volume that it is about.
kernel_blames() {
	local volume line

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

	guest --share "$1" --timeout 1200 < <(kernel_script)
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
