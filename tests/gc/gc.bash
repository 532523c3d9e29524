# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For bats files of gc.nilfs2.  Load it after ../kernel/lab and ../fsck/repaired.

# A folder of its own for each test, which always runs at the same time.
setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
	export SOURCE_DATE_EPOCH=1700000000
}

# gc OPTION... : of $image, all that is in no snapshot and no latest state.
gc() {
	gc.nilfs2 --protect 0 --min-reclaimable 0 "$@" "$image"
}

# A sample of the images; of data after the last checkpoint a mount or a repair has to
# decide.
names() {
	sample "${1-5}" $(corpus_names | grep -v dsync)
}

# spares_data_behind COMMAND...: which refuses a volume with data after its
# last checkpoint, and leaves it as it is.
spares_data_behind() {
	local sum

	image=$(copy_image crash-dsync)
	sum=$(state_of "$image")
	run -4 "$@"
	[[ $output == *"run fsck.nilfs2"* ]] || return
	[ "$(state_of "$image")" = "$sum" ]
}

# by_kernel NAME [LINE...]: $image shows the kernel what it showed it before, in
# the latest state and in each snapshot; then the LINEs of a script are run, and
# it is written on, $more bytes (300000), and cleaned.  Lines that match $but
# may be others.
by_kernel() {
	local cno

	{
		echo 'set -e'
		echo 'nilfs_mount "$DEV1"'
		echo 'manifest "$MNT" >"$SHARE/manifest"'
		for cno in $(snapshots_of "$image"); do
			echo "nilfs_mount -o ro,cp=$cno \"\$DEV1\" /mnt/$cno"
			echo "manifest /mnt/$cno >\"\$SHARE/manifest.$cno\""
			echo "nilfs_umount /mnt/$cno"
		done
		printf '%s\n' "${@:2}"
		echo "filler 1 ${more-300000}"' >"$MNT/more"; sync'
		echo 'rm "$MNT/more"; sync'
		echo 'clean "$DEV1" "$MNT" 0'
		echo 'nilfs_umount'
	} >script
	mkdir -p share
	guest --share share "$image" <script
	[ "$status" -eq 0 ] && kernel_content || return 1
	for cno in '' $(snapshots_of "$image"); do
		diff <(grep -v "${but-^$}" "share/manifest${cno:+.$cno}") \
			<(grep -v "${but-^$}" \
				"$corpus/$1/manifest${cno:+.$cno}") || return 1
	done
}

# timeless [FILE]: reports as JSON, but for how long it took.
timeless() {
	jq 'del(.. | .elapsed_ms?)' "$@"
}

snapshots_of() {
	dump.nilfs2 checkpoints -s "$1" | awk '$1 ~ /^[0-9]+$/ { print $1 }'
}

# checkpoints [OPTION...]: their numbers.
checkpoints() {
	dump.nilfs2 checkpoints -a "$@" "$image" |
		awk '$1 ~ /^[0-9]+$/ { print $1 }'
}

# What a script of a guest begins with: it mounts the volume, and records
# checkpoints and content.
kernel_lists='
	set -e
	nilfs_mount "$DEV1"
	lscp -a "$DEV1" >"$SHARE/all"
	lscp -s "$DEV1" >"$SHARE/snapshots"
	manifest "$MNT" >"$SHARE/manifest"'

# lists_ours: records checkpoints for kernel_agrees.
lists_ours() {
	checkpoints >ours
	checkpoints -s >ours.snapshots
	mkdir -p share
}

# kernel_agrees NAME: with our lists, and the content is that of image NAME.
kernel_agrees() {
	echo "$errors"
	[ "$status" -eq 0 ] && kernel_content
	diff ours <(awk '$1 ~ /^[0-9]+$/ { print $1 }' share/all)
	diff ours.snapshots \
		<(awk '$1 ~ /^[0-9]+$/ { print $1 }' share/snapshots)
	diff share/manifest "$corpus/$1/manifest"
}
