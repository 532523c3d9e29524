#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A failing device: a copy of it is repaired, what could not be read counts as
# unreadable, and the device itself is left as it is.

bats_require_minimum_version 1.5.0
load ../kernel/things
load ../kernel/lab
load damage
load repaired

setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
	image=$PWD/image
	cp --sparse=always "$corpus/snapshots/image" image
	cp --sparse=always image sound
}

# last_block FILE: its last block on the device.
last_block() {
	dump.nilfs2 bmap -b sound "$1" |
		awk '$NF == "data" { block = $5 } END { print block }'
}

# lose BLOCK...: ascending; zeros, as in a copy that ddrescue made, and its map.
lose() {
	local block at=0

	{
		echo "# Mapfile. Created by GNU ddrescue version 1.27"
		echo "# current_pos  current_status  current_pass"
		echo "0x00000000     +               1"
		for block; do
			dd if=/dev/zero of=image bs=4096 seek="$block" \
				count=1 conv=notrunc status=none
			printf '0x%08X  0x%08X  +\n' $at $((block * 4096 - at))
			printf '0x%08X  0x%08X  -\n' $((block * 4096)) 4096
			at=$((block * 4096 + 4096))
		done
		printf '0x%08X  0x%08X  +\n' $at $(($(stat -c %s image) - at))
	} >map
	cp --sparse=always image lost
}

names() { dump.nilfs2 ls -R "$1"; }

@test "a copy is repaired, and the device is left as it is" {
	lose "$(last_block dat)"
	run -1 --separate-stderr fsck.nilfs2 -y --ddrescue-map map \
		--output new image
	[[ $stderr == *"image: 4096 bytes in 1 area could not be read; they are zeros in new"* ]]
	[[ $stderr == *"image: unchanged; the repaired copy is new"* ]]
	cmp image lost
	run -0 fsck.nilfs2 -f -n new
	cmp <(names sound) <(names new)
}

# A file of the latest state and of snapshots.
@test "data that was not read is reported by file" {
	lose "$(last_block /d/f1)"
	run -4 fsck.nilfs2 -f -n --ddrescue-map map image
	[[ $output == *"dev-unreadable: block $(last_block /d/f1): "*" of inode 13 in checkpoint "* ]]
	run -4 fsck.nilfs2 -f -y --ddrescue-map map --output new image
	[[ $output == *"dev-unreadable: block $(last_block /d/f1): "*" of inode 13 in checkpoint "* ]]
	[[ $output == *"image: unchanged; the damaged copy is new"* ]]
	cmp image lost
}

@test "what a map does not mention was not read" {
	printf '%s\n' '0x0 ? 1' '0 4096 +' >map
	run -4 --separate-stderr fsck.nilfs2 -n --ddrescue-map map image
	[[ $output == *"counts as unreadable"* ]]
}

@test "what is no map file" {
	local text

	for text in '' 'x' '0x0' '0x0 ?\n0x0 x +' '0x0 ?\n0x0 0x1000' \
		'0x0 ?\n0x2000 0x1000 +\n0x0 0x1000 +' \
		'0x0 ?\n0x1000 0xffffffffffffffff +' '0x0 ?\n-1 5 +'; do
		# shellcheck disable=SC2059
		printf "$text" >map
		run -8 --separate-stderr fsck.nilfs2 -n --ddrescue-map map image
		[[ $stderr == *"map: line "*": not a ddrescue map file"* ]]
	done
	run -8 fsck.nilfs2 -n --ddrescue-map nothing image
	[[ $output == *"nothing: No such file"* ]]
}

@test "the copy is not written over anything, nor left after a failure" {
	image=image
	spares_things 8 fsck.nilfs2 -y --output OUT image
	spares 8 mine exists fsck.nilfs2 -y --force --output OUT image
	[[ $output != *--force* ]]
	spares 8 mine 'is the input itself' fsck.nilfs2 -y \
		--ddrescue-map mine --output OUT image
	run -8 fsck.nilfs2 -y --output new --ddrescue-map nothing image
	[ ! -e new ]
	run -8 bash -c "trap '' XFSZ; ulimit -f 64
		fsck.nilfs2 -y --output new image"
	[ ! -e new ]
	run -8 fsck.nilfs2 -y --output no/new image
}

