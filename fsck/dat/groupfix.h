/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts of groups of a persistent allocator, DAT or ifile. */
#ifndef NILFS2_FSCK_GROUPFIX_H
#define NILFS2_FSCK_GROUPFIX_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/palloc.h"
#include "log/meta/metafile.h"

/* Groups to be corrected; all zero is empty. */
struct groupfix {
	struct metafile *m;		/* borrowed */
	const struct palloc *p;		/* borrowed */
	uint64_t *groups;	/* to be freed with free() */
	size_t n, room;
};

/* Adds GROUP, or that of what block BLKOFF of the file holds.  -ENOMEM. */
int groupfix_add(struct groupfix *g, struct context *cx, uint64_t group);
int groupfix_add_block(struct groupfix *g, struct context *cx, uint64_t blkoff);

/* Sorts the groups, and makes their counts of free entries those of their
   bitmaps. */
int groupfix_count(struct groupfix *g, struct context *cx);

#endif
