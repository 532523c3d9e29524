/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The entries of the DAT claim their blocks, those in the present window. */
#ifndef NILFS2_CHECK_CLAIMER_H
#define NILFS2_CHECK_CLAIMER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "base/sparse.h"
#include "check/check.h"

/* Adding to C->claimed; one for all workers. */
struct claimer {
	struct check *c;
	struct sparse shared;	/* blocks that were claimed twice */
	bool any_shared;
};

/* Blocks to be claimed; neighbours mostly have neighbouring entries. */
struct claimer_pending {
	uint64_t first;		/* a multiple of 64 */
	uint64_t bits;
};

/* -ENOMEM; claimer_fini() also then. */
int claimer_init(struct claimer *claimer, struct context *cx, struct check *c);
void claimer_fini(struct claimer *claimer);

/* Adds what is pending.  0, -ENOMEM. */
int claimer_flush(struct claimer *claimer, struct context *cx,
		  struct claimer_pending *pending);

/* Claims BLOCKNR, which is below C->claimed.bits, if it is in the window. */
static inline int claimer_add(struct claimer *claimer, struct context *cx,
			      struct claimer_pending *pending, uint64_t blocknr)
{
	const struct check *c = claimer->c;
	uint64_t bit = UINT64_C(1) << blocknr % 64;
	int err = 0;

	if (blocknr - c->claimed_from >= c->claimed_end - c->claimed_from)
		return 0;
	if (blocknr - blocknr % 64 != pending->first || pending->bits & bit)
		err = claimer_flush(claimer, cx, pending);
	pending->first = blocknr - blocknr % 64;
	pending->bits |= bit;
	return err;
}

/* Reports the entries that share a block, after all were added. */
int claimer_report(struct claimer *claimer, struct context *cx);

#endif
