#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What the account of a repair does not name, because something proves that it is
# as it was; and that it is named where nothing does.  tests/damage counts both
# over many more cases.

bats_require_minimum_version 1.5.0
load ../kernel/lab
load damage
load account

setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
}

@test "the checksum of a log proves a directory from which names were deleted" {
	begin small-files
	lose "$(mapped /removed 0)"
	repair
	[ "$lost" = "lost: nothing" ]
	is_sound
}

@test "the times of inodes prove the names of a directory" {
	begin small-files
	forget "$(mapped /many 1)"
	repair
	[ "$lost" = "lost: nothing" ]
	is_sound
}

@test "a name whose inode has changed since may be another one" {
	begin small-files
	inode=$(dump.nilfs2 inode "$image" /many/name-of-entry-number-150 |
		awk '/^Inode:/ { print $2 }')
	damage "inode:$inode" i_ctime_nsec=1
	forget "$(mapped /many 1)"
	repair
	[[ $lost == "lost: latest state: inode "*", /many: bytes 4096 to 8191 "* ]]
	[ "$(wc -l <<<"$lost")" -eq 1 ]
}

@test "a name of a file that was deleted before is no loss" {
	begin small-files
	dd if=sound bs="$(block_size)" skip="$(mapped /many 4 2)" count=1 \
		status=none | overwrite "$(mapped /many 4)"
	repair
	[ "$lost" = "lost: nothing" ]
	is_sound
}

@test "an inode that has lost a name may have lost it in any directory" {
	begin small-files
	inode=$(dump.nilfs2 inode "$image" /many/name-of-entry-number-150 |
		awk '/^Inode:/ { print $2 }')
	damage "inode:$inode" i_links_count=2
	forget "$(mapped /many 1)"
	repair
	[[ $lost == *"lost: latest state: inode "*", /many: bytes 4096 to 8191 "* ]]
}

# All names that the directory has now are proved.  Whether it had another one is
# what the link counts of all files decide.
@test "an inode elsewhere with another count may have a name in the directory" {
	begin small-files
	links=$(dump.nilfs2 inode "$image" / | awk '/^i_links_count:/ { print $2 }')
	damage inode:2 i_links_count=$((links - 1))
	forget "$(mapped /many 1)"
	repair
	[[ $lost == *", /many: bytes 4096 to 8191 could not be read"* ]]
}

@test "a pointer to the next block of the file hides none" {
	begin cleaned
	node=$(dump.nilfs2 bmap -b --nodes "$image" /kept |
		awk '$NF == "node" { at = $5 } END { print at }')
	cp --sparse=always "$image" other
	next=$(dump.nilfs2 set --expert other "node:$node" "ptr[8]=1" |
		awk '$2 == "ptr[8]" { print $3 }')
	damage "node:$node" "ptr[7]=$next"
	repair
	[ "$lost" = "lost: nothing" ]
	is_sound
}

# copy_block FROM TO: from the sound image, and the checksum stays what it was.
copy_block() {
	local size

	size=$(block_size)
	dd if=sound of="$image" bs="$size" skip="$1" seek="$2" count=1 \
		conv=notrunc status=none
}

@test "an entry of the DAT that leads to another file is no fault of its own" {
	begin small-files
	# All files of several blocks of inodes lead elsewhere.
	copy_block "$(mapped dat 163)" "$(mapped dat 164)"
	repair
	[ "$lost" = "lost: nothing" ]
	is_sound
}

@test "an entry of the DAT that leads elsewhere in the file hides no version" {
	begin cleaned-1k
	copy_block "$(mapped dat 23)" "$(mapped dat 249)"
	repair
	[ "$lost" = "lost: nothing" ]
	is_sound 17
}

