/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Repairs: rounds of mending and looking again, on an overlay, and the commit
 * of what they came to.
 */
#ifndef NILFS2_FSCK_REPAIR_H
#define NILFS2_FSCK_REPAIR_H

#include <stdbool.h>

#include "cli/tool.h"
#include "dev/dev.h"
#include "fsck/ask.h"
#include "fsck/kept.h"
#include "fsck/look.h"
#include "fsck/mended.h"
#include "fsck/options.h"

/* Rounds after which a repair ends whatever is left. */
#define REPAIR_ROUNDS 16

struct repair {
	struct tool *tool;
	const struct options *o;
	struct dev *dev;	/* an overlay */
	struct dev *under;	/* what DEV is over */
	struct look *first;	/* over DEV, before any repair */
	struct ask ask;
	/* The rest is all zero in the beginning. */
	struct look now;	/* the latest look, if there was a round */
	bool looked;		/* there was */
	bool given_up[RULE_FIX_COUNT];	/* its fixer came to nothing */
	struct mended mended;
	struct kept kept;	/* findings of the latest look */
};

/*
 * Mends what R->first has planned, on the overlay: at its end R->now is the
 * look at what came of it.  1 where that is better than before and is to be
 * committed, 0 where it is not, or a failure.
 */
int repair_run(struct repair *r, struct context *cx);

/* Brings it to the device under the overlay, what that has to the undo file. */
int repair_commit(struct repair *r, struct context *cx);

void repair_fini(struct repair *r);

#endif
