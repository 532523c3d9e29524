// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Blocks that only one checkpoint has.
 *
 * The lifetime of a block is a range of checkpoints.  If exactly one existing
 * checkpoint is in that range, deleting it frees the block.
 */
#include "vol/holdings.h"

#include "base/search.h"
#include "vol/datscan.h"

static int hold_entries(void *arg, struct context *cx, unsigned int worker,
			const struct datscan_block *block)
{
	struct holdings *h = arg;
	uint32_t i;

	(void)cx;
	(void)worker;
	for (i = 0; i < block->count; i++) {
		const struct nilfs_dat_entry *de = datscan_entry(block, i);
		uint64_t end = le64_get(de->de_end);
		size_t first;

		if (!datscan_is_used(block, i) || end == NILFS_CNO_MAX ||
		    !le64_get(de->de_blocknr))
			continue;
		first = search_lower_bound(h->cnos, h->count,
					   le64_get(de->de_start));
		if (first < h->count && h->cnos[first] < end &&
		    (first + 1 == h->count || h->cnos[first + 1] >= end))
			__atomic_fetch_add(&h->blocks[first], 1,
					   __ATOMIC_RELAXED);
	}
	return 0;
}

int holdings_count(struct volume *vol, struct context *cx, struct holdings *h)
{
	const struct datscan_visitor visitor = {
		.entries = hold_entries,
		.arg = h,
	};

	return datscan_run(vol, cx, &visitor);
}
