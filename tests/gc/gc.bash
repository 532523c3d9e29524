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
	{
		echo 'set -e'
		kernel_looks 1 "$1" "$image" "${@:2}"
	} >script
	kernel_runs script "$image" && shown_as_before 1 "$image" "$1"
}

# each_by_kernel NAME IMAGE...: the same for each of them, copies of image NAME, in
# one guest.
each_by_kernel() {
	local name=$1 at number=0

	shift
	echo 'set -e' >script
	for at; do
		number=$((number + 1))
		kernel_looks $number "$name" "$at" >>script
	done
	kernel_runs script "$@" || return
	number=0
	for at; do
		number=$((number + 1))
		shown_as_before $number "$at" "$name" || return
	done
}

# kernel_looks N NAME IMAGE [LINE...]: a script for it as device N.
kernel_looks() {
	local cnos

	mkdir -p share
	large_blocks "$2" "$3" >"share/blocks.$1"
	cnos=$(snapshots_of "$3")
	echo "nilfs_mount \"\$DEV$1\""
	# shellcheck disable=SC2086
	kernel_lists_trees "$1" $cnos
	printf '%s\n' "${@:4}"
	echo "filler 1 ${more-300000}"' >"$MNT/more"; sync'
	echo 'rm "$MNT/more"; sync'
	echo "clean \"\$DEV$1\" \"\$MNT\" 0"
	echo 'nilfs_umount'
}

# large_blocks NAME IMAGE: where data is in files of image NAME that have gigabytes
# of holes, which the kernel would read; see manifest.pl.  No snapshot has any.
large_blocks() {
	local ino size

	size=$((1024 << $(dump.nilfs2 info --json "$2" |
		gojq .superblocks[0].s_log_block_size)))
	for ino in $(awk -F '\t' '$12 ~ /^runs:/ { print $11 }' \
		"$corpus/$1/manifest"); do
		dump.nilfs2 bmap -b "$2" "$ino" |
			awk -v ino="$ino" -v size="$size" '$NF == "data" {
				printf "%d %.0f %d\n", ino, $1 * size,
					$3 * size }'
	done
}

# kernel_lists_trees N CNO...: a script for device N, which is mounted: what is
# there, and in these snapshots, into manifest.N and manifest.N.CNO.
kernel_lists_trees() {
	local cno

	for cno in "${@:2}"; do
		echo "nilfs_mount -o ro,cp=$cno \"\$DEV$1\" /mnt/$cno"
	done
	echo "manifest --blocks \"\$SHARE/blocks.$1\"" \
		"\"\$MNT\" \"\$SHARE/manifest.$1\" \\"
	for cno in "${@:2}"; do
		echo "	/mnt/$cno \"\$SHARE/manifest.$1.$cno\" \\"
	done
	echo
	for cno in "${@:2}"; do
		echo "nilfs_umount /mnt/$cno"
	done
}

kernel_runs() {
	guest --share share "${@:2}" <"$1"
	[ "$status" -eq 0 ] || { echo "status $status: $errors"; return 1; }
	kernel_content
}

# shown_as_before N IMAGE NAME
shown_as_before() {
	local cno

	for cno in '' $(snapshots_of "$2"); do
		diff <(grep -v "${but-^$}" "share/manifest.$1${cno:+.$cno}") \
			<(grep -v "${but-^$}" \
				"$corpus/$3/manifest${cno:+.$cno}") || return 1
	done
}

# timeless [FILE]: reports as JSON, but for how long it took.
timeless() {
	gojq 'del(.. | .elapsed_ms?)' "$@"
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
