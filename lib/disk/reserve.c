// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reserved segments.
 *
 * A percentage of all segments, but at least eight, is reserved for the cleaner.
 * Users may write while the number of clean segments exceeds that of the reserved
 * ones, plus those needed for dirty data in memory, plus one.
 */
#include "disk/reserve.h"

#include "base/checked.h"
#include "disk/ondisk.h"

/* Segments for dirty data in memory, rounded up; and one. */
#define OPEN_SEGMENTS 2

uint64_t reserve_segments(uint64_t nsegments, uint32_t percent)
{
	uint64_t n = nsegments / 100 * percent +
		     div_round_up(nsegments % 100 * percent, 100);

	return n > NILFS_MIN_NRSVSEGS ? n : NILFS_MIN_NRSVSEGS;
}

/*
 * The reserved segments, rounded up and never less than the kernel's minimum, must
 * leave RESERVE_MIN_USER_SEGMENTS <= floor(n * (100 - percent) / 100).
 */
uint64_t reserve_min_segments(uint32_t percent)
{
	uint64_t least = NILFS_MIN_NRSVSEGS + RESERVE_MIN_USER_SEGMENTS;
	uint64_t n = div_round_up(100ull * RESERVE_MIN_USER_SEGMENTS,
				  100 - percent);

	return n > least ? n : least;
}

uint64_t reserve_fit(uint64_t used, uint32_t percent)
{
	uint64_t open = used + OPEN_SEGMENTS;
	uint64_t n = div_round_up(open * 100, 100 - percent);
	uint64_t least = reserve_min_segments(percent);

	if (n < open + NILFS_MIN_NRSVSEGS)
		n = open + NILFS_MIN_NRSVSEGS;
	return n > least ? n : least;
}
