#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Files that dump.nilfs2 writes: none takes the place of another, unless that is
# asked for, and none is there before it is complete.

load ../kernel/things
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	image=image
	mkfs.nilfs2 -q --size 8M -B 64 image
}

# each_command WORD...: the words, and after them each command that writes a file.
each_command() {
	"$@" dump.nilfs2 report --fast image OUT &&
		"$@" dump.nilfs2 map --svg OUT image &&
		"$@" dump.nilfs2 image image OUT
}

@test "nothing that is there is written to, nor is what it leads to" {
	each_command spares_things 1
}

@test "with --force neither" {
	spares_things 1 dump.nilfs2 report --fast --force image OUT
	spares_things 1 dump.nilfs2 image --force image OUT
}

@test "a second image in place of the page stays" {
	make_things
	cp image other.img
	each_command spares 1 other.img exists
	[[ $output == *--force* ]]
}

@test "archives" {
	make_things
	for name in link dangling folder same; do
		mv $name $name.tar
		ln -f $name.tar $name.tar.gz 2>/dev/null || mv $name.tar $name.tar.gz
	done
	for force in '' --force; do
		# shellcheck disable=SC2086
		for name in dangling.tar.gz link.tar.gz; do
			spares 1 $name 'symbolic link' dump.nilfs2 export $force \
				image OUT
		done
		# shellcheck disable=SC2086
		spares 1 same.tar 'is the input itself' dump.nilfs2 export \
			$force image OUT
	done
	mv mine mine.tar
	spares 1 mine.tar exists dump.nilfs2 export image OUT
	run -0 dump.nilfs2 export --force image mine.tar
	tar -tf mine.tar
	run -2 dump.nilfs2 export --force image folder
}

@test "what a loop device is over is not replaced" {
	loop=$(losetup -f --show "$PWD/image" 2>/dev/null) ||
		skip "no loop device"
	cp image other
	run dump.nilfs2 report --fast --force other image
	losetup -d "$loop"
	[ "$status" -eq 1 ]
	[[ $output == *": image: is in use by $loop; give the name of a new file" ]]
	cmp image other
}

@test "--force replaces a file, by one of its mode, when it is complete" {
	local other

	for words in 'report --fast --force image OUT' \
		'map --force --svg OUT image' 'export --force image OUT.tar'; do
		name=out
		[[ $words != *.tar ]] || name=out.tar
		echo mine >$name
		chmod 604 $name
		ln -f $name other
		# shellcheck disable=SC2086
		run -1 bash -c "ulimit -f 0; trap '' XFSZ
			dump.nilfs2 ${words/OUT/out}"
		[ "$(cat $name)" = mine ]
		# shellcheck disable=SC2086
		dump.nilfs2 ${words/OUT/out}
		[ "$(cat other)" = mine ]
		[ "$(stat -c %a $name)" = 604 ]
		[ "$(stat -c %s $name)" -gt 100 ]
		rm -f out* other
	done
	[ "$(ls -A)" = image ]
}

@test "a copy of the metadata is for its owner, a page and an archive for all" {
	umask 022
	dump.nilfs2 image image meta
	dump.nilfs2 image image meta.zst
	dump.nilfs2 report --fast image page
	dump.nilfs2 export image all.tar
	[ "$(stat -c '%n %a' all.tar meta* page | tr '\n' ' ')" = \
		'all.tar 644 meta 600 meta.zst 600 page 644 ' ]
}

@test "pipes, and what is open already, are written to" {
	dump.nilfs2 map --svg map.svg image
	dump.nilfs2 map --svg /dev/stdout image | cmp - map.svg
	dump.nilfs2 map --svg /dev/fd/7 image 7>seven
	cmp seven map.svg
	dump.nilfs2 map --svg >(cat >piped; echo >ended) image
	until [ -e ended ]; do sleep 0.01; done
	cmp piped map.svg
	dump.nilfs2 report --fast image /dev/null
	# A descriptor of the tool itself is none of the user's.
	sum=$(cksum <image)
	for fd in 3 4 5 6 8 9; do
		run -1 bash -c "exec $fd>&-; dump.nilfs2 map --svg /dev/fd/$fd image"
		[[ $output == *"/dev/fd/$fd: is not open for writing"* ]]
	done
	[ "$(cksum <image)" = "$sum" ]
	run -1 bash -c 'dump.nilfs2 report --fast image /dev/stdout 1<>image'
	[[ $output == *"is the input itself"* ]]
}
