# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs in a guest: writes the kernel's view of $DEV1, a copy of a finished
# image, into $SHARE.  A crash image has a second copy, $DEV2, to be recovered.
# Mounted "ro,norecovery" the kernel writes nothing to the device.

set -eu

# tree FILE: the manifest of what is mounted.
tree() {
	manifest --blocks "$SHARE/file-blocks" "$MNT" >"$SHARE/$1"
}

# "INO OFFSET LENGTH" of every data block that any log holds: a superset of
# what any file has, so the holes of huge files need not be read.
file_blocks() {
	awk -v size="$(stat -f -c %S "$MNT")" '
		$1 == "ino" { ino = $3 + 0 }
		match($0, /blkoff = [0-9]+/) {
			at = substr($0, RSTART + 9, RLENGTH - 9)
			printf "%d %s %d\n", ino, at, size
		}' "$SHARE/dumpseg" |
	perl -ne 'my ($ino, $at, $size) = split;
		  printf "%d %d %d\n", $ino, $at * $size, $size' |
	sort -u >"$SHARE/file-blocks"
}

# Segments are read from the unmounted device, as dumpseg wants it.
log_contents() {
	local segments

	nilfs_mount -o ro,norecovery "$DEV1"
	segments=$(lssu "$DEV1" | awk 'NR > 1 { print $1 }')
	nilfs_umount
	# Word splitting is meant: one argument per segment.
	dumpseg "$DEV1" $segments >"$SHARE/dumpseg"
}

state() {
	lscp -a "$1" >"$SHARE/lscp$2"
	lssu -a "$1" >"$SHARE/lssu$2"
	stat -f -c 'bsize=%S blocks=%b bfree=%f bavail=%a files=%c ffree=%d' \
		"$MNT" >"$SHARE/statfs$2"
}

latest() {
	nilfs_mount -o ro,norecovery "$DEV1"
	file_blocks
	state "$DEV1" ''
	# Segments written in the present second are protected even so.
	sleep 1
	lssu -a -l -p 0 "$DEV1" >"$SHARE/lssu-l"
	lscp -s "$DEV1" | awk 'NR > 1 { print $1 }' >/mnt/tmp/snapshots
	tree manifest
	nilfs_umount
}

snapshots() {
	local cno

	while read -r cno; do
		nilfs_mount -o "ro,norecovery,cp=$cno" "$DEV1"
		tree "manifest.$cno"
		nilfs_umount
	done </mnt/tmp/snapshots
}

recovered() {
	cp "$SHARE/manifest" "$SHARE/manifest.norecovery"
	dmesg -C
	nilfs_mount "$DEV2"
	dmesg >"$SHARE/dmesg.recovered"
	state "$DEV2" .recovered
	tree manifest.recovered
	nilfs_umount
}

log_contents
latest
snapshots
[ -z "${DEV2-}" ] || recovered
rm "$SHARE/file-blocks"
