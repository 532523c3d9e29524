#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Files with damaged data, which fsck.nilfs2 -n --data names: paths, byte ranges,
# checkpoints, and the newest whole version. What is right is known from the content
# of the file in each checkpoint before and after the damage.

bats_require_minimum_version 1.5.0
load ../kernel/lab
load ../dump/corpus
load damage

setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
	sound=$corpus/snapshots/image
	image=$(copy_image snapshots)
	mapfile -t cnos < <(dump.nilfs2 checkpoints -a "$image" |
		awk 'NR > 1 { print $1 }' | sort -rn)
	snapshots=" $(dump.nilfs2 checkpoints -a "$image" |
		awk '$5 == "ss" { print $1 }' | tr '\n' ' ')"
}

# block_of PATH CNO N: the block of the device with data block N of the file.
block_of() {
	dump.nilfs2 bmap -b -c "$2" "$image" "$1" | awk -v n="$3" \
		'$NF == "data" && $1 <= n && n <= $2 { print $5 + n - $1 }'
}

# flip BLOCK BIT: one bit of byte 3.
flip() {
	local byte

	byte=$(od -An -tu1 -j $(($1 * 4096 + 3)) -N 1 "$image")
	damage_raw "block:$1" "byte[3]=$((byte ^ 1 << $2))"
}

# compare PATH: sets "bad" to the checkpoints in which the content of the file
# changed, newest first, and "whole" to the newest one in which it has not, among
# those that have a file with the inode number of the newest bad one.
compare() {
	local cno ino bad_ino=

	bad=() whole=null
	for cno in "${cnos[@]}"; do
		dump.nilfs2 cat -c "$cno" "$sound" "$1" >before 2>/dev/null ||
			continue
		dump.nilfs2 cat -c "$cno" "$image" "$1" >after
		ino=$(dump.nilfs2 inode -c "$cno" --json "$sound" "$1" |
			gojq -r '[.. | .i_generation? // empty][0]')
		cmp -s before after || bad+=("$cno") bad_ino=$ino
	done
	for cno in "${cnos[@]}"; do
		dump.nilfs2 cat -c "$cno" "$sound" "$1" >before 2>/dev/null ||
			continue
		dump.nilfs2 cat -c "$cno" "$image" "$1" >after
		ino=$(dump.nilfs2 inode -c "$cno" --json "$sound" "$1" |
			gojq -r '[.. | .i_generation? // empty][0]')
		[ "$ino" = "$bad_ino" ] && cmp -s before after || continue
		whole=$cno
		return 0
	done
}

# said PATH: what is printed of the file agrees with its content.
said() {
	local in_snapshots=0 cno

	compare "$1"
	[ "${#bad[@]}" -gt 0 ]
	for cno in "${bad[@]}"; do
		[[ $snapshots != *" $cno "* ]] || : $((in_snapshots += 1))
	done
	run -4 --separate-stderr fsck.nilfs2 -n --data --json "$image"
	gojq -r --arg path "$1" '.data.damaged[] | select(.path == $path) |
		"\(.last_checkpoint) \(.checkpoint) \(.checkpoints) \(.snapshots)"' \
		<<<"$output" >ranges
	gojq -r --arg path "$1" '.data.restore[] | select(.path == $path) |
		.checkpoint' <<<"$output" >restore
	echo "content: ${bad[*]}, whole: $whole; said: $(cat ranges restore)"
	[ "$(cat ranges)" = "${bad[0]} ${bad[-1]} ${#bad[@]} $in_snapshots" ]
	[ "$(cat restore)" = "$whole" ]
	[ "$(gojq .data.complete <<<"$output")" = true ]
}

@test "without damage no file is named" {
	run -0 --separate-stderr fsck.nilfs2 -n --data --json "$image"
	[ "$(gojq -c '[.data.damaged, .data.restore, .data.complete, .data.more]' \
		<<<"$output")" = '[[],[],true,0]' ]
	run -0 fsck.nilfs2 -n --data "$image"
	[[ $output != *damaged:* && $output != *restore:* ]]
	run -0 --separate-stderr fsck.nilfs2 -n --json "$image"
	[ "$(gojq .data <<<"$output")" = null ]
}

@test "a flipped bit of a file that was deleted later" {
	flip "$(block_of /d/f3 4 2)" 3
	said /d/f3
	[ "$whole" = null ]
	run -4 fsck.nilfs2 -n --data "$image"
	[ "$(grep -c '^damaged: ' <<<"$output")" -eq 1 ]
	[[ $output == *"damaged: /d/f3: bytes 8192 to 12287, in checkpoints 2 to 4, of which 2 are snapshots"* ]]
	[[ $output == *"restore: /d/f3: only bits are flipped, which the checksums of logs prove: fsck.nilfs2 -y --data corrects them"* ]]
	[[ $output != *"perhaps damaged"* && $output != *"no checkpoint has"* ]]
	run -1 fsck.nilfs2 -y --data "$image"
	run -0 fsck.nilfs2 -n --data "$image"
	cmp <(dump.nilfs2 cat -c 4 "$image" /d/f3) <(dump.nilfs2 cat -c 4 "$sound" /d/f3)
}

@test "the last block ends with the file, and a removed name counts" {
	# 105000 bytes, in one snapshot only.
	flip "$(block_of /d/f15 2 25)" 0
	said /d/f15
	run -4 fsck.nilfs2 -n --data "$image"
	[[ $output == *"damaged: /d/f15: bytes 102400 to 104999, in snapshot 2"* ]]
}

