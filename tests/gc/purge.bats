#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Purging: what was deleted cannot be read from the device any more, what was
# not is there.

bats_require_minimum_version 1.5.0

load ../kernel/lab
load ../fsck/repaired
load gc

word=NILFS2-SECRET-WORD

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	need_corpus
}

# fill SCRIPT: by the kernel, a small volume of its own.
fill() {
	need_guest uml
	image=$PWD/filled
	rm -f "$image"
	mkfs.nilfs2 -q -B 256 --size 32M "$image"
	guest "$image" <<-SCRIPT
	set -e
	word=$word
	secret() {
		yes "$word \$1" | head -c "\$2"
	}
	nilfs_mount "\$DEV1"
	$1
	nilfs_umount
	SCRIPT
	[ "$status" -eq 0 ] && kernel_content || return
	remember
}

# words: how often the secret stands in $image.
words() {
	grep -zao "$word" "$image" | tr -cd '\0' | wc -c
}

# gc OPTION... : of $image, all that is in no snapshot and no latest state.
gc() {
	gc.nilfs2 --protect 0 "$@" "$image"
}

# Files come and go between others that stay, and some are overwritten.
mixed='for i in 1 2 3 4 5 6; do
		noise $i 40000 >"$MNT/kept$i"
		secret $i 30000 >"$MNT/gone$i"
		secret $i 100 >"$MNT/small$i"
		sync
	done
	rm "$MNT"/gone* "$MNT"/small[123]; sync
	for i in 4 5 6; do noise $i 100 >"$MNT/small$i"; done; sync
	mkdir "$MNT/d"; : >"$MNT/d/$word"; sync; rm -r "$MNT/d"; sync'

# fill_mixed: the same each time, so the kernel does it once.
fill_mixed() {
	local known=$BATS_FILE_TMPDIR/mixed

	[ -d "$known" ] || {
		fill "$mixed" || return
		mkdir "$known" && mv filled trees.sound dat.sound "$known"
	}
	cp --sparse=always "$known"/* .
	image=$PWD/filled
}

@test "what was deleted is gone, what was not is there" {
	fill_mixed
	[ "$(words)" -gt 1000 ]
	gc >/dev/null
	[ "$(words)" -gt 0 ]
	gc --purge
	[ "$(words)" -eq 0 ]
	is_clean
	same_trees
}

@test "one dead block in a segment that is full of others is enough" {
	fill 'secret 1 4096 >"$MNT/gone"
	filler 1 6000000 >"$MNT/kept"; sync
	rm "$MNT/gone"; sync
	filler 2 6000000 >"$MNT/more"; sync'
	gc --purge --min-reclaimable 90 --free 0
	[ "$(words)" -eq 0 ]
	is_clean
	same_trees
}

@test "what a snapshot or the protection period keeps stays" {
	fill 'secret 1 4096 >"$MNT/gone"; sync; snapshot "$DEV1"
	rm "$MNT/gone"; sync'
	gc --purge
	[ "$(words)" -gt 0 ]
	is_clean
	same_trees
	gc -f --delete-checkpoints .. --purge
	[ "$(words)" -eq 0 ]
	is_clean
	fill_mixed
	before=$(words)
	gc.nilfs2 --protect 1000000000 --purge "$image"
	[ "$(words)" -gt $((before / 2)) ]
	same_trees
}

@test "a forecast counts the zeros and writes none" {
	fill_mixed
	before=$(state_of "$image")
	gc --json -n --purge >forecast
	[ "$(state_of "$image")" = "$before" ]
	gc --json --purge >outcome
	diff <(timeless forecast) <(timeless outcome)
	[ "$(gojq .purge.bytes_zero outcome)" -gt 1000000 ]
}

@test "a second run writes nothing" {
	fill_mixed
	gc --purge
	before=$(image_sum "$image")
	gc --json --purge >outcome
	[ "$(gojq .purge.blocks_written outcome)" -eq 0 ]
	[ "$(image_sum "$image")" = "$before" ]
}

@test "volumes keep what they have" {
	for name in $(names); do
		echo "$name"
		begin "$name"
		head -c 1024 "$image" >head
		gc --purge
		is_clean
		same_trees
		cmp head <(head -c 1024 "$image")
	done
}

@test "free space is zero to the last byte, the rest of the device is not" {
	begin deep-1k
	end=$(($(stat -c %s "$image") / 1048576 * 1048576))
	printf 'in no segment' | dd of="$image" conv=notrunc status=none \
		bs=1 seek=$((end - 8192))
	bps=$(dump.nilfs2 info -v "$image" |
		awk '/^s_blocks_per_segment/ { print $2 }')
	n=$(dump.nilfs2 info -v "$image" | awk '/^s_nsegments/ { print $2 }')
	gc --purge
	dump.nilfs2 segments -a "$image" |
		awk '$2 == "----" { print $1 }' >clean
	[ "$(wc -l <clean)" -gt 10 ]
	while read -r s; do
		[ "$s" -gt 0 ] || continue
		cmp -n $((bps * 1024)) /dev/zero <(dd if="$image" bs=1024 \
			skip=$((s * bps)) count="$bps" status=none)
	done <clean
	[ $((n * bps * 1024)) -gt $((end - 8192)) ] ||
		[ "$(dd if="$image" bs=1 skip=$((end - 8192)) count=13 \
			status=none)" = 'in no segment' ]
}

@test "what a former life left after the logs of a segment is gone" {
	begin deep-1k
	dump.nilfs2 segments -a -o segment,blocks,written "$image" |
		awk '$1 ~ /^[0-9]+$/ && $3 < $2 { print $1 }' >open
	[ "$(wc -l <open)" -gt 60 ]
	while read -r s; do
		printf %s "$word" | dd of="$image" conv=notrunc status=none \
			bs=1024 seek=$((s * 1024 + 1023))
	done <open
	[ "$(words)" -eq "$(wc -l <open)" ]
	# Most lives or is protected, and stays where it is.
	gc.nilfs2 --protect 1000000000 --free 0 --purge --json "$image" >outcome
	[ "$(gojq .purge.segments_cleaned outcome)" -lt 20 ]
	[ "$(words)" -eq 0 ]
	is_clean
	same_trees
}

@test "the kernel goes on with a volume that was purged" {
	fill_mixed
	gc --purge
	guest "$image" <<-'SCRIPT'
	set -e
	nilfs_mount "$DEV1"
	cat "$MNT"/kept* | cksum
	noise 1 300000 >"$MNT/more"; sync; rm "$MNT/more"; sync
	clean "$DEV1" "$MNT" 0
	nilfs_umount
	SCRIPT
	[ "$status" -eq 0 ] && kernel_content
	[ "$output" = "$(for i in 1 2 3 4 5 6; do
		dump.nilfs2 cat "$image" "/kept$i"
	done | cksum)" ]
	is_clean
}
