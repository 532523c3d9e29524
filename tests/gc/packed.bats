#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Numbers in use gather in fewer blocks of the DAT where a volume becomes smaller
# by that: the same files and snapshots under other virtual block numbers.

bats_require_minimum_version 1.5.0

load ../kernel/lab
load ../fsck/repaired
load gc

# Blocks of the DAT of $image that have a number in use, and numbers.
dat_of() {
	dump.nilfs2 dat -a "$image" |
		awk -v entries="$1" '$1 ~ /^[0-9]+$/ {
			n++
			if (!blocks[int($1 / entries)]++)
				used++
		} END { print used, n }'
}

# gc OPTION... : of $image, of which only snapshots and the latest state matter.
gc() {
	gc.nilfs2 --protect 0 "$@" "$image"
}

@test "a packed DAT has one block more than its numbers need, at most" {
	begin nearly-full
	gc --compact >/dev/null
	read -r before numbers < <(dat_of 32)
	gc --shrink >/dev/null
	read -r after numbers < <(dat_of 32)
	echo "$before, $after of $numbers"
	[ "$before" -gt "$after" ]
	[ "$after" -le $((numbers / 32 + 2)) ]
	is_clean
	same_trees
}

# Some blocks are found from another place in a snapshot than now: these keep
# their numbers.
@test "packed whatever it brings, all images hold what they held" {
	total=0
	for name in $(names); do
		echo "$name:"
		begin "$name"
		gc >/dev/null
		moved=$("$NILFS2_BUILD/tests/gc/packs" "$image")
		total=$((total + moved))
		is_clean
		same_trees
	done
	echo "$total"
	[ "$total" -gt 1000 ]
}

# What mkfs.nilfs2 leaves room for is a small file, so it is cleaned when it has
# grown.
@test "the kernel reads, writes on and cleans what has a packed DAT" {
	need_guest uml
	image=$(copy_image nearly-full)
	gc --compact --shrink >/dev/null
	guest "$image" <<-'SCRIPT'
	set -e
	nilfs_mount "$DEV1"
	noise 1 5000 >"$MNT/more"
	sync
	rm "$MNT/more"
	nilfs_umount
	SCRIPT
	[ "$status" -eq 0 ]
	kernel_content
	is_clean
	gc --grow=40M >/dev/null
	# Its root has a new time.
	but=$'\t\\.$' by_kernel nearly-full
	is_clean
}
