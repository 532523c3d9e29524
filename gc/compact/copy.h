/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A compact copy of a volume. */
#ifndef NILFS2_GC_COPY_H
#define NILFS2_GC_COPY_H

#include "base/context.h"
#include "dev/dev.h"
#include "gc/compact/compact.h"
#include "gc/move/collector.h"

struct copy {
	struct batch_totals totals;
	struct usedend before, after;
};

/*
 * Copies all live blocks of SOURCE to TARGET, which has the same size and is
 * all zero, with a new checkpoint of the same volume, and superblocks last.
 * Any unreadable block is a failure.  -EUCLEAN if SOURCE must be recovered or
 * repaired first, -EIO, -ENOSPC, -EINTR, -ENOMEM.
 */
int copy_run(struct copy *c, struct context *cx, struct dev *source,
	     struct dev *target, const struct collector_options *options);

#endif
