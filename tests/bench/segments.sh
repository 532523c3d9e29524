# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# Live blocks of all segments: beside lssu -l in the guest, and beside reading
# the blocks of the DAT once.

bench_segments() {
	local mib

	image_needed
	mib=$(du -m "$image" | cut -f 1)
	"$guest" --mem 3G --timeout 900 "$here/guest-segments.sh" "$image" -- \
		"$build" "${BENCH_ROUNDS:-5}" "$mib"
	hot_image
	file_ranges 3 >"$scratch/dat"
	title "segments, image in memory"
	interleave 21 -r "limit: read the DAT" \
		"ours, 1 thread=$dump segments -j 1 $hot" \
		"ours, 2 threads=$dump segments -j 2 $hot" \
		"ours, --json-lines=$dump segments -j 1 --json-lines $hot" \
		"limit: read the DAT=$limit read $hot $scratch/dat" \
		"limit: DAT, 2 threads=$limit read $hot $scratch/dat 2" \
		"limit: start=$dump --version"
}
