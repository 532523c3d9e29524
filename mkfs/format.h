/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing a new volume, in an order that survives an interruption. */
#ifndef NILFS2_MKFS_FORMAT_H
#define NILFS2_MKFS_FORMAT_H

#include <stdbool.h>

#include "dev/dev.h"
#include "disk/ondisk.h"
#include "mkfs/badblocks.h"
#include "mkfs/content.h"
#include "mkfs/plan/plan.h"
#include "mkfs/target.h"

struct format_how {
	bool blank;		/* the device reads as zeros everywhere */
	bool discard;		/* discard the whole device */
	/* A test by writing, once old superblocks are gone; NULL: none. */
	const struct badblocks *test;
	/*
	 * Gets the size of the plan once the logs are written, where that was
	 * open until then.  NULL: nothing.
	 */
	struct target *settle;
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

/*
 * Fills the superblock SB of a new volume, with the last log at END; both
 * copies are the same.
 */
void format_super(const struct plan *plan, const struct writer_end *end,
		  struct nilfs_super_block *sb);

#endif
