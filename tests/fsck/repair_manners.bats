#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The manners of repairs: who is asked, what is reported, what is left alone.

bats_require_minimum_version 1.5.0
load ../kernel/things
load damage

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	# For damage(), in another file.
	# shellcheck disable=SC2034
	image=image
	mkdir -p source/dir
	echo small >source/dir/file
	ln source/dir/file source/dir/link
	mkfs.nilfs2 -q --size 16M -B 64 -d source image
}

# What is wrong then can be repaired without a loss, by one more log.
break_links() {
	damage inode:/dir/file i_links_count=5
	cp image broken
}

# What can be repaired, but at a cost: a second name of a directory.
break_name() {
	damage dirent:/dir/link inode=99999
	cp image broken
}

say_errors() {
	damage super:1 s_state=valid,error
	damage super:2 s_state=valid,error
}

same() {
	cmp image "$1"
}

# on_terminal ANSWERS ARGUMENT...: fsck.nilfs2 at a terminal, with what is typed.
on_terminal() {
	local answers=$1

	shift
	[ -x "$(command -v script)" ] || skip "no script"
	# shellcheck disable=SC2059
	printf "$answers" | script -qec "fsck.nilfs2 $*" /dev/null
}

@test "a clean volume is not written to" {
	cp image sound
	touch -d 2020-01-01 image
	for mode in -y -a -p '-a -f' '-y --rebuild' '-y --undo-file undo'; do
		# shellcheck disable=SC2086
		run -0 --separate-stderr fsck.nilfs2 $mode image
		[[ $output == "image: clean, "* ]]
	done
	same sound
	[ "$(stat -c %Y image)" = "$(date -d 2020-01-01 +%s)" ]
	[ ! -e undo ]
}

@test "-y repairs, prints what, and a second check finds nothing" {
	break_links
	run -1 --separate-stderr fsck.nilfs2 -y image
	[[ ${lines[0]} == "inode-links-names: "*"(expected 2, found 5)" ]]
	[[ ${lines[1]} == "repaired: "* ]]
	[[ ${lines[-1]} == "image: repaired, "* ]]
	run -0 fsck.nilfs2 -n image
	[[ ${lines[-1]} == "image: clean, "* ]]
	[ "$(dump.nilfs2 inode --json image /dir/file |
		gojq '.. | .i_links_count? // empty')" = 2 ]
	[ "$(dump.nilfs2 cat image /dir/file)" = small ]
	cp image repaired
	run -0 fsck.nilfs2 -y image
	same repaired
}

@test "-n and --quick change nothing" {
	break_links
	run -4 fsck.nilfs2 -n image
	run -0 fsck.nilfs2 --quick -y image
	same broken
}

@test "-p repairs what is safe and leaves what costs something" {
	break_links
	run -1 fsck.nilfs2 -p -f image
	[[ $output == *"repaired: "* ]]
	break_name
	run -4 --separate-stderr fsck.nilfs2 -p -f image
	[[ $output == *dir-no-inode* ]]
	# shellcheck disable=SC2154
	[[ $stderr == *"-y may repair"* ]]
	same broken
	run -1 fsck.nilfs2 -y image
	run -0 fsck.nilfs2 -n image
}

@test "without a terminal nothing is changed, and that is said" {
	break_links
	run -4 --separate-stderr fsck.nilfs2 image </dev/null
	[[ $stderr == *"not on a terminal"* ]]
	same broken
}

@test "a question says what is wrong, what would be done and what it costs" {
	break_name
	run -4 on_terminal 'n\nn\n' image
	[[ $output == *"dir-no-inode: "* ]]
	[[ $output == *"Action: "* ]]
	[[ $output == *"Risk: none"* ]]
	[[ $output == *"Risk: names "* ]]
	same broken
	run -1 on_terminal 'huh\n\ny\ny\n' image
	[[ $output == *"repaired: "* ]]
	run -0 fsck.nilfs2 -n image
}

