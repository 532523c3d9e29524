#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Images that are shorter than their volumes: what lies beyond the end is counted, a
# copy has the full size, and gc.nilfs2 --shrink makes the volume fit.

bats_require_minimum_version 1.5.0
load ../kernel/lab
load ../dump/corpus

setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
}

# content IMAGE: all files of the latest state and of all snapshots, as sums.
content() {
	local cno

	for cno in $(dump.nilfs2 checkpoints -a "$1" |
		awk '$5 == "ss" { print $1 }') 0; do
		echo "state $cno"
		dump.nilfs2 export -c "$cno" "$1" - | tar -xO --to-command \
			'printf "%s " "$TAR_FILENAME"; sha256sum' -f -
		dump.nilfs2 ls -lR -c "$cno" "$1"
	done
}

# end_of IMAGE: one past the last block in use by any checkpoint, or of a log.
end_of() {
	{
		dump.nilfs2 dat --all "$1" | awk '$5 ~ /^(current|snapshot|checkpoint)$/ {
			print $2 + 1 }'
		dump.nilfs2 info --json "$1" | gojq .latest.super_root
		dump.nilfs2 bmap -b "$1" dat | awk 'NR > 1 { print $5 + $3 }'
	} | sort -n | tail -n 1
}

# cut BYTES: "short" becomes the beginning of "whole".
cut_to() {
	cp --sparse=always whole short
	truncate -s "$1" short
}

# extends BYTES: a repaired copy of what is left has everything.
extends() {
	cut_to "$1"
	run -4 fsck.nilfs2 -n short
	[[ $output == *": all blocks in use lie before the end of the device"* ]]
	[[ $output == *"beyond: the device has $1 bytes, its volume $(stat -c %s whole): "* ]]
	[[ $output =~ "beyond: "(truncate\ -s\ [0-9]+\ short)" extends " ]]
	hint=${BASH_REMATCH[1]}
	run -4 fsck.nilfs2 -y short
	[[ $output == *"nothing was changed: the device is smaller than its volume"* ]]
	cmp -n "$1" short whole
	[ "$(stat -c %s short)" -eq "$1" ]
	rm -f new
	run -1 fsck.nilfs2 -y --output new short
	[[ $output == *"lost: nothing"* ]]
	[ "$(stat -c %s new)" -eq "$(stat -c %s whole)" ]
	run -0 fsck.nilfs2 -fn --data new
	[[ $output == "new: clean, "* ]]
	[ "$(content new)" = "$before" ]
	# In place, as the hint says.
	$hint
	[ "$(stat -c %s short)" -eq "$(stat -c %s whole)" ]
	run -1 fsck.nilfs2 -y short
	cmp short new || [ "$(content short)" = "$before" ]
}

@test "an image of mkfs.nilfs2, of which less and less is left" {
	mkdir tree
	seq 300000 >tree/numbers
	echo text >tree/text
	mkfs.nilfs2 -q --size 256M -d tree whole
	before=$(content whole)
	end=$(($(end_of whole) * 4096))
	extends $((200 << 20))
	extends $((20 << 20))
	extends $((end + 4096))
}

@test "an image that the kernel wrote, with snapshots" {
	cp --sparse=always "$corpus/snapshots/image" whole
	before=$(content whole)
	end=$(($(end_of whole) * 4096))
	extends $((40 << 20))
	extends $((end + 4096 + 1))
}

@test "gc.nilfs2 --shrink makes the volume fit what is left" {
	cp --sparse=always "$corpus/snapshots/image" whole
	before=$(content whole)
	cut_to $((8 << 20))
	run -4 fsck.nilfs2 -n short
	[[ $output =~ "or "(gc.nilfs2\ --shrink=[0-9]+\ short)" makes the volume fit" ]]
	eval "run -0 ${BASH_REMATCH[1]}"
	[ "$(stat -c %s short)" -eq $((8 << 20)) ]
	run -0 fsck.nilfs2 -fn --data short
	[ "$(content short)" = "$before" ]
	# Without the option nothing is changed.
	cut_to $((8 << 20))
	run -4 gc.nilfs2 -f short
	[[ $output == *": all blocks in use lie before the end of the device"* ]]
	cmp -n $((8 << 20)) short whole
	[ "$(stat -c %s short)" -eq $((8 << 20)) ]
	run -4 gc.nilfs2 -n --shrink=8M short
	cmp -n $((8 << 20)) short whole
	[ "$(stat -c %s short)" -eq $((8 << 20)) ]
}

