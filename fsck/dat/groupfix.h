/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changing the bitmaps and counts of a persistent allocator, DAT or ifile, by
 * number.
 */
#ifndef NILFS2_FSCK_GROUPFIX_H
#define NILFS2_FSCK_GROUPFIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/palloc.h"
#include "log/meta/metafile.h"

/* Groups to be made right, ascending, each once; all zero is empty. */
struct groupfix {
	struct metafile *m;		/* borrowed */
	const struct palloc *p;		/* borrowed */
	uint64_t *groups;
	size_t n, room;
};

/* Adds GROUP, or that of what block BLKOFF of the file holds.  -ENOMEM. */
int groupfix_add(struct groupfix *g, struct context *cx, uint64_t group);
int groupfix_add_block(struct groupfix *g, struct context *cx,
		       uint64_t blkoff);
void groupfix_fini(struct groupfix *g);

/* Makes the counts of free entries of the groups those of their bitmaps. */
int groupfix_count(struct groupfix *g, struct context *cx);

/* Puts the groups in order. */
void groupfix_sort(struct groupfix *g);

#endif