@test "an answer for all is the last one" {
	break_links
	break_name
	say_errors
	run -1 on_terminal 'a\n' image
	[ "$(grep -c 'Repair? ' <<<"$output")" -eq 1 ]
	run -0 --separate-stderr fsck.nilfs2 -n image
	[[ ${lines[0]} == "image: clean, "* ]]
}

links_of() {
	dump.nilfs2 inode --json image "$1" | gojq '.. | .i_links_count? // empty'
}

# What is found, without checkpoints and bytes, and without lost names.
left() {
	fsck.nilfs2 -fn image | grep -vE '^(dir-no-inode|image): ' |
		sed -E 's/(checkpoint|byte) [0-9]+//g' | sort
}

# The first question is about what costs nothing, the second about names.
@test "what was refused stays, though another repair is of the same kind" {
	command -v gojq >/dev/null || skip "gojq not found"
	mkdir -p source/dir/sub source/other
	mkfs.nilfs2 -q -f --size 16M -B 64 -d source image
	damage inode:/dir/file i_links_count=5
	damage inode:/dir/sub i_links_count=7
	damage dirent:/dir/file file_type=3
	damage dirent:/dir/.. inode=0
	break_name
	left >before
	[ "$(wc -l <before)" -eq 4 ]
	run -4 on_terminal 'n\ny\n' image
	[[ $output == *"removed 'link' of inode 99999"* ]]
	[ "$(links_of /dir/file)" = 5 ]
	[ "$(links_of /dir/sub)" = 7 ]
	left >after
	diff before after
}

@test "no input is no consent" {
	break_links
	run on_terminal '\004' image
	echo "status $status: $output"
	[ "$status" -eq 4 ]
	same broken
}

@test "the state of errors goes with the errors" {
	say_errors
	run -1 fsck.nilfs2 -p image
	run -0 fsck.nilfs2 -n --json image
	[ "$(gojq .summary.error_state <<<"$output")" = false ]
	break_name
	say_errors
	run -4 fsck.nilfs2 -p image
	run -4 fsck.nilfs2 -n --json image
	[ "$(gojq .summary.error_state <<<"$output")" = true ]
}

@test "repairs for scripts" {
	break_links
	run -1 --separate-stderr fsck.nilfs2 -y --json image
	[ "$(jq -c 'keys_unsorted' <<<"$output")" = \
		'["findings","counts","repairs","losses","left","summary"]' ]
	[ "$(gojq -r '.findings[].rule' <<<"$output")" = inode-links-names ]
	[ "$(gojq -c '[(.repairs | length > 0), .losses, .left, .summary.repaired,
		.summary.clean, .summary.errors, .summary.losses,
		.summary.losses_known]' <<<"$output")" = \
		'[true,[],[],true,true,0,0,true]' ]
}

@test "an undo file brings the old volume back" {
	break_links
	run -1 fsck.nilfs2 -y --undo-file undo image
	! same broken
	cp image repaired
	run -0 fsck.nilfs2 --undo undo image
	same broken
	# Again, and from a copy of the repaired one.
	run -0 fsck.nilfs2 --undo undo image
	same broken
	cp repaired image
	run -0 fsck.nilfs2 --undo undo image
	same broken
}

@test "an undo file takes the place of nothing, and is for its owner" {
	break_links
	image=image
	spares_things 8 fsck.nilfs2 -y --undo-file OUT image
	spares 8 mine exists fsck.nilfs2 -y --force --undo-file OUT image
	[[ $output != *--force* ]]
	run -8 fsck.nilfs2 -y --undo-file missing/undo image
	same broken
	umask 022
	run -1 fsck.nilfs2 -y --undo-file undo image
	[ "$(stat -c %a undo)" = 600 ]
}

# poke_byte OFFSET FILE: another value of that byte.
poke_byte() {
	byte=$(od -An -tu1 -j "$1" -N 1 "$2")
	# shellcheck disable=SC2059
	printf "\\$(printf %o $(((byte + 1) % 256)))" |
		dd of="$2" bs=1 seek="$1" conv=notrunc status=none
}

