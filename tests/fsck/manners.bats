#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The manners of fsck.nilfs2: what fsck(8) and its callers at boot rely on.

bats_require_minimum_version 1.5.0

load ../kernel/state

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

make_image() {
	mkfs.nilfs2 -q --size 16M -B 64 image
}

# A byte of the label of the first superblock, which is empty; its checksum
# covers it.
break_super() {
	printf '\377' | dd of=image bs=1 seek=$((1024 + 0xc8)) conv=notrunc \
		status=none
}

# refuse STATUS ARGUMENT...: it says one thing about the failure, on standard
# error only.
refuse() {
	local want=$1

	shift
	run --separate-stderr timeout 20 fsck.nilfs2 "$@"
	echo "status $status: $output$stderr"
	[ "$status" -eq "$want" ]
	[ -z "$output" ]
	[[ $stderr == "fsck.nilfs2: "* ]]
}

# judge IMAGE: something that is no volume has errors, and stays as it is.
judge() {
	local before

	before=$(state_of "$1")
	for option in -n --quick -a -p '' -y '-y --rebuild'; do
		# shellcheck disable=SC2086
		run --separate-stderr timeout 20 fsck.nilfs2 $option "$1"
		echo "$option: status $status: $output$stderr"
		[ "$status" -eq 4 ]
		# Of what is not repaired there may be a note.
		case $option in
		-n | --quick) [ -z "$stderr" ] ;;
		*) [ -z "$(sed "/^fsck.nilfs2: $1: nothing was /d
			/^fsck.nilfs2: $1: not on a terminal/d
			/^fsck.nilfs2: $1: [0-9]* findings* [ia][sr]e* left/d" \
			<<<"$stderr")" ] ;;
		esac
		[[ ${lines[-1]} == "$1: "*" error"* ]]
	done
	[ "$(state_of "$1")" = "$before" ]
}

@test "--help and --version" {
	run -0 fsck.nilfs2 --help
	[[ ${lines[0]} == "Usage: fsck.nilfs2 [OPTIONS] DEVICE|DIRECTORY" ]]
	[ -z "$(awk 'length > 80' <<<"$output")" ]
	run -0 fsck.nilfs2 -V
	[[ $output =~ ^fsck\.nilfs2\ \(nilfs2-progs\)\ [0-9]+\.[0-9]+ ]]
}

@test "what fsck(8) hands on is understood, a clean volume is status 0" {
	make_image
	before=$(state_of image)
	for options in '' -n -a -p '-a -f' '-f -p' '-n -v' '-a -C0' '-n -C 0' \
		-afv '--quick' '-n --data' '-j 1' '--max-memory 8M'; do
		# shellcheck disable=SC2086
		run -0 --separate-stderr fsck.nilfs2 $options image
		[[ $output == "image: clean, "* ]]
	done
	[ "$(state_of image)" = "$before" ]
}

@test "fsck(8) finds it and passes its status on" {
	[ -x "$(command -v fsck)" ] || skip "no fsck"
	make_image
	run -0 fsck -t nilfs2 -a "$PWD/image"
	[[ $output == *"$PWD/image: clean, "* ]]
	break_super
	run -4 fsck -T -t nilfs2 -n "$PWD/image"
	[[ $output == *"sb-sum: superblock 1: "* ]]
}

@test "errors are status 4 where nothing is repaired" {
	make_image
	break_super
	before=$(state_of image)
	for options in '' -n --quick --json -q; do
		# shellcheck disable=SC2086
		run -4 fsck.nilfs2 $options image
		[[ $output == *sb-sum* ]]
	done
	[ "$(state_of image)" = "$before" ]
}

@test "bad words are status 16" {
	make_image
	refuse 16
	refuse 16 --nope image
	refuse 16 -Z image
	refuse 16 image image
	refuse 16 -n -a image
	refuse 16 -f --quick image
	refuse 16 --json --json-lines image
	refuse 16 -C x image
}

@test "what cannot be opened is status 8" {
	refuse 8 -n missing
	[ ! -e missing ]
	mkdir folder
	refuse 8 -n folder
	: >empty
	refuse 8 -n empty
	mkfifo pipe
	sleep 60 3<>pipe &
	refuse 8 -n pipe
	kill $!
	[ "$(id -u)" -eq 0 ] || {
		make_image
		chmod 000 image
		refuse 8 -n image
	}
}