@test "files in a block of other inodes are no files that were there" {
	begin small-files
	# One in ten of both was deleted, others in each.
	dd if=sound bs="$(block_size)" skip="$(inodes_at 1980)" count=1 \
		status=none | overwrite "$(inodes_at 1825)"
	repair
	[[ $lost != *" removed"* ]]
	[ "$(grep -vc ", and may have changed since" <<<"$lost")" -eq 0 ]
	is_sound
}

@test "synced data is not lost where a flipped bit hid its log" {
	begin crash-dsync
	log=$(fsck.nilfs2 -fn "$image" 2>&1 |
		sed -n 's/.*recovers .* logs from block \([0-9]*\) to.*/\1/p')
	byte=$(((log + 2) * $(block_size) + 94))
	was=$(od -An -tu1 -j "$byte" -N 1 "$image")
	printf "\\x$(printf %x $((was ^ 4)))" |
		dd of="$image" bs=1 seek="$byte" conv=notrunc status=none
	repair
	[ "$lost" = "lost: nothing" ]
}

@test "the first block of another directory hides the names that were there" {
	begin special
	other=$(mapped '/names/d-*' 0)
	dd if=sound bs="$(block_size)" skip="$other" count=1 status=none |
		overwrite "$(mapped /links 1)"
	repair
	[[ $lost == *"lost: latest state: inode "*", /links: bytes 4096 to 8191 "* ]]
}

@test "the checksum of a log proves inodes beside those of deleted files" {
	begin small-files
	lose "$(inodes_at 832)"
	repair
	[ "$lost" = "lost: nothing" ]
	is_sound
}

@test "without a checksum it is not known whether their attributes changed" {
	begin small-files
	forget "$(inodes_at 832)"
	repair
	[[ $lost == *"inodes 832 to 840: attributes are of checkpoint 2"* ]]
	is_sound
}

@test "the attributes that versions on both sides have are those between them" {
	begin many-snapshots-2k
	forget "$(inodes_at 12 70)"
	repair
	# Only these two changed with that version or the next one.
	[ "$(sed 's/.*: inode \([0-9]*\), .*/\1/' <<<"$lost" | xargs)" = "12 15" ]
	is_sound 70
}

@test "a log is what was written where what was wrong in it is known" {
	begin snapshots
	# The bitmap of inodes, in the last log.
	lose "$(mapped ifile 1)"
	run -4 fsck.nilfs2 -fn "$image"
	[[ $output == *"sb-no-super-root: "* ]]
	repair
	[ "$lost" = "lost: nothing" ]
	is_sound
}

@test "where a directory stores nothing, nothing is lost" {
	begin small-files
	size=$(block_size)
	block=$(mapped /deep 0)
	head -c $((size / 2)) /dev/urandom |
		dd of="$image" bs=$((size / 2)) seek=$((block * 2 + 1)) \
			conv=notrunc status=none
	run -4 fsck.nilfs2 -fn "$image"
	[[ $output == *"sb-no-super-root: "* ]]
	repair
	[ "$lost" = "lost: nothing" ]
	is_sound
}

@test "what the logs after the latest checkpoint have is no older version" {
	begin crash-dsync
	# The header of such a log, and data in it.
	for byte in $((512 * 4096 + 56)) $((480 * 4096 + 1697)); do
		cp --sparse=always sound "$image"
		perl -e 'open my $f, "+<", $ARGV[0] or die; seek $f, $ARGV[1], 0;
			read $f, my $c, 1; seek $f, $ARGV[1], 0;
			print $f chr(ord($c) ^ 8)' "$image" "$byte"
		run -1 fsck.nilfs2 -fyv --data "$image"
		[[ $output == *" flipped back"* ]]
		[[ $output == *"as synced before the crash"* ]]
		[[ $output == *"lost: nothing"* ]]
	done
}

