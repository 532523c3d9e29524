// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * New blocks for old checkpoints.
 *
 * Logs are not changed, and a block's number is not reused: a cleaner would
 * move both blocks with the same number, the older one perhaps last.  But a
 * checkpoint is defined by its entry in the cpfile, which can be changed.  So a
 * replacement block gets a new number, in the new log, with the life of the one
 * that it replaces.
 *
 * To a cleaner (nilfs_vdesc_is_live()) the new block looks like the old one:
 * written with the same checkpoint, and kept for the same snapshots.  The old
 * one ends with the checkpoint that it was written for; such a block is always
 * dead, and never moved together with the new one, which the kernel would treat
 * as a conflict (nilfs_ioctl_move_inode_block()).
 */
#include "log/past.h"

#include <errno.h>

#include "log/writer_parts.h"

int past_replace(struct writer *w, struct context *cx,
		 const struct past_block *b, const void *data,
		 uint64_t *number)
{
	struct loglayout_run run = {
		.ino = b->ino,
		.kind = b->is_node ? LOGLAYOUT_NODE : LOGLAYOUT_DATA,
		.blkoff = b->is_node ? 0 : b->blkoff,
		.count = 1,
	};
	int ret = b->vblocknr ?
		numbers_test(&w->dat.numbers, cx, b->vblocknr) : 0;

	if (!ret)
		return fail(cx, -EUCLEAN, "virtual block %llu: not in use",
			    (unsigned long long)b->vblocknr);
	if (ret > 0)
		ret = dattable_succeed(&w->dat, cx, b->vblocknr, number,
				       &run.cno);
	run.vblocknr = *number;
	if (!ret)
		ret = collected_add(&w->collected, cx, &run, data,
				    w->g.block_size);
	return ret ? ret : flush_if_due(w, cx);
}