@test "gc.nilfs2 --shrink leaves an image alone of which blocks are missing" {
	cp --sparse=always "$corpus/nearly-full/image" whole
	gc.nilfs2 -q -f --protect 0 whole
	cut_to $((20 << 20))
	run -4 gc.nilfs2 -f --shrink=20M short
	cmp -n $((20 << 20)) short whole
	[ "$(stat -c %s short)" -eq $((20 << 20)) ]
}

# counts SIZE: what is said of "whole" cut to SIZE blocks, in "counted"; and what is
# in use there by the entries of its DAT, in "expected".
counts() {
	local block

	block=$(block_size whole)
	cut_to $(($1 * block + 77))
	dump.nilfs2 dat --all whole | awk -v first="$1" -v per="$(
		dump.nilfs2 info --json whole |
			gojq .geometry.blocks_per_segment)" '
		$5 ~ /^(current|snapshot|checkpoint)$/ && $2 >= first {
			n[$5]++
			if (!segments[int($2 / per)]++)
				s++
		}
		END { print s + 0, n["current"] + 0, n["snapshot"] + 0,
			n["checkpoint"] + 0 }' >expected
	run -4 --separate-stderr fsck.nilfs2 -n --json short
	gojq -r '.beyond | "\(.segments) \(.latest) \(.snapshots) \(.checkpoints)"' \
		<<<"$output" >counted
	complete=$(gojq .beyond.complete <<<"$output")
	echo "at $1: $(cat expected), said: $(cat counted), complete: $complete"
	[ "$(gojq .beyond.device_bytes <<<"$output")" -eq $(($1 * block + 77)) ]
	[ "$(gojq .beyond.volume_bytes <<<"$output")" -eq "$(stat -c %s whole)" ]
}

@test "the blocks in use beyond the end, by the entries of the DAT" {
	local of place=12000 vblock size

	cp --sparse=always "$corpus/snapshots/image" whole
	# Some blocks of files of each kind get places that are far behind.
	dump.nilfs2 dat --all whole | awk '$5 == "checkpoint" { print $1 }' >old
	for of in '0 /later' '22 /d/f1' '4 /d/f3' '2 /d/f15' '9 /changing' \
		'11 /changing' '13 /changing'; do
		for vblock in $(dump.nilfs2 bmap -b -c ${of% *} whole "${of#* }" |
			awk '$NF == "data" { print $4 }' |
			{ [[ $of != *changing ]] && head -n 2 ||
				grep -xFf old; }); do
			dump.nilfs2 set --expert --fix-checksums whole \
				"dat:$vblock" de_blocknr=$place
			place=$((place + 50))
		done
	done
	for size in 10000 12050 12051 12200 12401; do
		counts $size
		diff expected counted
		[ "$complete" = true ]
	done
	counts 10000
	run -4 fsck.nilfs2 -n short
	[[ $output == *" blocks in use, in $(cut -d ' ' -f 1 expected) segments, lie beyond the end of the device: "*" of the latest state, "*" of snapshots only, "*" of old checkpoints only"* ]]
	run dump.nilfs2 info short
	[[ $output == *"Beyond the end: "*" blocks in use, in "* ]]
}

@test "a DAT that lies beyond the end in part" {
	cp --sparse=always "$corpus/nearly-full/image" whole
	# The latest logs come to lie before older blocks.
	gc.nilfs2 -q -f --protect 0 whole
	for size in 10000 20000 32000; do
		counts $size
		[ "$complete" = false ]
		read -r _ most _ <expected
		read -r _ least _ <counted
		# Those of the DAT itself are counted, too.
		[ "$least" -gt 0 ]
		own=$(dump.nilfs2 bmap -b whole dat | awk -v first=$size \
			'NR > 1 && $5 + $3 > first { n += $3 } END { print n + 0 }')
		[ "$least" -le $((most + own + 16)) ]
	done
	run -4 fsck.nilfs2 -n short
	[[ $output == *": at least $least blocks in use, in "* ]]
}

@test "the latest log beyond the end" {
	cp --sparse=always "$corpus/snapshots/image" whole
	cut_to $((3 << 20))
	run -4 fsck.nilfs2 -y short
	[[ $output == *"the log of the latest state lies beyond the end of the device"* ]]
	[[ $output == *"nothing was changed: the device is smaller than its volume"* ]]
	[[ $output != *"no usable starting log"* ]]
	run -1 fsck.nilfs2 -y --output new short
	[[ $output == *"lost: checkpoints "* ]]
	run -0 fsck.nilfs2 -fn new
	[ "$(stat -c %s new)" -eq "$(stat -c %s whole)" ]
}