@test "too little memory is status 8" {
	make_image
	refuse 8 -n --max-memory 1 image
	[[ $stderr == *"memory"* ]]
}

@test "a byte, zeros, 0xFF, noise" {
	printf x >byte
	judge byte
	truncate -s 2M zeros
	judge zeros
	head -c 2M /dev/zero | tr '\0' '\377' >ones
	judge ones
	# The same noise each time.
	perl -e 'srand 7; print pack "L*", map { int rand 2 ** 32 } 1 .. 1 << 19' \
		>noise
	judge noise
}

@test "an image cut anywhere" {
	make_image
	for size in 1 1023 1024 1500 2048 4096 4097 8192 20479 20480 40960 \
		262144 300000 1M 8M; do
		cp image cut
		truncate -s "$size" cut
		judge cut
	done
}

@test "a mounted device is refused unless nothing is to be changed" {
	device=$(awk '$3 ~ /:/ && $6 ~ /^rw/ {
			for (i = 7; $i != "-"; i++)
				;
			print $(i + 2)
		}' /proc/self/mountinfo | while read -r path; do
			[ ! -b "$path" ] || { echo "$path"; break; }
		done)
	[ -n "$device" ] || skip "nothing is mounted from a block device"
	for mode in '' -a -p; do
		# shellcheck disable=SC2086
		refuse 8 $mode "$device"
		[[ $stderr == *": mounted on /"* ]]
	done
	run --separate-stderr fsck.nilfs2 -n --quick "$device"
	[[ ${stderr_lines[0]} == *": mounted on /"*" may change "* ]]
}

@test "-a takes for clean what was left clean, -f has it checked" {
	make_image
	complete() {
		fsck.nilfs2 --json "$@" image | gojq .summary.complete
	}
	[ "$(complete -a)" = false ]
	[ "$(complete -p)" = false ]
	[ "$(complete --quick)" = false ]
	[ "$(complete -a -f)" = true ]
	[ "$(complete -n)" = true ]
	[ "$(complete)" = true ]
	dump.nilfs2 set -q --expert --fix-checksums image super:1 s_state=none
	dump.nilfs2 set -q --expert --fix-checksums image super:2 s_state=none
	[ "$(complete -a)" = true ]
	[ "$(complete -a --quick)" = false ]
	run -0 --separate-stderr fsck.nilfs2 -a image
	[[ $stderr == *": not unmounted cleanly; "* ]]
}

@test "-a reads as little of a large volume as of a small one" {
	[ -x "$(command -v strace)" ] || skip "no strace"
	for size in 256M 4T; do
		rm -f large
		mkfs.nilfs2 -q --size "$size" large
		# A leak checker cannot run under it.
		ASAN_OPTIONS=detect_leaks=0 strace -f -e trace=read,pread64 \
			-o trace fsck.nilfs2 -a large
		sed -n 's/^[0-9]*  *pread64.* = \([0-9]*\)$/\1/p' trace |
			awk '{ sum += $1 } END { print sum }' >"bytes.$size"
	done
	[ "$(cat bytes.256M)" -gt 0 ]
	diff bytes.256M bytes.4T
}

@test "the summary says what the volume holds" {
	mkdir source
	touch source/{1,2,3}
	mkfs.nilfs2 -q --size 16M -B 64 -d source --snapshot image
	run -0 fsck.nilfs2 --json image
	# Three files and the root; 16 MiB less the end make 63 segments of 64
	# blocks, of which one is written and the next one taken.
	[ "$(gojq -c '[.summary | .files, .segments, .used_segments, .snapshots,
		.checkpoint, .clean, .unmounted, .error_state, .device]' \
		<<<"$output")" = \
		'[4,63,2,1,1,true,true,false,"image"]' ]
	run -0 fsck.nilfs2 image
	[ "$output" = "image: clean, 4 files, checkpoint 1, 2/63 segments" ]
	run -0 fsck.nilfs2 -q image
	[ -z "$output" ]
}

