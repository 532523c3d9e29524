#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Completion in bash, zsh and fish: commands, options, words and checkpoints, as
# --help, the policies and the volume have them.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir tree
	mkfs.nilfs2 -q --size auto -B 16 --snapshot -d tree -d tree volume.img
}

in_bash() {
	bash "$BATS_TEST_DIRNAME/complete.bash" "$@"
}

# What zsh shows for $1, without what moves the cursor.
in_zsh() {
	zsh -f "$BATS_TEST_DIRNAME/complete.zsh" "$1" |
		sed 's/\x1b\[[0-9;]*[A-Za-z]//g; s/\r//g'
}

in_fish() {
	mkdir -p completions
	for tool in mkfs fsck gc gcsim dump; do
		cp "$NILFS2_SOURCE/completion/nilfs2-progs.fish" \
			"completions/$tool.nilfs2.fish"
	done
	HOME=$PWD fish -N -c "set -p fish_complete_path $PWD/completions
		complete -C '$1'" | cut -f 1
}

# The long options in the help of a tool or command.
help_options() {
	"$@" --help | grep -oE '^  (-.,|   ) --[a-z0-9-]+' |
		grep -oE -e '--.*' | sort
}

@test "bash: every option of the help, and no other" {
	for tool in mkfs.nilfs2 fsck.nilfs2 gc.nilfs2 gcsim.nilfs2; do
		help_options $tool >want
		[ -s want ]
		in_bash $tool -- | sort >got
		diff want got
	done
	for command in $(in_bash dump.nilfs2 "" | grep -v help); do
		help_options dump.nilfs2 "$command" >want
		in_bash dump.nilfs2 "$command" -- | sort >got
		diff want got
	done
}

@test "bash: commands, policies, columns, choices, checkpoints, files" {
	[ "$(in_bash dump.nilfs2 se)" = "segments
set" ]
	in_bash gc.nilfs2 --policy "" | grep -qx cost-benefit
	in_bash gc.nilfs2 --policy = gree | grep -qx greedy
	[ "$(in_bash dump.nilfs2 segments -o state,snap)" = state,snapshot ]
	[ "$(in_bash gc.nilfs2 --compact = "")" = "needed
all" ]
	[ "$(in_bash mkfs.nilfs2 -O ^block)" = ^block_count ]
	[ "$(in_bash dump.nilfs2 ls volume.img -c "")" = "1
2" ]
	[ "$(in_bash dump.nilfs2 diff volume.img 1 "")" = "1
2" ]
	[ "$(in_bash fsck.nilfs2 vol)" = volume.img ]
	# An argument that may be left out only follows a "=".
	[ "$(in_bash gc.nilfs2 --compact vol)" = volume.img ]
}

@test "bash: what is no tool or volume completes to nothing, silently" {
	[ -z "$(in_bash dump.nilfs2 nonsense --x 2>&1)" ]
	[ -z "$(in_bash dump.nilfs2 ls missing.img -c "" 2>&1)" ]
	head -c 4096 /dev/urandom >noise
	[ -z "$(in_bash dump.nilfs2 ls noise -c "" 2>&1)" ]
}

@test "zsh: commands, options, policies, columns and checkpoints" {
	in_zsh "dump.nilfs2 se" | grep -q "^segments *-- live and dead"
	in_zsh "dump.nilfs2 segments --min" | grep -q -e "--min-dead"
	in_zsh "gc.nilfs2 --policy " | grep -q cost-benefit-lfs
	in_zsh "gc.nilfs2 --compact=" | grep -q needed
	in_zsh "dump.nilfs2 segments -o state,snap" | grep -q snapshot
	in_zsh "dump.nilfs2 ls volume.img -c " | grep -q '1 *2'
}

@test "fish: commands, options, policies and checkpoints" {
	[ "$(in_fish "dump.nilfs2 se")" = "segments
set" ]
	[ "$(in_fish "dump.nilfs2 segments --min")" = "--min-dead
--min-live" ]
	in_fish "gc.nilfs2 --policy " | grep -qx cost-benefit
	[ "$(in_fish "dump.nilfs2 ls volume.img -c ")" = "1
2" ]
}
