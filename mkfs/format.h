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
	/* A write test, after the old superblocks were wiped; NULL: none. */
	const struct badblocks *test;
	/*
	 * Gets the size of the plan after the logs are written, if the size was open
	 * until then.  NULL: none.
	 */
	struct target *settle;
	struct content *content;	/* of the new volume */
};

/*
 * Makes DEV, of plan->size bytes, the volume of PLAN.  A failure or a power cut
 * before the new superblocks are written leaves either the old content, with at
 * most its superblocks wiped, or no superblock.  Fails as dev_write(), -ENOMEM,
 * -EINTR.
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
