/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of the used part of a volume, which compaction reduces.
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
	uint64_t next;		/* where the log continues */
	uint64_t segment;	/* blocks of one */
};

/* Of the volume on DEV.  -EUCLEAN, -EIO. */
int usedend_measure(struct usedend *r, struct context *cx, struct dev *dev);

/*
 * Whether A is nearer to the front than B, by enough to be worth WRITTEN
 * blocks: with as many segments and the same end, at most a segment.  A
 * well-founded order: a loop that continues only while the end improves
 * terminates.
 */
bool usedend_is_better(const struct usedend *a, const struct usedend *b,
		       uint64_t written);

#endif