@test "findings for scripts" {
	make_image
	break_super
	run -4 fsck.nilfs2 -n --json image
	[ "$(jq -c '.findings[0] | keys_unsorted' <<<"$output")" = \
		'["rule","number","severity","place","history","wanted","got","text","detail"]' ]
	[ "$(gojq -c '.findings[0] | [.rule, .number, .severity, .place]' \
		<<<"$output")" = \
		'["sb-sum",1004,"fatal",{"kind":"superblock","number":1}]' ]
	[ "$(jq -c '.counts' <<<"$output")" = \
		'[{"rule":"sb-sum","number":1004,"severity":"fatal","count":1}]' ]
	[ "$(gojq -c '[.summary | .clean, .fatal, .errors, .warnings]' \
		<<<"$output")" = '[false,1,0,0]' ]
	run -4 fsck.nilfs2 -n --json-lines image
	[ "$(gojq -r .record <<<"$output" | xargs)" = "finding counts summary" ]
}

@test "--list-rules is the table of the manual" {
	run -0 fsck.nilfs2 --list-rules --json
	[ "$(jq -c '.rules[] | select(.rule == "sb-sum")' <<<"$output")" = \
		'{"rule":"sb-sum","number":1004,"severity":"fatal","danger":"safe","repair":"super","text":"the checksum of the superblock does not match"}' ]
	gojq -r '.rules[] | "\(.number)", "\(.rule):", .text,
		"\(.severity) \(.danger) \(.repair)"' <<<"$output" >want
	sed -n '/^\.TS/,/^\.TE/{/^[0-9]/,/^T}/{s/\\-/-/g;s/\t/ /g;s/^T} //;s/ T{//;p}}' \
		"$NILFS2_BUILD/man/fsck.nilfs2.8" >got
	[ -s want ]
	diff want got
}

# is_progress_of DEVICE <LINES: what src/fsck/fsck.c of systemd reads, and the
# percentage that it computes: it never falls, and the last is 100.
is_progress_of() {
	DEVICE=$1 awk '
	BEGIN { split("70 90 92 95 100", end); end[0] = 0; last = -1 }
	!/^[1-5] [0-9]+ [1-9][0-9]* [^ ]+$/ || $4 != ENVIRON["DEVICE"] ||
	$2 > $3 { exit bad = 1 }
	{ now = end[$1 - 1] + (end[$1] - end[$1 - 1]) * $2 / $3 }
	now < last { exit bad = 1 }
	{ last = now }
	END { exit bad || last != 100 }'
}

@test "progress for a program: what systemd-fsck reads, up to all of it" {
	make_image
	cp image damaged
	dd if=/dev/zero of=damaged bs=1 seek=$((1024 + 56)) count=4 conv=notrunc \
		status=none
	cp image 'two words'
	for options in '-n --data' -a -fa '--quick'; do
		# shellcheck disable=SC2086
		fsck.nilfs2 $options -C 3 image 3>progress
		is_progress_of image <progress
	done
	[ "$(fsck.nilfs2 -n -C 3 image 3>&1 >/dev/null | wc -l)" -gt 5 ]
	run -1 fsck.nilfs2 -fy -C 3 damaged 3>progress
	is_progress_of damaged <progress
	fsck.nilfs2 -n -C 3 'two words' 3>progress
	is_progress_of 'two\040words' <progress
	fsck.nilfs2 -n -q -C 3 image 3>quiet
	[ ! -s quiet ]
}

@test "progress goes to no file that is opened later" {
	make_image
	before=$(state_of image)
	for fd in 5 6 7 8 9; do
		run -16 bash -c "exec 5>&- 6>&- 7>&- 8>&- 9>&-
			fsck.nilfs2 -fy -C $fd image"
		[[ $output == *"--progress-fd: $fd is not open for writing"* ]]
	done
	run -16 bash -c 'fsck.nilfs2 -fy -C 5 image 5</dev/null'
	[ "$(state_of image)" = "$before" ]
}

@test "a reader of progress that goes away does not stop the check" {
	make_image
	mkfifo pipe
	head -c 1 pipe >/dev/null &
	exec 5>pipe
	echo >&5
	wait $!
	run -0 fsck.nilfs2 -fn -C 5 image
	[[ $output == "image: clean, "* ]]
	run -0 --separate-stderr fsck.nilfs2 -fn -C 0 image </dev/null
	[[ $output == "image: clean, "* ]]
}

@test "a full disk and a closed standard output are failures" {
	make_image
	run -8 bash -c 'fsck.nilfs2 -n image >/dev/full'
	[[ $output == *": No space left on device" ]]
	run -8 bash -c 'fsck.nilfs2 -n image >&-'
	[[ $output == *": Bad file descriptor" ]]
}
