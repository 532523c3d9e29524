/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One pass of compaction over a volume.
 */
#ifndef NILFS2_GC_PASS_H
#define NILFS2_GC_PASS_H

#include <stdbool.h>

#include "base/bitmap.h"
#include "base/context.h"
#include "gc/collector.h"
#include "gc/space.h"

struct pass_options {
	bool all;	/* full segments at the front move, too */
	/*
	 * What is in order stays so: segments move forward one after another,
	 * not the last one into the first hole.
	 */
	bool in_order;
};

struct pass {
	struct pass_options o;
	struct {
		bool begun;	/* there was a first batch */
		bool evacuated;	/* at once, for there was little room */
		bool ended;	/* there was a last batch */
	} was;
	bool done;		/* there is nothing left to be done */
	struct bitmap old;	/* segments of before the pass */
	/* Of a batch: */
	struct collector *k;	/* borrowed */
	struct batch_options batch;
	struct space space;
	size_t none;		/* victims that are no gain */
};

void pass_init(struct pass *p, const struct pass_options *options);

/* Makes TO go on where FROM is, by itself.  -ENOMEM. */
int pass_copy(struct pass *to, struct context *cx, const struct pass *from);

/*
 * Batch after batch, by K, until all that was there when it began is at the
 * front as far as it can be; or, if it is to do only what is CERTAIN, before
 * the first batch that may bring nothing.  It ends, but need not bring
 * anything.  Fails as collector_open() and collector_move().
 */
int pass_run(struct pass *p, struct context *cx, struct collector *k,
	     bool certain);

void pass_fini(struct pass *p);

#endif
