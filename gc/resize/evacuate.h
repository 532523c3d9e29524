/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Evacuation: emptying all segments at the end of a volume.
 */
#ifndef NILFS2_GC_EVACUATE_H
#define NILFS2_GC_EVACUATE_H

#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"
#include "gc/move/batch.h"
#include "vol/volume.h"

struct evacuate_options {
	uint64_t protect;	/* period, seconds */
	uint64_t time;		/* of the checkpoints, seconds */
	struct sums *sums;	/* as of struct batch_options */
	bool forecast;
};

/*
 * Segments in use before END and from there on.  Those marked as erroneous
 * count before END, and not after it.
 */
struct evacuate_census {
	uint64_t end, before, after;
	uint64_t clean;		/* the lowest clean one; UINT64_MAX: none */
};

/* -EUCLEAN, -EIO if the SUFILE cannot be read. */
int evacuate_count(struct volume *vol, struct context *cx, uint64_t end,
		   struct evacuate_census *census);

/*
 * Moves all live blocks from segment END on, and the log, before END.  -ENOSPC
 * if there is no room, -EUCLEAN, -EIO if a block cannot be moved: blocks moved
 * until then stay moved.  Adds to TOTALS.
 */
int evacuate_run(struct context *cx, struct dev *dev,
		 const struct evacuate_options *options, uint64_t end,
		 struct batch_totals *totals);

#endif
