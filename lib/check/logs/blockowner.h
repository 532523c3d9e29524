/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The owner of a block, and whether it is in use. */
#ifndef NILFS2_CHECK_BLOCKOWNER_H
#define NILFS2_CHECK_BLOCKOWNER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "check/check.h"
#include "check/vblocks.h"
#include "disk/segsum.h"

enum blockowner_held {
	BLOCKOWNER_NONE,
	BLOCKOWNER_HISTORY,	/* a checkpoint that is no snapshot, not the
				   latest */
	BLOCKOWNER_SNAPSHOT,
	BLOCKOWNER_LATEST,
};

struct blockowner {
	enum blockowner_held held;
	bool is_listed;
	struct segsum_block block;	/* as a log lists it, if one does */
	uint64_t cno;		/* of a checkpoint that has it, 0: not known */
};

/*
 * The owner of BLOCKNR of VOL, for which the DAT has the entry VB, and a log
 * the listing B, or NULL.  Blocks that passes read anyway, nodes and metadata
 * files, have no owner here.  -ENOMEM, -EINTR.
 */
int blockowner_of(struct blockowner *o, struct context *cx, struct volume *vol,
		  uint64_t blocknr, const struct vblock *vb,
		  const struct segsum_block *b);

/* The same, using only the logs of C's volume. */
int blockowner_find(struct blockowner *o, struct context *cx,
		    const struct check *c, uint64_t blocknr,
		    const struct vblock *vb);

/* Reports that BLOCKNR cannot be read, unless it has no owner. */
void blockowner_unreadable(const struct blockowner *o, struct findings *f,
			   uint64_t blocknr);

#endif
