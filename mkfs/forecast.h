/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The size that a volume needs for its content, before it is written. */
#ifndef NILFS2_MKFS_FORECAST_H
#define NILFS2_MKFS_FORECAST_H

#include "mkfs/content.h"
#include "mkfs/plan/plan.h"

struct forecast {
	struct plan plan;	/* where its size was open: settled */
	struct content content;	/* the result, counted */
	uint64_t nsegments;	/* the fewest with which CONTENT can be written */
};

/*
 * Does all that content_write() would do for PLAN, except writing, on a device
 * with enough room: sources are read as far as needed (archives completely,
 * files are only opened).  With zones the device has its real size: -ENOSPC if
 * that is too small.  Fails as content_write().
 */
int forecast_run(struct forecast *f, struct context *cx,
		 const struct plan *plan, const struct content *content);

/*
 * The same after -ENOSPC for a PLAN with zones: f->nsegments is what the content
 * needs where each zone holds one segment, more than PLAN has.
 */
int forecast_zones(struct forecast *f, struct context *cx,
		   const struct plan *plan, const struct content *content);

#endif
