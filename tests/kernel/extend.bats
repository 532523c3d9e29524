#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A checkpoint appended by the log writer to volumes that the kernel made, also
# where segments were cleaned or a crash came: the kernel mounts them, finds the
# new file and all old ones, writes on and cleans.

bats_require_minimum_version 1.5.0

load lab

setup() {
	need_guest uml
	need_corpus
}

# What extend writes: WORDS words that count.
words() {
	perl -e 'print pack("Q<*", 0 .. $ARGV[0] - 1)' "$1" | sha256sum
}

# The root changed, and its times with it.
other_lines() {
	grep -v -e $'\t\.$' -e 'a new file' -e afterwards
}

# check_extended IMAGE BLOCKSIZE
check_extended() {
	local image share=$BATS_TEST_TMPDIR/share

	mkdir "$share"
	image=$(copy_image "$1")
	"$NILFS2_BUILD/tests/kernel/extend" "$image" "a new file" 700
	guest --share "$share" "$image" <<-'EOF'
	nilfs_mount "$DEV1"
	sha256sum <"$MNT/a new file"
	manifest "$MNT" >"$SHARE/first"
	rm "$MNT/a new file"
	echo more >"$MNT/afterwards"
	sync
	clean "$DEV1" "$MNT" 0
	nilfs_umount
	nilfs_mount "$DEV1"
	cat "$MNT/afterwards"
	manifest "$MNT" >"$SHARE/second"
	nilfs_umount
	EOF
	kernel_content
	echo "$output $errors"
	[ "$status" -eq 0 ]
	[[ $output == *"$(words $(($2 * 700 / 8)))"*more* ]]
	diff <(other_lines <"$corpus/$1/manifest") \
		<(other_lines <"$share/first")
	diff <(other_lines <"$share/first") <(other_lines <"$share/second")
}

@test "a volume where segments were cleaned" {
	check_extended cleaned 4096
}

@test "the same with blocks of 1 KiB" {
	check_extended cleaned-1k 1024
}

@test "a volume after a power cut" {
	check_extended crash-sr 4096
}

@test "a volume with many snapshots" {
	check_extended many-snapshots-2k 2048
}
