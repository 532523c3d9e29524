# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For bats files about repairs: mend $image, and see that it is what it was.
# Load it after ../kernel/lab and damage.

# mends [OPTION...]: fsck.nilfs2 -y mends all that is wrong; $output is what it
# says, and a second look finds nothing.
mends() {
	run -1 fsck.nilfs2 -y "$@" "$image"
	expect
}

# tree: all names, sizes, modes and times of $image, or of a CHECKPOINT.
tree() {
	dump.nilfs2 ls -l -R ${1+-c "$1"} "$image" /
}

# kernel_uses NAME: the kernel mounts $image, finds the files of that image,
# writes on, and finds all of it again after a mount; it has no complaints.
kernel_uses() {
	local share=$BATS_TEST_TMPDIR/share

	need_guest uml
	mkdir -p "$share"
	guest --share "$share" "$image" <<-'SCRIPT'
	nilfs_mount "$DEV1"
	manifest "$MNT" >"$SHARE/first"
	put "$MNT/afterwards" 0 7 3000000
	sync
	nilfs_umount
	nilfs_mount "$DEV1"
	cksum <"$MNT/afterwards" >"$SHARE/sum"
	rm "$MNT/afterwards"
	manifest "$MNT" >"$SHARE/second"
	nilfs_umount
	SCRIPT
	[ "$status" -eq 0 ] && kernel_content || return
	diff "$corpus/$1/manifest" "$share/first" || return
	# The root's times are not what they were.
	diff <(grep -v $'\t\.$' "$share/first") \
		<(grep -v $'\t\.$' "$share/second") || return
	expect
}
