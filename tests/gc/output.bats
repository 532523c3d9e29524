#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A compact copy: the same volume in a new file, the old one untouched.

bats_require_minimum_version 1.5.0

load ../kernel/lab
load ../fsck/repaired
load ../kernel/things
load gc

# output OPTION... : a copy of $image as $copy.
output() {
	gc.nilfs2 --protect 0 --output "$copy" "$@" "$image"
}

@test "all files and snapshots are in the copy" {
	copy=copy.image
	for name in $(names); do
		begin "$name"
		echo "$name:"
		before=$(state_of "$image")
		run -0 output -n --json
		[ ! -e "$copy" ]
		forecast=$(timeless <<<"$output")
		run -0 output --json
		[ "$(timeless <<<"$output")" = "$forecast" ]
		[ "$(state_of "$image")" = "$before" ]
		[ "$(stat -c %s "$copy")" -eq "$(stat -c %s "$image")" ]
		# What was not written takes no room, but for the superblocks.
		[ "$(($(stat -c '%b * %B' "$copy")))" -le "$((
			$(gojq .copy.blocks_written <<<"$output") *
			4096
			+ 65536))" ]
		[ "$(blkid -p -s UUID -o value "$copy")" = \
			"$(blkid -p -s UUID -o value "$image")" ]
		image=$copy
		is_clean
		same_trees
		rm "$copy"
	done
}

@test "any number of threads writes the same bytes, any order the same files" {
	begin deep-1k
	for order in tree file age victim; do
		for threads in 1 3; do
			copy=$order.$threads
			output --order "$order" -j "$threads" >/dev/null
		done
		cmp "$order.1" "$order.3"
		diff trees.sound <(trees_of "$order.1")
	done
}

@test "a file that is there stays, unless it may go; the volume always does" {
	begin small-files
	copy=there
	echo mine >there
	run -1 output
	[ "$(cat there)" = mine ]
	ln there other
	run -0 output -f
	diff trees.sound <(trees_of there)
	[ "$(stat -c %a there) $(cat other)" = '600 mine' ]
	spares_things 1 gc.nilfs2 --protect 0 -f --output OUT "$image"
	same_trees
}

@test "what cannot be copied leaves no file" {
	image=$(copy_image crash-dsync)
	copy=copy.image
	run -4 output
	[[ $output == *"run fsck.nilfs2"* ]]
	[ ! -e "$copy" ]
}

@test "the kernel reads, writes on and cleans a copy" {
	need_guest uml
	for name in $(sample 1 nearly-full deep-1k snapshots); do
		echo "$name:"
		image=$(copy_image "$name")
		copy=$PWD/$name.copy
		output >/dev/null
		image=$copy
		by_kernel "$name"
		is_clean
	done
}

@test "what would change the volume is refused beside a copy" {
	begin cleaned
	copy=copy.image
	run -2 output --shrink
	[[ $output == *"--output and --shrink exclude each other"* ]]
	[ ! -e "$copy" ]
}
