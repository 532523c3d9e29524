/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The data blocks in which two block maps differ. */
#ifndef NILFS2_CHECK_MAPDIFF_H
#define NILFS2_CHECK_MAPDIFF_H

#include <stdint.h>

#include "base/context.h"
#include "vol/blockmap.h"

/* Block KEY of the file: its pointer in either map, 0 where it has none. */
struct mapdiff_item {
	uint64_t key;
	uint64_t a, b;
};

/* 0, or a failure that ends the comparison. */
typedef int mapdiff_visit(void *arg, struct context *cx,
			  const struct mapdiff_item *item);

/*
 * Calls VISIT for each data block that only one of the maps A and B has, or
 * that has another pointer in the other one, keys ascending.  NULL stands for
 * a map without blocks.  Nodes that both maps share are not read.  -EUCLEAN,
 * -EIO where a map cannot be followed; what VISIT fails with.
 */
int mapdiff_run(struct context *cx, const struct blockmap *a,
		const struct blockmap *b, mapdiff_visit *visit, void *arg);

#endif
