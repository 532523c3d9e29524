#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The manners of dump.nilfs2, and of every command that its --help lists: a
# new command is covered by being there.

bats_require_minimum_version 1.5.0

load ../kernel/state

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

# The names of the commands, one a line.
commands() {
	dump.nilfs2 --help |
		sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' |
		grep -vx help
}

# In words: each command with as many further words as it wants after an image; what
# they mean does not matter where the image is none.
setup_file() {
	local command more

	cd "$BATS_FILE_TMPDIR" || return 1
	for command in $(commands); do
		for more in '' 1 '1 1' '1 1 1' '1 1 1 1'; do
			# shellcheck disable=SC2086
			run dump.nilfs2 "$command" missing $more
			[ "$status" -eq 2 ] || break
		done
		echo "$command $more"
	done >words
}

# Every command refuses this image: an orderly failure that says which tool
# failed, and leaves the image as it was.
all_refuse() {
	local before='' command more

	[ ! -f "$1" ] || before=$(state_of "$1")
	while read -r command more; do
		# shellcheck disable=SC2086
		run timeout 20 dump.nilfs2 "$command" "$1" $more
		echo "$command: status $status: $output"
		[ "$status" -eq 1 ]
		[[ $output == *"dump.nilfs2: "* ]]
	done <"$BATS_FILE_TMPDIR/words"
	[ -z "$before" ] || [ "$(state_of "$1")" = "$before" ]
}

@test "--help and --version succeed and say what they should" {
	run -0 dump.nilfs2 --help
	[[ ${lines[0]} == "Usage: dump.nilfs2 COMMAND"* ]]
	[[ ${lines[-2]} == *"-h, --help "* ]]
	[[ ${lines[-1]} == *"-V, --version "* ]]
	run -0 dump.nilfs2 -V
	[[ $output =~ ^dump\.nilfs2\ \(nilfs2-progs\)\ [0-9]+\.[0-9]+ ]]
	run -0 dump.nilfs2 help
	[[ $output == "$(dump.nilfs2 --help)" ]]
}

@test "help lines fit a terminal of 80 columns" {
	{
		dump.nilfs2 --help
		for command in $(commands); do
			dump.nilfs2 "$command" --help
		done
	} | awk 'length > 80 { print; long = 1 } END { exit long }'
}

@test "a bad option, no command and an unknown command are usage errors" {
	for words in --nope -Z --json=1 '' nope 'help nope'; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr dump.nilfs2 $words
		[ -z "$output" ]
		[[ $stderr == "dump.nilfs2: "* ]]
		[[ $stderr == *"Try 'dump.nilfs2 --help'." ]]
	done
}

@test "an image in place of the command" {
	: >"$BATS_TEST_TMPDIR/map.img"
	cd "$BATS_TEST_TMPDIR"
	run -2 dump.nilfs2 map.img
	[[ $output == *"as in 'dump.nilfs2 info map.img'"* ]]
}

@test "--json and --json-lines exclude each other" {
	run -2 dump.nilfs2 --json --json-lines
	[[ $output == *"--json and --json-lines exclude each other"* ]]
}

@test "a full disk and a closed standard output are failures" {
	run -1 bash -c 'dump.nilfs2 --help >/dev/full'
	[[ $output == *": No space left on device" ]]
	run -1 bash -c 'dump.nilfs2 --help >&-'
	[[ $output == *": Bad file descriptor" ]]
}

@test "a reader that goes away ends it without a word" {
	run -0 --separate-stderr bash -c '
		set +o pipefail
		{ sleep 0.2; dump.nilfs2 --help; } | true'
	[ -z "$stderr" ]
}

@test "each command has help, and refuses a bad option" {
	for command in $(commands); do
		run -0 dump.nilfs2 "$command" --help
		[[ ${lines[0]} == "Usage: dump.nilfs2 $command [OPTIONS] "* ]]
		[ "$output" = "$(dump.nilfs2 help "$command")" ]
		run -2 dump.nilfs2 "$command" --nope image
		[[ $output == *"Try 'dump.nilfs2 $command --help'." ]]
	done
}

@test "each command wants an image" {
	for command in $(commands); do
		run -2 dump.nilfs2 "$command"
		[[ $output == "dump.nilfs2: too few arguments"* ]]
	done
}

@test "a missing image" {
	all_refuse missing
	[ ! -e missing ]
}

@test "a directory as image" {
	mkdir folder
	all_refuse folder
}

@test "an unreadable image" {
	[ "$(id -u)" -ne 0 ] || skip "root reads everything"
	echo secret >secret
	chmod 000 secret
	all_refuse secret
}

@test "an empty image" {
	: >empty
	all_refuse empty
}

@test "an image of one byte" {
	printf x >byte
	all_refuse byte
}

@test "an image of zeros" {
	truncate -s 2M zeros
	all_refuse zeros
}

@test "an image of 0xFF" {
	head -c 2M /dev/zero | tr '\0' '\377' >ones
	all_refuse ones
}

@test "a pipe as image" {
	mkfifo pipe
	# A reader and writer of its own, so that opening it does not wait.
	sleep 60 3<>pipe &
	all_refuse pipe
	kill $!
}
