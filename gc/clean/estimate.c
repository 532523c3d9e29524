// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Estimate of the blocks to be moved.
 *
 * All batches are chosen at once, by the counts of the first: what does not fit
 * into one is moved by the next.  It is used for progress only.
 */
#include "gc/clean/estimate.h"

#include <errno.h>

/*
 * Whether cleaning S frees more than its live blocks and their summary take:
 * otherwise the batch gains nothing, and is the last.
 */
static bool is_gain(const struct policy_segment *s)
{
	return (uint64_t)s->live + s->live / 32 + 1 < s->blocks;
}

/* Clean segments gained from N victims with LIVE blocks. */
static uint64_t gain(const struct facts *f, uint64_t n, uint64_t live)
{
	uint64_t bps = f->vol->geo.blocks_per_segment;
	uint64_t taken = (live + bps - 1) / bps;

	return n > taken ? n - taken : 0;
}

int estimate_moves(struct context *cx, const struct facts *f,
		   const struct clean_options *options, uint64_t *blocks)
{
	const struct policy_segment *s;
	struct policy_order order;
	uint64_t n = 0, live = 0;
	int64_t i;

	*blocks = 0;
	if (policy_open(&order, options->policy, &f->env, f->segments, f->n)) {
		policy_close(&order);
		return fail(cx, -ENOMEM, "order of segments");
	}
	while (gain(f, n, live) < options->goal &&
	       (i = policy_next(&order, f->clean)) >= 0) {
		s = &f->segments[i];
		if (!is_gain(s) || !policy_is_worth(s, options->min_dead))
			continue;
		n++;
		live += s->live;
	}
	policy_close(&order);
	*blocks = live;
	return 0;
}
