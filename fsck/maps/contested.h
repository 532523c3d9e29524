/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Virtual blocks to which several pointers lead, and whose they are.
 */
#ifndef NILFS2_FSCK_CONTESTED_H
#define NILFS2_FSCK_CONTESTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

struct contested_block {
	uint64_t vblocknr;
	/* Whose the log says that it is. */
	bool known, is_node;
	uint64_t ino, blkoff;
};

/* All zero is empty. */
struct contested {
	struct contested_block *list;
	size_t n, room;
};

/* Adds VBLOCKNR; contested_settle() comes before any question.  -ENOMEM. */
int contested_add(struct contested *c, struct context *cx, uint64_t vblocknr);
void contested_settle(struct contested *c);
void contested_fini(struct contested *c);

/* The block VBLOCKNR, or NULL where nobody contests it. */
struct contested_block *contested_find(const struct contested *c,
				       uint64_t vblocknr);

/*
 * True where B is that of the pointer of inode INO to block BLKOFF, or to a
 * node where LEVEL is not 0.
 */
static inline bool contested_is_of(const struct contested_block *b,
				   uint64_t ino, uint64_t blkoff,
				   unsigned int level)
{
	return b->known && b->ino == ino && b->is_node == (level > 0) &&
	       (level || b->blkoff == blkoff);
}

#endif
