// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reading ahead.
 *
 * A disk is mostly unused while a program waits for one block after the other.  So
 * blocks that are known before they are needed are announced to the device, preferably
 * in the order of the disk, so that it can schedule many requests.
 */
#include "vol/ahead.h"

#define GAP_BYTES (16u << 10) /* maximum gap between two blocks */

void ahead_add(struct ahead *a, uint64_t blocknr, uint64_t count)
{
	if (a->end && blocknr >= a->end &&
	    blocknr - a->end <= GAP_BYTES >> a->block_bits) {
		a->end = blocknr + count;
		return;
	}
	ahead_end(a);
	a->first = blocknr;
	a->end = blocknr + count;
}

void ahead_end(struct ahead *a)
{
	if (a->end > a->first)
		dev_readahead(a->dev, a->first << a->block_bits,
			      (a->end - a->first) << a->block_bits);
	a->first = a->end = 0;
}