@test "a copy of what is sound is the same" {
	run -0 fsck.nilfs2 -f -y --output new image
	cmp image new
	[ "$(du -k new | cut -f1)" -le "$(($(du -k image | cut -f1) + 64))" ]
	[ "$(stat -c %a new)" = 600 ]
}

@test "options that make no sense" {
	run -16 fsck.nilfs2 -n --output new image
	run -16 fsck.nilfs2 --output new image </dev/null
	run -16 fsck.nilfs2 -y --output new --undo-file undo image
	run -16 fsck.nilfs2 --undo undo --ddrescue-map map image
	[ ! -e new ]
}

@test "a rollback in a copy" {
	run -1 fsck.nilfs2 --rollback --output new image
	cmp image sound
	run -0 fsck.nilfs2 -f -n new
	! cmp -s image new
}

@test "one superblock instead of the other" {
	run -4 fsck.nilfs2 -n -b 2 image
	[[ $output == *"dev-unreadable: superblock 1: "* ]]
	cmp image sound
	damage super:1 s_last_cno=3 s_last_pseg=1 s_last_seq=1
	run -1 fsck.nilfs2 -y -b 2 --output new image
	run -0 fsck.nilfs2 -f -n new
	cmp <(names sound) <(names new)
	run -16 fsck.nilfs2 -n -b 0 image
	run -16 fsck.nilfs2 -n -b 3 image
}

# Its files are those that dump.nilfs2 has of it in the sound image.
@test "an older state is checked, and becomes the latest one" {
	run -0 fsck.nilfs2 -n --state 20 image
	[[ $output == *"checkpoint 20,"* ]]
	cmp image sound
	run -1 fsck.nilfs2 -y --state 20 --undo-file undo image
	[[ $output == *"checkpoint 22 of "*": given up"* ]]
	[[ $output == *"lost: snapshot 21 of "* ]]
	run -0 fsck.nilfs2 -f -n image
	cmp <(dump.nilfs2 ls -lR -c 20 sound) <(dump.nilfs2 ls -lR image)
	cmp <(dump.nilfs2 ls -lR -c 4 sound) <(dump.nilfs2 ls -lR -c 4 image)
	run -0 fsck.nilfs2 --undo undo image
	cmp image sound
}

# The kernel's list has the time of each checkpoint.
@test "an older state is named by time" {
	read -r cno time < <(awk 'NR > 1 { print $1, $2 "T" $3 "Z" }' \
		"$corpus/snapshots/lscp" | tail -n 4 | head -n 1)
	newest=$(awk -v t="$time" '$2 "T" $3 "Z" == t { cno = $1 }
		END { print cno }' "$corpus/snapshots/lscp")
	run -0 fsck.nilfs2 -n --state "$time" image
	[[ $output == *"checkpoint $newest,"* ]]
	TZ=XST-05:30 run -0 fsck.nilfs2 -n --state \
		"$(date -ud "$time + 330 minutes" "+%F %T")" image
	[[ $output == *"checkpoint $newest,"* ]]
	TZ=XST-05:30 run -0 fsck.nilfs2 -n --utc --state "${time%Z}" image
	[[ $output == *"checkpoint $newest,"* ]]
}

@test "a damaged older state is repaired, and the kernel uses it" {
	damage -c 20 inode:/later i_mode=0
	run -4 fsck.nilfs2 -n --state 20 image
	run -1 fsck.nilfs2 -y --state 20 --output new image
	run -0 fsck.nilfs2 -f -n new
	run -1 fsck.nilfs2 -y --state 22 --output again sound
	image=$PWD/again
	kernel_uses snapshots
}

@test "a state that is not there" {
	run -8 fsck.nilfs2 -y --state 2000 image
	[[ $output == *"image: no log ends the checkpoint of --state "* ]]
	run -8 fsck.nilfs2 -y --state 1999-12-31 image
	[[ $output == *"image: no log ends the checkpoint of --state "* ]]
	run -16 fsck.nilfs2 -y --state 0 image
	run -16 fsck.nilfs2 --rollback --state 20 image
	cmp image sound
}
