/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The orders of writing blocks. */
#ifndef NILFS2_GC_ORDER_H
#define NILFS2_GC_ORDER_H

#include <stdint.h>

#include "base/context.h"
#include "log/tables/tally.h"

struct dev;
struct load;
struct volume;

enum order_kind {
	ORDER_TREE,	/* as a walk through all directories finds files */
	ORDER_FILE,	/* by inode number */
	ORDER_AGE,	/* the latest written first */
	ORDER_VICTIM,	/* in the order of victims */
	ORDER_GIVEN,	/* in the order of order_add(), others last */
};

/* nilfs_cleanerd moves the fewest blocks after it: see doc/policies.md. */
#define ORDER_DEFAULT ORDER_AGE

struct order {
	enum order_kind kind;
	struct tally ranks;	/* by inode number; 0: none, sorted last */
	int32_t last;		/* rank */
};

/*
 * The order KIND of the files of VOL, which is not used again.  A directory
 * that cannot be read is skipped.  -ENOMEM, -EINTR; must be closed also then.
 */
int order_open(struct order *o, struct context *cx, struct volume *vol,
	       enum order_kind kind);
/* The same for the volume on DEV; fails as volume_open(), too. */
int order_find(struct order *o, struct context *cx, struct dev *dev,
	       enum order_kind kind);

/* Makes file INO the next one, unless it has a rank: 1, 0, or -ENOMEM. */
int order_add(struct order *o, struct context *cx, uint64_t ino);

void order_close(struct order *o);

/*
 * Sorts LOAD.  In all orders except ORDER_VICTIM the blocks of a file are
 * adjacent, those of the latest state first, by their offsets.
 */
void order_apply(const struct order *o, struct load *load);

#endif