@test "files that got names in a directory whose own are lost are named" {
	begin small-files
	inode=$(dump.nilfs2 inode "$image" /many/name-of-entry-number-2345 |
		awk '/^Inode:/ { print $2 }')
	# The directory at the end of /deep.
	dd if=sound bs="$(block_size)" skip="$(mapped /many 23)" count=1 \
		status=none | overwrite "$(mapped 311 0)"
	run -1 fsck.nilfs2 -fyv "$image"
	links=$(dump.nilfs2 inode "$image" "$inode" |
		awk '/^i_links_count:/ { print $2 }')
	[ "$links" -eq 2 ]
	[[ $output == *"inode $inode, "*": the link count is 2, and was 1"* ]]
}

@test "inodes are missed whose block and log both are lost" {
	begin special
	inode=$(dump.nilfs2 inode "$image" /times/at0 |
		awk '/^Inode:/ { print $2 }')
	blocks=$(metadata ifile)
	lose 12
	lose_all "$blocks"
	repair
	names "$inode"
}

# Where the other block has no inode, the bitmap has one in use that is empty.
@test "inodes are missed whose block is that of other inodes" {
	begin special
	blocks=($(mapped ifile 2) $(mapped ifile 4))
	# The log that has the files, from its summary to the links.
	lose_all "$(seq 12 31)"
	copy_block "${blocks[0]}" "${blocks[1]}"
	copy_block "${blocks[1]}" "${blocks[0]}"
	repair
	for file in /types/symlink-255 /times/dir /modes/0000; do
		names "$(dump.nilfs2 inode sound "$file" |
			awk '/^Inode:/ { print $2 }')"
	done
}

@test "a file without blocks is missed where only its inode was" {
	begin snapshots
	inode=$(dump.nilfs2 inode -c 2 "$image" /.nilfs |
		awk '/^Inode:/ { print $2 }')
	bitmap=$(mapped ifile 1 2)
	lose "$(mapped ifile 2 2)"
	lose "$bitmap"
	repair
	names "$inode" "snapshot 2"
}

@test "older metadata hides neither the checkpoint nor its inodes" {
	begin special
	inode=$(dump.nilfs2 inode "$image" /times/at0 |
		awk '/^Inode:/ { print $2 }')
	blocks=$(metadata ifile)
	# No map and no log leads to the ifile: the summaries before are lost,
	# and
	# the last blocks of the checkpoint file and the DAT are of the state before.
	dump.nilfs2 logs --json -b sound 0 >logs
	for file in 4:0 3:0 3:1 3:2; do
		gojq -r "[.logs[].blocks[] | select(.ino == ${file%:*} and
			.blkoff == ${file#*:} and .level == 0)] |
			\"\(.[-2].blocknr) \(.[-1].blocknr)\"" logs
	done >stale
	while read -r from to; do
		dd if=sound of="$image" bs="$(block_size)" skip="$from" \
			seek="$to" count=1 conv=notrunc status=none
	done <stale
	lose 1
	lose 12
	lose_all "$blocks"
	run -4 fsck.nilfs2 -fyv "$image"
	lost=$(grep '^lost: ' <<<"$output")
	[[ $lost == *"lost: checkpoints 1 to 3"* ]]
	names "$inode"
}

@test "an older block of checkpoints does not hide one that was made after it" {
	begin many-snapshots-2k
	# Two versions of the block that has checkpoint 59, the last one of its own
	# log, which is lost with the ifile.
	read -r older block < <(dump.nilfs2 logs --json -b "$image" |
		gojq -r '[.logs[].blocks[]? | select(.ino == 4 and
			.blkoff == 5 and .level == 0) | .blocknr] |
			"\(.[-2]) \(.[-1])"')
	[ "$block" = "$(mapped cpfile 5)" ]
	log=$(log_of "$block")
	dd if=sound of="$image" bs="$(block_size)" skip="$older" \
		seek="$block" count=1 conv=notrunc status=none
	lose "$log"
	repair
	[[ $lost == *"lost: checkpoint 59"* ]]
}

