#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# dump.nilfs2 checkpoints, against lscp of the same image under the kernel.

load ../kernel/lab
load corpus
bats_require_minimum_version 1.5.0

setup() {
	need_corpus
}

# "CNO DATE TIME cp|ss yes|no BLOCKS INODES" of lscp -a.
lscp_lines() {
	awk 'NR > 1 {
		print $1, $2, $3, $4, $5 == "i" ? "yes" : "no", $6, $7
	}' "$1"
}

checkpoint_lines() {
	dump.nilfs2 checkpoints --utc --fast "${@:2}" "$corpus/$1/image" |
		awk 'NR > 1 { print $1, $2, $3, $5, $6, $7, $9 }'
}

equals_lscp() {
	same "$(lscp_lines "$corpus/$1/lscp")" "$(checkpoint_lines "$1" -a)"
}

@test "checkpoints are those of lscp -a" {
	each_image equals_lscp
}

minor_hidden() {
	same "$(lscp_lines "$corpus/$1/lscp" |
		awk '$4 == "ss" || $5 == "no"')" "$(checkpoint_lines "$1")"
}

@test "without -a minor checkpoints are left out, not minor snapshots" {
	each_image minor_hidden
}

reverse_equals_lscp() {
	same "$(lscp_lines "$corpus/$1/lscp" | grep ' ss ' | tac | head -n 2)" \
		"$(checkpoint_lines "$1" -s -r -n 2)"
}

@test "the last two snapshots, the newest first" {
	each_image reverse_equals_lscp
}

@test "a range of checkpoints" {
	run -0 checkpoint_lines snapshots -a
	wanted=$(awk '$1 >= 4 && $1 <= 7' <<<"$output")
	run -0 dump.nilfs2 checkpoints --utc --fast "$corpus/snapshots/image" 4..7
	same "$wanted" "$(awk 'NR > 1 { print $1, $2, $3, $5, $6, $7, $9 }' \
		<<<"$output")"
	run -2 dump.nilfs2 checkpoints "$corpus/snapshots/image" 7..4
}

# value COLUMN CNO: of a listing of the snapshots image; from the right.
value() {
	dump.nilfs2 checkpoints -a "$corpus/snapshots/image" "$2" |
		awk -v at="$1" 'NR > 1 { print $(NF - at) }'
}

# freed_of CNO...: what the kernel frees when each of these alone stops being a
# snapshot.  In the guest: what lssu counts in segments 0 to 10, which are not
# protected and which a change of the checkpoints' kinds does not touch.
freed_of() {
	cat <<-EOF
	live() {
		lssu -l -p 0 "\$DEV1" | sed 's/([^)]*)//' |
			awk 'NR > 1 && \$1 <= 10 { sum += \$NF } END { print sum }'
	}
	before=\$(live)
	for cno in $*; do
		chcp cp "\$DEV1" \$cno
		echo \$cno \$((before - \$(live)))
		chcp ss "\$DEV1" \$cno
	done
	nilfs_umount
	EOF
}

# freed_is COLUMN: what the guest printed is what value gives, and more than none.
freed_is() {
	echo "$output $errors"
	[ "$status" -eq 0 ] && [ "$(wc -l <<<"$output")" -eq 3 ] || return
	while read -r cno freed; do
		[ "$freed" -gt 0 ] && [ "$freed" -eq "$(value "$1" "$cno")" ] ||
			return
	done <<<"$output"
}

@test "what a snapshot alone holds is what the kernel frees without it" {
	guest "$(copy_image snapshots)" <<-EOF
	nilfs_mount "\$DEV1"
	$(freed_of 2 4 7)
	EOF
	freed_is 0
}

@test "what a checkpoint alone has is freed when all others are snapshots" {
	guest "$(copy_image snapshots)" <<-EOF
	nilfs_mount "\$DEV1"
	chcp ss "\$DEV1" \$(lscp -a "\$DEV1" | awk 'NR > 1 { print \$1 }')
	$(freed_of 2 5 8)
	EOF
	freed_is 1
}

@test "checkpoints are chosen by time" {
	local at image=$BATS_TEST_TMPDIR/image cno

	export TZ=UTC-5
	cp --sparse=always "$corpus/snapshots/image" "$image"
	# One each hour, the first of them a day before.
	dump.nilfs2 checkpoints --fast --json "$image" |
		gojq -r '.checkpoints[].checkpoint' >numbers
	while read -r cno; do
		dump.nilfs2 set --expert --fix-checksums "$image" "checkpoint:$cno" \
			"cp_create=$((1700000000 + cno * 3600))" >/dev/null
	done <numbers
	fast() {
		dump.nilfs2 checkpoints --fast "$@" "$image" |
			awk 'NR > 1 { printf "%s ", $1 }'
	}
	# 2023-11-15 03:13:20 +0500 is that of number 0.
	[ "$(fast --until '2023-11-15 07:00')" = "1 2 3 " ]
	[ "$(fast --until '2023-11-15 07:13:20')" = "1 2 3 4 " ]
	[ "$(fast --since 2023-11-15T05:13:20 --until 2023-11-15T01:13:20Z)" = \
		"2 3 " ]
	[ "$(fast --until 2023-11-15)" = "" ]
	[ "$(fast --since 2023-11-16 | wc -w)" -eq \
		"$(awk '$1 > 20' numbers | wc -l)" ]
	run -2 dump.nilfs2 checkpoints --since yesterday "$image"
	run -2 dump.nilfs2 checkpoints --since 2023-02-29 "$image"

	# Wherever a checkpoint is named.
	for cno in 2 7; do
		at=$(date -d "@$((1700000000 + cno * 3600 + 60))" '+%F %R')
		diff <(dump.nilfs2 ls -lR -c "$cno" "$image") \
			<(dump.nilfs2 ls -lR -c "$at" "$image")
		diff <(dump.nilfs2 export -c "$cno" "$image" - | sha256sum) \
			<(dump.nilfs2 export -c "$at" "$image" - | sha256sum)
		diff <(dump.nilfs2 inode -c "$cno" "$image" /) \
			<(dump.nilfs2 inode -c "$at" "$image" /)
		[ "$(dump.nilfs2 diff "$image" "$at" "$cno")" = "" ]
	done
	run -1 dump.nilfs2 ls -c '2023-11-15 04:00' "$image"
	[[ $output == *"no checkpoint yet; the oldest, 1, is of 2023-11-14T23:13:20Z" ]]
	run -1 dump.nilfs2 ls -c 77 "$image"
	[[ $output == *"checkpoint 77: does not exist; the nearest is "* ]]
	run -2 dump.nilfs2 ls -c '2023-11-15 4 pm' "$image"
	run -2 dump.nilfs2 diff "$image" 1 noon
}
