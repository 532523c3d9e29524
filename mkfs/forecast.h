/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a volume must have for its content, known before it is written. */
#ifndef NILFS2_MKFS_FORECAST_H
#define NILFS2_MKFS_FORECAST_H

#include "mkfs/content.h"
#include "mkfs/plan.h"

struct forecast {
	struct plan plan;	/* where its size was open: settled */
	struct content content;	/* what came of it, counted */
	uint64_t nsegments;	/* the fewest with which CONTENT can be written */
};

/*
 * Does all that content_write() would do for PLAN on a device that has room,
 * but writing: sources are read as far as that tells something (archives to
 * their ends, files are opened).  Of a plan with zones the device stays as large
 * as it is: -ENOSPC where that is too small.  Fails as content_write().
 */
int forecast_run(struct forecast *f, struct context *cx,
		 const struct plan *plan, const struct content *content);

#endif