@test "the time of a checkpoint whose log and entries are lost" {
	begin many-snapshots-2k
	# All versions of the block that has checkpoints 40 to 49.
	blocks=$(dump.nilfs2 logs --json -b "$image" |
		gojq '.logs[].blocks[]? | select(.ino == 4 and .blkoff == 4 and
			.level == 0) | .blocknr')
	lose_all "$blocks"
	# They were written in this order: that of checkpoint 42 is the third.
	lose "$(log_of "$(sed -n 3p <<<"$blocks")")"
	time=$(created sound 41)
	repair
	[[ $lost == *"lost: checkpoint 42: its time may have changed, and is $time"* ]]
	[ "$(grep -c ": its time may " <<<"$lost")" = 1 ]
	[ "$(created "$image" 42)" = "$time" ]
	[ "$(created "$image" 43)" = "$(created sound 43)" ]
}

@test "a bitmap that its count contradicts does not show that a name led nowhere" {
	begin special
	inode=$(dump.nilfs2 ls -i "$image" /links | awk '$2 == "a" { print $1 }')
	# The bitmap of inodes, and this inode, which has all names in the directory.
	lose "$(inodes_at "$inode")"
	lose "$(mapped ifile 1)"
	repair
	names "$inode"
	for name in a b1 b100 b254; do
		[[ $lost == *"inode $inode, /links/$name: the name was removed"* ]]
	done
}

# begin_beside_node: $node of /d/f6 in snapshot 4, and $data of it, in one log.
begin_beside_node() {
	begin snapshots
	node=$(dump.nilfs2 bmap -b --nodes -c 4 "$image" /d/f6 |
		awk '$NF == "node" { print $5 }')
	data=$(mapped /d/f6 3 4)
}

@test "data beside a lost node may be lost where the checksum says that more is" {
	begin_beside_node
	lose "$node"
	repair
	[ "$lost" = "lost: nothing" ]
	cp --sparse=always sound "$image"
	lose "$node"
	lose "$data"
	repair
	[[ $lost == *"snapshot 2: inode 18, /d/f6: bytes 0 to "* ]]
	[[ $lost == *"snapshot 4: inode 18, /d/f6: bytes 0 to "* ]]
}

@test "a node restored in its place hides no damage of the data beside it" {
	begin_beside_node
	lose "$node"
	lose "$data"
	run -1 fsck.nilfs2 -fy --undo-file undo "$image"
	run -0 fsck.nilfs2 -fn "$image"
	run -4 fsck.nilfs2 -fn --data "$image"
	[[ $output == *"log-datasum: log $(log_of "$node"): "* ]]
}

@test "after a crash only a right superblock shows that no log is missing" {
	begin crash-sr
	for at in $((1024 + 160)) $(($(stat -c %s "$image") - 4096 + 160)); do
		printf x | dd of="$image" bs=1 seek="$at" conv=notrunc status=none
	done
	repair
	[[ $lost == *"lost: data written after checkpoint 14 "* ]]
	begin snapshots
	for at in $((1024 + 160)) $(($(stat -c %s "$image") - 4096 + 160)); do
		printf x | dd of="$image" bs=1 seek="$at" conv=notrunc status=none
	done
	repair
	[[ $lost != *"lost: data written after"* ]]
}

@test "a name that led to another file is no loss of that one" {
	begin cleaned
	place=$(dump.nilfs2 ls -i "$image" / | awk '$NF == "small-3" { print $1 }')
	damage "dirent:/small-1" inode="$place"
	run -4 fsck.nilfs2 -fn "$image"
	repair
	[ "$lost" = "lost: nothing" ]
	is_sound
}

@test "files that were deleted are not missed where as many inodes are left" {
	begin small-files
	blocks=$(dump.nilfs2 bmap -b "$image" dat |
		awk '$NF == "data" { print $(NF - 2) }')
	perl -e 'srand 1; print pack "C*", map { int rand 256 } 1 .. 4096' >noise
	for block in $blocks; do
		dd if=noise of="$image" bs=4096 seek="$block" conv=notrunc \
			status=none
	done
	repair
	[[ $lost != *" was removed"* ]]
	cmp <(dump.nilfs2 ls -R sound /) <(dump.nilfs2 ls -R "$image" /)
}

