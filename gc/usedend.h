/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How far a volume reaches: what compaction makes less.
 */
#ifndef NILFS2_GC_USEDEND_H
#define NILFS2_GC_USEDEND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"

struct usedend {
	uint64_t end;		/* segments up to the last one with content */
	uint64_t used;		/* segments with content */
	uint64_t clean;
	uint64_t places;	/* sum of the numbers of those with content */
	uint64_t next;		/* where the log goes on */
	uint64_t segment;	/* blocks of one */
};

/* Of the volume on DEV.  -EUCLEAN, -EIO. */
int usedend_measure(struct usedend *r, struct context *cx, struct dev *dev);

/*
 * Whether A is nearer to the front than B, and that worth WRITTEN blocks: with
 * as many segments and the same end, no more than a segment.  An order without
 * a cycle, and nothing in it falls for ever: what goes on only while it gets
 * better ends.
 */
bool usedend_is_better(const struct usedend *a, const struct usedend *b,
		       uint64_t written);

#endif