@test "an undo file that does not fit is refused" {
	break_links
	run -1 fsck.nilfs2 -y --undo-file undo image
	cp image repaired
	# Any byte of it.
	for at in 0 8 16 40 70 100 2000 -1; do
		[ "$at" -ge 0 ] || at=$(($(stat -c %s undo) - 1))
		cp undo bad
		poke_byte "$at" bad
		run -8 fsck.nilfs2 --undo bad image
		same repaired
	done
	for size in 0 1 63 64 1000; do
		cp undo bad
		truncate -s "$size" bad
		run -8 fsck.nilfs2 --undo bad image
		same repaired
	done
	mkfs.nilfs2 -q --size 20M -B 64 other
	cp other before
	run -8 fsck.nilfs2 --undo undo other
	cmp other before
	# The volume was used since.
	damage super:1 s_mnt_count=7
	cp image used
	run -8 fsck.nilfs2 --undo undo image
	[[ $output == *"changed"* ]]
	same used
	run -0 fsck.nilfs2 --undo undo --force image
	same broken
}

@test "nothing is taken back where a block was changed, as its name says" {
	break_links
	run -1 fsck.nilfs2 -y --undo-file undo image
	cp image repaired
	# Bytes of the repair, but for superblocks; superblocks are left alone.
	size=$(stat -c %s image)
	cmp -l broken repaired | awk -v end=$((size - 8192)) '
		$1 > 8192 && $1 < end { print $1 - 1 }' >bytes || true
	bytes=$(dump.nilfs2 info --json image | gojq .geometry.block_bytes)
	for at in "$(head -n 1 bytes)" "$(tail -n 1 bytes)"; do
		cp repaired image
		poke_byte "$at" image
		cp image used
		run -8 fsck.nilfs2 --undo undo image
		[[ $output == *"image: block $((at / bytes)) was changed after undo was written"* ]]
		same used
		run -0 fsck.nilfs2 --undo undo --force image
		same broken
	done
	# What is back already is no change.
	cp repaired image
	dd if=broken of=image bs=512 skip=$((at / 512)) seek=$((at / 512)) \
		count=1 conv=notrunc status=none
	run ! same repaired
	run -0 fsck.nilfs2 --undo undo image
	same broken
}

