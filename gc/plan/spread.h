/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fragmentation of a file.
 */
#ifndef NILFS2_GC_SPREAD_H
#define NILFS2_GC_SPREAD_H

#include <stdint.h>

#include "base/context.h"
#include "vol/root.h"

struct extent;

struct spread {
	uint64_t blocks;
	uint64_t extents;	/* runs of blocks on the device */
	uint64_t enough;	/* the fewest that the file can have: one for each
				   part between holes, and for each log in it */
};

/* Measures file INO of ROOT.  Fails as root_file() and extent_cursor_next(). */
int spread_measure(struct spread *s, struct context *cx, struct root *root,
		   uint64_t ino);

/*
 * Calls VISIT for each extent of file INO, in the order of the file, until it
 * returns something other than 0, which is returned.
 */
int spread_walk(struct context *cx, struct root *root, uint64_t ino,
		int (*visit)(void *arg, struct context *cx,
			     const struct extent *extent),
		void *arg);

/* Extents above the needed number. */
static inline uint64_t spread_excess(const struct spread *s)
{
	return s->extents > s->enough ? s->extents - s->enough : 0;
}

#endif
