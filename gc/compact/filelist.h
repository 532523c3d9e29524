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
	const char *path;	/* as given, borrowed; NULL: all files */
	struct spread before, after;
};

struct filelist {
	struct filelist_file *files;
	size_t n, room;
	uint64_t excess;	/* extents above the ideal number, last measured */
};

/*
 * Finds the files at PATHS (NULL at their end) in the latest state of the
 * volume on DEV; if PATHS is NULL, all readable files that directories lead to
 * and that have more than one block.  -ENOENT, -ENOTDIR for a path that does
 * not exist, -EUCLEAN also if the volume must be recovered or repaired first,
 * -EIO, -ENOMEM, -EINTR; to be closed also then.
 */
int filelist_open(struct filelist *l, struct context *cx, struct dev *dev,
		  const char *const *paths);

/*
 * Measures the present excess of all files on DEV, and, unless that is a
 * FORECAST, their extents AFTER the job.
 */
int filelist_measure(struct filelist *l, struct context *cx, struct dev *dev,
		     bool forecast);

void filelist_close(struct filelist *l);

#endif
