/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One pass of compaction over a volume: batches that move live blocks to the front.
 * compact.c makes one pass, or more.
 */
#ifndef NILFS2_GC_PASS_H
#define NILFS2_GC_PASS_H

#include <stdbool.h>

#include "base/bitmap.h"
#include "base/context.h"
#include "gc/compact/space.h"
#include "gc/move/collector.h"

/* The caller sets `all` and `in_order`; all other members are zero at first. */
struct pass {
	bool all;	/* full segments at the front move, too */
	/*
	 * Keep the order: segments move forward one after another, not the last
	 * one into the first hole.
	 */
	bool in_order;
	struct {
		bool begun;	/* there was a first batch */
		bool evacuated;	/* at once, as there was little room */
		bool ended;	/* there was a last batch */
	} was;
	bool done;		/* there is nothing left to be done */
	struct bitmap old;	/* segments before the pass; owned */
	/* Of a batch: */
	struct collector *k;	/* borrowed */
	struct batch_options batch;
	struct space space;
	size_t none;		/* victims that are no gain */
};

/*
 * Makes batches with K until all blocks that exist at the beginning of the pass are as
 * close to the front as possible.  With CERTAIN it ends before the first batch that may
 * gain nothing.  A pass always ends, and may gain nothing.  Fails as collector_open()
 * and collector_move().
 */
int pass_run(struct pass *p, struct context *cx, struct collector *k,
	     bool certain);

#endif
