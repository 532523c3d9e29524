/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The gain of cleaning a segment, for cleaning and for forecasts. */
#ifndef NILFS2_VOL_GAIN_H
#define NILFS2_VOL_GAIN_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The defaults: the protection period in seconds, and the percentage of dead blocks from
 * which on a segment is cleaned.  nilfs_cleanerd.conf: protection_period,
 * min_reclaimable_blocks.
 */
#define GAIN_PROTECT 3600
#define GAIN_MIN_DEAD 10

/*
 * Whether at least PERCENT of the BLOCKS of a segment with LIVE blocks to be moved are
 * dead; always true without live blocks.
 */
static inline bool gain_is_worth(uint32_t blocks, uint64_t live, uint32_t percent)
{
	uint64_t dead = live < blocks ? blocks - live : 0;

	return !live || dead * 100 >= (uint64_t)percent * blocks;
}

/*
 * Blocks that cleaning frees: those of the segment without what its live blocks and
 * their summary need elsewhere; 0 if that is as much or more.
 */
static inline uint32_t gain_blocks(uint32_t blocks, uint64_t live)
{
	uint64_t need = live ? live + live / 32 + 1 : 0;

	return need < blocks ? (uint32_t)(blocks - need) : 0;
}

#endif
