#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A segment that was overwritten as a whole: what was in it is gone, the rest
# is repaired, and every file that is not as it was is named.

bats_require_minimum_version 1.5.0
load repairs

blocks_per_segment() {
	dump.nilfs2 info -v "$image" | awk '/^s_blocks_per_segment/ { print $2 }'
}

# overwrite_segment N: with bytes that are the same each time.
overwrite_segment() {
	local size count

	size=$(block_size)
	count=$(blocks_per_segment)
	perl -e 'srand(1); print map { chr rand 256 } 1 .. shift' \
		$((size * count)) |
		dd of="$image" bs="$size" seek=$(($1 * count)) conv=notrunc \
			iflag=fullblock status=none
}

# Every path that differs from that in SOUND is among the losses, or its inode is if
# the directory is lost.
all_named() {
	local state path inode

	for state in latest $(snapshots_of "$image"); do
		while read -r path; do
			path=${path#*:}
			[ "$path" != . ] || path=
			grep -qF "/$path:" said && continue
			inode=$(dump.nilfs2 ls -i -c "${state/latest/0}" \
				"$corpus/snapshots/image" "/$path" |
				awk 'NR == 1 { print $1 }')
			grep -qF " inode $inode: the file was removed" said && continue
			echo "not named: $state: $path"
			return 1
		done < <(differing sound repaired "$state")
	done
}

# repaired_after SEGMENT...
repaired_after() {
	local n

	image=$(copy_image snapshots)
	trees "$image" sound
	for n; do
		rm -f "$image"
		image=$(copy_image snapshots)
		overwrite_segment "$n"
		echo "segment $n:"
		run -1 fsck.nilfs2 -fy "$image"
		echo "$output" >said
		cat said
		run -0 fsck.nilfs2 -fn "$image"
		rm -rf repaired
		trees "$image" repaired
		all_named
	done
}

@test "blocks and nodes of files of snapshots" {
	repaired_after 1 2 3 4 5 7
}

# misdirected FROM:TO...: the segment that was written to FROM is at TO as well.  Its logs
# have matching checksums, but list other blocks than the DAT has there.
misdirected() {
	local size count from to

	size=$(block_size)
	for pair; do
		from=${pair%:*}
		to=${pair#*:}
		rm -f "$image" undo
		image=$(copy_image snapshots)
		count=$(blocks_per_segment)
		dd if="$image" of="$image" bs=$((size * count)) skip="$from" \
			seek="$to" count=1 conv=notrunc status=none
		echo "segment $from at $to:"
		run -1 fsck.nilfs2 -fy --undo-file undo "$image"
		echo "$output" >said
		cat said
		run -0 fsck.nilfs2 -fn "$image"
		rm -rf repaired
		trees "$image" repaired
		all_named
	done
}

@test "a segment that was written to the place of another one" {
	image=$(copy_image snapshots)
	trees "$image" sound
	misdirected 11:6 2:5 12:4 3:1 10:11
}

# No log is known to be missing, as the logs there are sound.
@test "attributes of a version that was overwritten by another segment are named" {
	image=$(copy_image snapshots)
	dd if="$image" of="$image" bs=$(($(block_size) * $(blocks_per_segment))) \
		skip=10 seek=11 count=1 conv=notrunc status=none
	run fsck.nilfs2 -fy "$image"
	echo "$output"
	[[ $output == *"repaired: checkpoint 21: inode 2: restored from "* ]]
	[[ $output == *"lost: snapshot 21: inode 2, /: attributes are of "* ]]
}