@test "what was moved into a log that is not proven may be lost in a snapshot" {
	begin cleaned
	# The blocks of the snapshot that were moved last, of which no single one has an
	# equal version that its checksum proves, and the newest logs.
	data=$(dump.nilfs2 bmap -b -c 2 "$image" /kept |
		awk '$NF == "data" { print $5 }' | sort -n | tail -n 2)
	blocks=$(dump.nilfs2 bmap -b "$image" dat |
		awk '$NF == "data" { print $(NF - 2) }')
	lose_all "$blocks $data"
	run -1 fsck.nilfs2 -fyv "$image"
	[[ $output == *"lost: snapshot 2: inode 12, /kept: bytes "*" may have wrong"* ]]
}

@test "names of a state that is lost, whose directory cannot be read" {
	begin small-files
	root=$(dump.nilfs2 logs --json "$image" |
		gojq '.logs[-1] | .blocknr + .ss_nblocks - 1')
	block=$(mapped / 0)
	lose "$root"
	lose "$block"
	repair
	[[ $lost == *"lost: checkpoint 4"* ]]
	[[ $lost == *"inode 2, /: bytes 0 to 4095 could not be read"* ]]
	names 21
}

@test "names are missed where neither a checkpoint nor its ifile can be read" {
	begin special
	lose_all "$(metadata cpfile ifile)"
	repair
	grep -a fifo <<<"$lost"
	[[ $lost == *"inode 17, "*"fifo: "* ]]
	[[ $lost == *"inode 11, /.nilfs: "* ]]
}

@test "inodes that an entry counted may be lost where the ifile is that of others" {
	begin snapshots
	mkdir empty
	mkfs.nilfs2 -q --size 64M -B 128 -d empty other
	mapfile -t from < <(dump.nilfs2 bmap -b other ifile |
		awk '$NF == "data" { print $5 }')
	mapfile -t to < <(dump.nilfs2 bmap -b -c 2 "$image" ifile |
		awk '$NF == "data" { print $5 }')
	for i in "${!to[@]}"; do
		dd if=other of="$image" bs=4096 skip="${from[i]:-0}" \
			seek="${to[i]}" count=1 conv=notrunc status=none
	done
	# The logs that have listed its inodes are lost.
	lose_all "$(dump.nilfs2 logs --json -b sound |
		gojq ".logs[] | .blocknr | select(. <= ${to[0]})")"
	run fsck.nilfs2 -fy --undo-file undo "$image"
	echo "$output"
	[[ $output == *"lost: snapshot 2: inodes from 11 on: may have been lost files"* ]]
}

@test "what a snapshot loses is named if it is the latest checkpoint" {
	mkdir tree
	touch tree/{1..40}
	image=$PWD/image
	mkfs.nilfs2 -q --size 16M -B 64 --snapshot -d tree "$image"
	forget "$(inodes_at 40)"
	repair
	names 40
	[[ $lost == *"lost: snapshot 1: inode"*" 32 to "* ]]
}

# The maps of the logs are tried first; only names show then what is a directory.
@test "a directory with the inode of a file keeps its names" {
	mkdir -p tree/{51..59}
	touch tree/{11..30}
	for dir in tree/5?; do
		seq 6 | tee "$dir"/{1..6} >"$dir/more"
	done
	image=$PWD/image
	mkfs.nilfs2 -q --size 16M -B 64 -d tree "$image"
	dump.nilfs2 ls -R "$image" / >names
	dd if="$image" of="$image" bs=2048 skip=$(($(inodes_at 48) * 2 + 1)) \
		seek=$(($(inodes_at 16) * 2 + 1)) count=1 conv=notrunc status=none
	repair
	dump.nilfs2 ls -R "$image" / | cmp - names
}

