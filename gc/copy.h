/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A compact copy of a volume. */
#ifndef NILFS2_GC_COPY_H
#define NILFS2_GC_COPY_H

#include "base/context.h"
#include "dev/dev.h"
#include "gc/collector.h"
#include "gc/usedend.h"

struct copy {
	struct batch_totals totals;
	struct usedend before, after;
};

/*
 * Brings all that lives on SOURCE to TARGET, which is as large and all zero, as
 * one more checkpoint of the same volume, and superblocks last.  Nothing is
 * left out: what cannot be read is a failure.  -EUCLEAN where SOURCE must be
 * recovered or repaired first, -EIO, -ENOSPC, -EINTR, -ENOMEM.
 */
int copy_run(struct copy *c, struct context *cx, struct dev *source,
	     struct dev *target, const struct collector_options *options);

#endif
