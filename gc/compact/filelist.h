/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files to be made contiguous, and their extents. */
#ifndef NILFS2_GC_FILELIST_H
#define NILFS2_GC_FILELIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"
#include "gc/plan/spread.h"

struct filelist_file {
	uint64_t ino;
	const char *path;	/* as given, borrowed; NULL: it was not */
	struct spread before, after;
};

struct filelist {
	struct filelist_file *files;
	size_t n, room;
	uint64_t excess;	/* extents that were too many when last measured */
};

/*
 * Finds the files at PATHS (NULL at their end) in the latest state of the
 * volume on DEV, or, where PATHS is NULL, all that directories lead to, that
 * can be read, and that have more than one block.  -ENOENT, -ENOTDIR for a path
 * that leads nowhere, -EUCLEAN also where the volume must be recovered or
 * repaired first, -EIO, -ENOMEM, -EINTR; to be closed also then.
 */
int filelist_open(struct filelist *l, struct context *cx, struct dev *dev,
		  const char *const *paths);

/*
 * Measures all of them, as they are on DEV now: their excess, and, unless that
 * is a FORECAST, what they are AFTER.
 */
int filelist_measure(struct filelist *l, struct context *cx, struct dev *dev,
		     bool forecast);

void filelist_close(struct filelist *l);

#endif
