/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inodes in which two checkpoints differ. */
#ifndef NILFS2_CHECK_IFILEDIFF_H
#define NILFS2_CHECK_IFILEDIFF_H

#include <stdint.h>

#include "base/context.h"
#include "check/inodes/inodelist.h"
#include "vol/root.h"

/* All zero is the empty list. */
struct ifilediff {
	struct inodelist_change *changes; /* by number, ascending */
	size_t count, room;
};

/*
 * Fills DIFF, which is empty, with the inodes that differ from FROM, of which
 * LIST has the inodes, to TO, as far as names and links depend on them: type,
 * links, whether it is there, and size and map of a directory; in at most BYTES.
 * 1; 0 where an ifile cannot be read or more differ.  -ENOMEM, -EINTR.
 */
int ifilediff_find(struct ifilediff *diff, struct context *cx, uint64_t bytes,
		   struct root *from, struct root *to, struct inodelist *list);
void ifilediff_fini(struct ifilediff *diff);

#endif
