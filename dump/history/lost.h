/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that older checkpoints have and newer ones lack. */
#ifndef NILFS2_DUMP_LOST_H
#define NILFS2_DUMP_LOST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "dump/history/filter.h"
#include "vol/root.h"
#include "vol/tree.h"

struct lost_search {
	const struct filter *filter;
	/* Only files that were deleted, and whose path is free now. */
	bool deleted;
	/*
	 * A file by its path in ROOT, the newest checkpoint that has it; the
	 * path ends with a NUL.  A negative errno ends the search.
	 */
	int (*found)(void *arg, struct root *root,
		     const struct tree_item *item);
	/* Checkpoint CNO cannot be read whole: the failure text says why. */
	void (*broken)(void *arg, uint64_t cno, int err);
	void *arg;
};

/*
 * Searches all checkpoints older than LATEST, the newest first, for names that
 * the next newer one lacks, each once.  -EUCLEAN, -EIO if the list of
 * checkpoints cannot be read, -ENOMEM, -EINTR; failures of FOUND.
 */
int lost_run(struct context *cx, const struct root *latest,
	     const struct lost_search *search);

#endif