# No other version of the block exists; the state itself is restored from the logs.
@test "snapshot flags may be lost with a block of the cpfile" {
	image=$PWD/image
	mkdir tree
	mkfs.nilfs2 -q --size 16M -B 64 --snapshot -d tree "$image"
	forget "$(metadata cpfile)"
	repair
	[ "$lost" = "lost: snapshot flags set last, of checkpoints up to 1, if any" ]
}

# The entry of the checkpoint counts as many inodes as there are.
@test "names of a snapshot that are of an older one are no losses" {
	begin snapshots
	for file in / /d; do
		copy_block "$(mapped "$file" 0 2)" "$(mapped "$file" 0 4)"
	done
	copy_block "$(mapped ifile 1 2)" "$(mapped ifile 1 4)"
	lose 1
	repair
	run -1 grep "^lost: snapshot" <<<"$lost"
	is_sound 4
}

# The repair leads to a checkpoint that no mount finds, and moves its blocks.
@test "a block that was moved from a log with a wrong checksum may be wrong" {
	begin cleaned-1k
	lose_all "$(mapped /other 968) $(mapped dat 28)
		$(dump.nilfs2 bmap -b --nodes "$image" /other |
			awk '$NF == "node" && $6 == 1 { print $5; exit }')"
	repair
	names 12
}

# Older versions of the blocks still have checkpoints that were deleted.
@test "checkpoints that were deleted are not said to have been there" {
	begin cleaned-1k
	dump.nilfs2 checkpoints -a sound | awk '$1 ~ /^[0-9]+$/ { print $1 }' \
		>there
	lose_all "$(metadata cpfile)"
	run fsck.nilfs2 -fy "$image"
	echo "$output"
	sed -nE '/ may /!s/^lost: checkpoints? ([0-9]+)( to ([0-9]+))?.*/\1 \3/p' \
		<<<"$output" | while read -r first last; do
		seq "$first" "${last:-$first}"
	done >said
	run -1 grep -vxFf there said
	[ -z "$output" ]
}

# The log of the repair has the number of one of them.
@test "checkpoints after an older state are lost, also where new ones replace them" {
	begin cleaned-1k
	latest=$(dump.nilfs2 checkpoints -a sound | awk 'END { print $1 }')
	run -1 fsck.nilfs2 -fy --state $((latest - 2)) "$image"
	echo "$output"
	dump.nilfs2 checkpoints -a "$image" |
		awk -v cno=$((latest - 1)) '$1 == cno { found = 1 }
			END { exit !found }'
	[[ $output == *"lost: checkpoints $((latest - 1)) to $latest"* ]]
}

@test "the manual has all kinds of losses" {
	local key keys

	keys=$(sed -n '/} kinds\[\]/,/};/p' \
		"$NILFS2_SOURCE/fsck/account/losslist.c" |
		grep -o '{"[a-z_]*"' | tr -d '{"')
	[ "$(wc -w <<<"$keys")" -gt 12 ]
	for key in $keys; do
		grep -qE "^\.BR? $key( ,)?$" \
			"$NILFS2_SOURCE/man/fsck.nilfs2.8.in" || {
			echo "$key"
			return 1
		}
	done
}

# The entry looks like a second name of directory 12, and is removed only when the link
# that had the name has another one.
@test "a name that was in use when its inode lost it is reported as lost" {
	image=$(copy_image snapshots)
	ino=$(dump.nilfs2 ls -c 21 -i "$image" / | awk '$2 == "soft" { print $1 }')
	dump.nilfs2 set -q --expert -c 21 "$image" dirent:/soft inode=12 file_type=2 \
		>/dev/null
	run -1 fsck.nilfs2 -fy "$image"
	echo "$output"
	[[ $output == *"lost: snapshot 21: inode $ino, /soft~1: its former name was removed"* ]]
}
