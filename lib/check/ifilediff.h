/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inodes in which two checkpoints differ. */
#ifndef NILFS2_CHECK_IFILEDIFF_H
#define NILFS2_CHECK_IFILEDIFF_H

#include <stdint.h>

#include "base/context.h"
#include "check/inodelist.h"
#include "vol/blockmap.h"
#include "vol/root.h"

#define IFILEDIFF_SHARE 8 /* of the memory budget, for changes */

/* All zero is the empty list. */
struct ifilediff {
	struct inodelist_change *changes; /* by number, ascending */
	size_t count, room;
};

/*
 * Fills DIFF, which is empty, with the inodes that differ from FROM, of which
 * LIST has the inodes, to TO, as far as names and links depend on them: type,
 * links, whether it is there, and size and map of a directory.  1; 0 where an
 * ifile cannot be read or too many differ.  -ENOMEM, -EINTR.
 */
int ifilediff_find(struct ifilediff *diff, struct context *cx,
		   struct root *from, struct root *to, struct inodelist *list);
void ifilediff_fini(struct ifilediff *diff);

/* Block KEY of the file: its pointer in each map, 0 if none. */
struct mapdiff_item {
	uint64_t key;
	uint64_t a, b;
};

/* 0, or a failure that ends the comparison. */
typedef int mapdiff_visit(void *arg, struct context *cx,
			  const struct mapdiff_item *item);

/*
 * Calls VISIT for each data block that only one of the maps A and B has, or
 * whose pointers differ, keys ascending.  NULL stands for a map without blocks.
 * Nodes that both maps share are not read.  -EUCLEAN, -EIO if a map is broken;
 * failures of VISIT.
 */
int mapdiff_run(struct context *cx, const struct blockmap *a,
		const struct blockmap *b, mapdiff_visit *visit, void *arg);

#endif