@test "every version of a file that changed: the newest whole one" {
	local cno block done=" "

	for cno in 8 10 12 15; do
		# In it block CNO - 6 was written twice or more often.
		block=$(block_of /changing "$cno" $((cno - 6)))
		[[ -n $block && $done != *" $block "* ]] || continue
		done+="$block "
		cp --sparse=always "$sound" "$image"
		flip "$block" 1
		said /changing
	done
	[ "$(wc -w <<<"$done")" -gt 2 ]
}

@test "an older whole version, in a snapshot" {
	# The last block of the file.
	flip "$(block_of /changing 21 13)" 5
	said /changing
	[ "$whole" != null ]
	run -4 fsck.nilfs2 -n --data "$image"
	[[ $output == *"restore: /changing as of "*" $whole is whole"* ]]
	dump.nilfs2 cat -c "$whole" "$image" /changing | cmp - <(
		dump.nilfs2 cat -c "$whole" "$sound" /changing)
}

@test "the latest state" {
	flip "$(block_of /later 22 0)" 1
	said /later
	run -4 fsck.nilfs2 -n --data "$image"
	[[ $output == *"damaged: /later: bytes 0 to 5, in the latest state and "* ]]
}

@test "without a flipped bit any block of the log may be the wrong one" {
	block=$(block_of /d/f3 4 2)
	damage_raw "block:$block" 'byte[77]=0x5a' 'byte[78]=0xa5' 'byte[90]=1'
	run -4 --separate-stderr fsck.nilfs2 -n --data --json --all "$image"
	gojq -e '.data.damaged | length > 1 and all(.proven == false)' \
		<<<"$output"
	gojq -e '.data.damaged[] | select(.path == "/d/f3" and (.map | not)) |
		.offset <= 8192 and .offset + .length >= 12288' <<<"$output"
	# Nothing is called whole that is not.
	gojq -r '.data.restore[] | select(.checkpoint) |
		"\(.checkpoint) \(.path_then)"' <<<"$output" >wholes
	[ -s wholes ]
	while read -r cno path; do
		[[ $path != / && $path != /d ]] || continue
		cmp <(dump.nilfs2 cat -c "$cno" "$image" "$path") \
			<(dump.nilfs2 cat -c "$cno" "$sound" "$path")
	done <wholes
	run -4 fsck.nilfs2 -n --data "$image"
	[[ $output == *"perhaps damaged: /d/f3: bytes "* ]]
}

@test "a file that cannot be read in a copy by ddrescue" {
	block=$(block_of /d/f3 4 2)
	size=$(stat -c %s "$image")
	printf '0x0 + 1\n0x0 0x%x +\n0x%x 0x1000 -\n0x%x 0x%x +\n' \
		$((block * 4096)) $((block * 4096)) $((block * 4096 + 4096)) \
		$((size - block * 4096 - 4096)) >map
	run -4 fsck.nilfs2 -n --ddrescue-map map "$image"
	[[ $output == *"damaged: /d/f3: bytes 8192 to 12287, in checkpoints 2 to 4, of which 2 are snapshots"* ]]
	[[ $output == *"restore: /d/f3: no checkpoint has a whole copy"* ]]
}

@test "a file that was renamed, and a directory above it" {
	need_guest uml
	mkfs.nilfs2 -q --size 32M -b 4096 -B 32 image
	guest image <<-'SCRIPT'
		nilfs_mount $DEV1
		mkdir $MNT/one
		noise 5 20000 >$MNT/one/first
		mkcp $DEV1
		mv $MNT/one/first $MNT/second
		mkcp $DEV1
		mkdir $MNT/two
		mv $MNT/second $MNT/two/third
		mkcp $DEV1
		mv $MNT/two $MNT/three
		put $MNT/three/third 4096 9 100
		mkcp $DEV1
		nilfs_umount
	SCRIPT
	[ "$status" -eq 0 ]
	sound=$PWD/sound
	cp --sparse=always image "$sound"
	image=image
	mapfile -t cnos < <(dump.nilfs2 checkpoints -a "$image" |
		awk 'NR > 1 { print $1 }' | sort -rn)
	# Each name by the last checkpoint that has it.
	for name in one/first second two/third three/third; do
		for cno in "${cnos[@]}"; do
			dump.nilfs2 cat -c "$cno" "$image" "/$name" >/dev/null 2>&1 ||
				continue
			echo "/$name $cno"
			break
		done
	done | sort -k 2nr >expected
	[ "$(wc -l <expected)" -eq 4 ]
	# All versions share the third block; the second one was written again.
	flip "$(block_of /three/third "${cnos[0]}" 2)" 0
	run -4 --separate-stderr fsck.nilfs2 -n --data --json image
	gojq -r '.data.damaged[] | "\(.path) \(.last_checkpoint)"' <<<"$output" >named
	diff expected named
	gojq -e '.data.damaged | all(.offset == 8192 and .length == 4096)' <<<"$output"
	[ "$(gojq '.data.damaged[0].latest' <<<"$output")" = true ]
	run -4 fsck.nilfs2 -n --data image
	[[ $output == *"restore: /three/third: only bits are flipped, "* ]]

	# The whole version has another name.
	cp --sparse=always "$sound" image
	flip "$(block_of /three/third "${cnos[0]}" 1)" 0
	run -4 fsck.nilfs2 -n --data image
	cno=$(awk '$1 == "/two/third" { print $2 }' expected)
	[[ $output == *"damaged: /three/third: bytes 4096 to 8191, in the latest state"* ]]
	[[ $output == *"restore: /three/third: its version /two/third as of checkpoint $cno is whole"* ]]
	cmp <(dump.nilfs2 cat -c "$cno" image /two/third) \
		<(dump.nilfs2 cat -c "$cno" "$sound" /two/third)
}
