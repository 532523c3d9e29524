/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Replacing blocks of files in older checkpoints. */
#ifndef NILFS2_LOG_PAST_H
#define NILFS2_LOG_PAST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "log/writer.h"

/* A block of a file, of no new checkpoint any more. */
struct past_block {
	uint64_t ino;
	uint64_t blkoff;	/* of a data block */
	bool is_node;
	uint64_t vblocknr;
};

/*
 * Writes DATA, a block, as the replacement of B in every checkpoint that has
 * it: *NUMBER is its virtual block, with the life of B's, which then belongs to
 * no checkpoint.  The caller replaces the number of B everywhere: in nodes and
 * inodes, which are in replaced blocks themselves, and in the cpfile.
 *
 * -EUCLEAN if B is live now or not in use, -ENOSPC, -ENOMEM, -EIO.
 */
int past_replace(struct writer *w, struct context *cx,
		 const struct past_block *b, const void *data,
		 uint64_t *number);

#endif
