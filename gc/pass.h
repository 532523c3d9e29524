/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One pass of compaction over a volume.
 */
#ifndef NILFS2_GC_PASS_H
#define NILFS2_GC_PASS_H

#include <stdbool.h>

#include "base/context.h"
#include "gc/collector.h"

struct pass_options {
	bool all;	/* full segments at the front move, too */
	/* What is in order stays so: segments move forward one after another,
	   not the last one into the first hole. */
	bool in_order;
};

/*
 * Batch after batch, by K, until all that was there when it began is at the
 * front as far as it can be.  It ends, but need not bring anything.  Fails as
 * collector_open() and collector_move().
 */
int pass_run(struct collector *k, struct context *cx,
	     const struct pass_options *options);

#endif