@test "nothing is taken back on another volume, not even with --force" {
	break_links
	run -1 fsck.nilfs2 -y --undo-file undo image
	mkfs.nilfs2 -q -f --size "$(stat -c %s image)" -B 64 other
	cp other before
	for force in '' --force; do
		# shellcheck disable=SC2086
		run -8 fsck.nilfs2 --undo undo $force other
		[[ $output == *"other: is volume $(
			blkid -p -o value -s UUID other), and undo is of volume $(
			blkid -p -o value -s UUID image); nothing was written"* ]]
		cmp other before
	done
	# Nor by a file of another form.
	printf '\1' | dd of=undo bs=1 seek=8 conv=notrunc status=none
	cp image repaired
	run -8 fsck.nilfs2 --undo undo --force image
	[[ $output == *"undo: undo file version 1 is not supported, expected 2; use the fsck.nilfs2 that wrote it"* ]]
	same repaired
}

@test "words that do not go together are status 16" {
	break_links
	for words in '--undo-file u -n' '--undo u -y' '--undo u --undo-file v' \
		'--undo u -n' '-y -n' '-y -a'; do
		# shellcheck disable=SC2086
		run -16 fsck.nilfs2 $words image
	done
	same broken
}

@test "an image that cannot be written to is checked" {
	[ "$(id -u)" -ne 0 ] || skip "root may write to anything"
	break_links
	chmod 444 image
	run -4 --separate-stderr fsck.nilfs2 -y image
	[[ $stderr == *"cannot be written to"* ]]
	same broken
}

@test "an interrupted repair changes nothing" {
	break_links
	# A signal before the commit: it waits for an answer.
	[ -x "$(command -v script)" ] || skip "no script"
	run script -qec 'fsck.nilfs2 image & sleep 1; kill -INT $!; wait $!
		echo "was $?"' /dev/null </dev/null
	same broken
}

# Wrong counts of links, in every block of inodes.
break_all_links() {
	local block byte

	mkdir -p many
	touch many/{0001..3000}
	mkfs.nilfs2 -q -f --size 64M -B 128 -d many image
	for block in $(dump.nilfs2 bmap -b image ifile |
		awk '$NF == "data" && $1 > 2 { print $5 }'); do
		printf '\5' | dd of=image bs=1 seek=$((block * 4096 + 50)) \
			conv=notrunc status=none
	done
	byte=$(od -An -tu1 -j $((block * 4096)) -N 1 image)
	damage "block:$block" "byte[0]=$((byte))"
	cp image broken
}

@test "a repair is the same with hardly any memory" {
	break_all_links
	export SOURCE_DATE_EPOCH=1700000000
	run -1 fsck.nilfs2 -y image
	mv image repaired
	cp broken image
	# That needs the file, and it may be anywhere.
	mkdir elsewhere
	TMPDIR=$PWD/elsewhere run -1 fsck.nilfs2 -y --max-memory 300K image
	same repaired
	[ -z "$(ls elsewhere)" ]
	cp broken image
	TMPDIR=$PWD/missing run -8 --separate-stderr \
		fsck.nilfs2 -y --max-memory 300K image
	[[ $stderr == *"$PWD/missing: opening a temporary file"*"No such file"* ]]
	same broken
}

@test "no room for temporary files is no repair, and nothing is changed" {
	break_all_links
	# 100 KiB a file; what is already there may stay as large as it is.
	run -8 --separate-stderr bash -c \
		'trap "" XFSZ; ulimit -f 100; TMPDIR=. fsck.nilfs2 -y --max-memory 300K image'
	[[ $stderr == *".: writing a temporary file"*"File too large"* ]]
	same broken
}

# unread ARGUMENT...: fsck.nilfs2, and its output is not read.
unread() {
	{
		sleep 0.2
		status=0
		fsck.nilfs2 "$@" 2>stderr || status=$?
		echo "$status" >status
	} | :
	cat stderr
	return "$(cat status)"
}

@test "what was promised is done even if the output is not read" {
	break_all_links
	run -8 unread -n --all image
	[ -z "$output" ]
	run -1 unread -y --all image
	[ -z "$output" ]
	run -0 fsck.nilfs2 -n image
	cp broken image
	run -1 unread -p -f --json-lines image
	run -0 fsck.nilfs2 -n image
}

# zero_names: no block of the root directory has an entry.
zero_names() {
	local block

	for block in $(dump.nilfs2 bmap -b image / |
		awk '$NF == "data" { print $5 }'); do
		dd if=/dev/zero of=image bs=4096 seek="$block" count=1 \
			conv=notrunc status=none
		damage "block:$block" "byte[0]=0"
	done
}

# zero_inodes: zeros for all blocks of inodes but the first one.
zero_inodes() {
	local block

	for block in $(dump.nilfs2 bmap -b image ifile |
		awk '$NF == "data" && $1 > 2 { print $5 }'); do
		dd if=/dev/zero of=image bs=4096 seek="$block" count=1 \
			conv=notrunc status=none
		damage "block:$block" "byte[0]=0"
	done
}

@test "what would leave hardly a file is not done unless asked for by name" {
	touch source/file.{001..200}
	mkfs.nilfs2 -q -f --size 16M -B 64 -d source image
	zero_inodes
	zero_names
	cp image broken
	run -4 --separate-stderr fsck.nilfs2 -y image
	[[ $stderr == *"nothing was changed: repairs would keep only "*" of 20"*" files; --rebuild accepts that"* ]]
	same broken
	run -1 fsck.nilfs2 -y --rebuild image
	run -0 fsck.nilfs2 -n image
	[ "$(dump.nilfs2 ls image | wc -l)" -lt 50 ]
}

@test "an undo file that could not be written is not left behind" {
	break_links
	(
		trap '' XFSZ
		ulimit -f 1
		exec fsck.nilfs2 -y --undo-file undo image
	) >out 2>&1 || status=$?
	cat out
	[ "$status" -eq 8 ]
	[ ! -e undo ]
	same broken
	run -1 fsck.nilfs2 -y --undo-file undo image
	[ -s undo ]
}
