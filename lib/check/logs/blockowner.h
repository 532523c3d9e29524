/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The owner of a block that cannot be read. */
#ifndef NILFS2_CHECK_BLOCKOWNER_H
#define NILFS2_CHECK_BLOCKOWNER_H

#include "check/check.h"
#include "check/vblocks.h"
#include "disk/segsum.h"

/*
 * Reports to F that BLOCKNR of VOL cannot be read, for which the DAT has the
 * entry VB, and a log the listing B, or NULL: 1; 0 where no checkpoint has it.
 * Blocks that passes read anyway, nodes and metadata files, have no owner here.
 * -ENOMEM, -EINTR.
 */
int blockowner_report(struct findings *f, struct context *cx,
		      struct volume *vol, uint64_t blocknr,
		      const struct vblock *vb, const struct segsum_block *b);

#endif
