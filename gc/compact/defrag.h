/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Defragmentation: reducing the extents of files.
 */
#ifndef NILFS2_GC_DEFRAG_H
#define NILFS2_GC_DEFRAG_H

#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"
#include "gc/compact/filelist.h"
#include "gc/move/collector.h"

struct defrag_options {
	struct collector_options how;	/* the order is not specified */
	const char *const *paths;	/* NULL at the end; NULL: all files */
};

struct defrag {
	struct batch_totals totals;
	struct filelist list;		/* to be closed, also after a failure */
	uint64_t left;			/* segments that were skipped */
};

/*
 * Moves the segments in which the files have blocks, as long as that leaves at
 * most half of the excess extents: a second run does nothing.  -ENOENT,
 * -ENOTDIR for a path that does not exist; -EUCLEAN if the volume must be
 * recovered or repaired first, -EIO, -ENOSPC, -EINTR, -ENOMEM: completed
 * batches stay.
 */
int defrag_run(struct defrag *d, struct context *cx, struct dev *dev,
	       const struct defrag_options *options);

#endif
