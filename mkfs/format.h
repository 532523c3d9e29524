/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing a new volume, in an order that survives an interruption. */
#ifndef NILFS2_MKFS_FORMAT_H
#define NILFS2_MKFS_FORMAT_H

#include <stdbool.h>

#include "dev/dev.h"
#include "mkfs/content.h"
#include "mkfs/plan/plan.h"

struct format_how {
	bool blank;		/* the device reads as zeros everywhere */
	bool discard;		/* discard the whole device */
	/* Runs once old superblocks are gone; NULL: nothing; as dev_read(). */
	int (*test)(void *arg, struct context *cx, struct dev *dev);
	/*
	 * Runs once the logs are written, where the plan left the size open
	 * until then: makes DEV as large as the plan says.  NULL: nothing.
	 */
	int (*settle)(void *arg, struct context *cx, struct dev *dev,
		      const struct plan *plan);
	void *arg;		/* of both */
	struct content *content;	/* what is put on the volume */
};

/*
 * Makes DEV, of plan->size bytes, the volume of PLAN.  Until it returns 0 or
 * has come to the new superblocks, a failure or a power cut leaves either the
 * old content with no more than its superblocks touched, or no superblock.
 * Failures: as dev_write(), -ENOMEM, -EINTR.
 */
int format_run(struct context *cx, struct dev *dev, struct plan *plan,
	       const struct format_how *how);

#endif
