/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The segments that the kernel reserves, and the minimum size of a volume. */
#ifndef NILFS2_DISK_RESERVE_H
#define NILFS2_DISK_RESERVE_H

#include <stdint.h>

/* Clean segments of a new volume besides the reserved ones. */
#define RESERVE_MIN_USER_SEGMENTS 8

/*
 * The number of reserved segments of NSEGMENTS with PERCENT (s_r_segments_percentage,
 * 1 ... 99): nilfs_nrsvsegs().
 */
uint64_t reserve_segments(uint64_t nsegments, uint32_t percent);

/* The minimum number of segments of a volume with PERCENT reserved. */
uint64_t reserve_min_segments(uint32_t percent);

/*
 * The minimum number of segments with which the kernel still lets users write a
 * little when USED (at most 2^56) are not clean: nilfs_near_disk_full().  Not less
 * than reserve_min_segments().
 */
uint64_t reserve_fit(uint64_t used, uint32_t percent);

#endif
