#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Volumes that a kernel has filled until it could write no more but for one
# segment, or none, are cleaned, and the kernel writes on.

bats_require_minimum_version 1.5.0

load ../kernel/lab
load ../fsck/repaired
load gc

# Files until there is no room for one; then what needs none, a log each time,
# until so many segments are clean.
fill() {
	cat <<-'SCRIPT'
	clean_segments() { lssu -a "$1" | awk '$(NF - 1) == "---"' | wc -l; }
	fill() {
		local i=0

		nilfs_mount "$1"
		while { noise "$i" 9000 >"$MNT/$i" && sync -f "$MNT"
		} 2>/dev/null; do
			i=$((i + 1))
		done
		rm -f "$MNT"/*[1357]
		sync -f "$MNT"
		i=0
		while [ "$(clean_segments "$1")" -gt "$2" ] && [ "$i" -lt 99 ]
		do
			i=$((i + 1))
			touch -d "2020-01-01 00:$((i / 60)):$((i % 60))" \
				"$MNT/0" && sync -f "$MNT" || break
		done
		echo "$(clean_segments "$1")"
		nilfs_umount
	}
	SCRIPT
}

setup_file() {
	local at

	cd "$BATS_FILE_TMPDIR" || return 1
	[ -z "$("$BATS_TEST_DIRNAME/../kernel/guest.sh" --available uml)" ] ||
		return 0
	for at in 1024.16.768K 1024.32.1536K 4096.16.3M 1024.16.640K; do
		IFS=. read -r block segment size <<<"$at"
		"$NILFS2_BUILD/mkfs/mkfs.nilfs2" -q -b "$block" \
			-B "$segment" --size "$size" "$at"
	done
	{
		fill
		echo 'fill "$DEV1" 1; fill "$DEV2" 1; fill "$DEV3" 1'
		echo 'fill "$DEV4" 0'
	} | "$BATS_TEST_DIRNAME/../kernel/guest.sh" --timeout 600 - \
		1024.16.768K 1024.32.1536K 4096.16.3M 1024.16.640K >left
}

setup() {
	need_guest uml
	cd "$BATS_TEST_TMPDIR" || return 1
}

gc() {
	gc.nilfs2 --json --protect 0 --min-reclaimable 0 "$@" "$image"
}

@test "one clean segment is enough" {
	[ "$(head -3 "$BATS_FILE_TMPDIR/left" | xargs)" = "1 1 1" ]
	for name in 1024.16.768K 1024.32.1536K 4096.16.3M; do
		echo "$name:"
		cp --sparse=always "$BATS_FILE_TMPDIR/$name" .
		image=$name
		remember
		gc -n | timeless >forecast
		gc | timeless >outcome
		diff forecast outcome
		[ "$(gojq .result.clean_before outcome)" -eq 1 ]
		[ "$(gojq .result.clean_after outcome)" -ge 16 ]
		is_clean
		same_trees
	done
	guest 1024.16.768K 1024.32.1536K 4096.16.3M <<-'SCRIPT'
	set -e
	for dev in "$DEV1" "$DEV2" "$DEV3"; do
		nilfs_mount "$dev"
		noise 7 40000 >"$MNT/more"
		sync -f "$MNT"
		nilfs_umount
		nilfs_mount "$dev"
		noise 7 40000 | cmp - "$MNT/more"
		rm "$MNT/more"
		nilfs_umount
	done
	SCRIPT
	[ "$status" -eq 0 ]
	kernel_content
	for image in 1024.16.768K 1024.32.1536K 4096.16.3M; do
		is_clean
	done
}

@test "where none is clean that is reported, unless the latest has room" {
	[ "$(tail -1 "$BATS_FILE_TMPDIR/left")" -eq 0 ]
	image=1024.16.640K
	cp --sparse=always "$BATS_FILE_TMPDIR/$image" .
	remember
	before=$(state_of "$image")
	run gc
	if [ "$status" -ne 0 ]; then
		[[ $output == *"no segment is clean"*--output*--grow* ]]
		[ "$(state_of "$image")" = "$before" ]
	fi
	is_clean
	same_trees
}
