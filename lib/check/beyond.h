/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A device that is shorter than its volume, as a truncated image, or a partition that
 * was made smaller: the blocks in use beyond its end.
 */
#ifndef NILFS2_CHECK_BEYOND_H
#define NILFS2_CHECK_BEYOND_H

#include "base/context.h"
#include "dev/dev.h"
#include "out/report.h"

struct beyond {
	uint64_t device;	/* bytes of the device */
	uint64_t volume;	/* bytes of the volume, by its superblock */
	bool found;		/* the latest state is on the device */
	bool complete;		/* and all of its DAT, or else the counts are too low */
	/* Blocks beyond the end, and the segments with them: of the latest state;
	   else of a snapshot; else of any other checkpoint. */
	uint64_t current, snapshots, checkpoints;
	uint64_t segments;
};

/* The bytes of the volume on DEV if a valid superblock says that its segments do not
   fit; else 0. */
uint64_t beyond_wanted(struct dev *dev);

/*
 * Fills B for DEV: 1 if its segments do not fit, 0 if they do, or no superblock is
 * valid. Reads the DAT. -ENOMEM, -EINTR.
 */
int beyond_find(struct beyond *b, struct context *cx, struct dev *dev);

/* Whether all blocks in use are on the device. */
static inline bool beyond_is_nothing(const struct beyond *b)
{
	return b->complete && !b->segments;
}

#define BEYOND_TEXT_MAX 320

/* Writes the result as a phrase. */
void beyond_text(const struct beyond *b, char text[BEYOND_TEXT_MAX]);

/* Puts the section "beyond" of JSON, and as text the line "Beyond the end". */
void beyond_report(const struct beyond *b, struct report *r);

#endif
