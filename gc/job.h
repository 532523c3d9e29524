/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job of gc.nilfs2: one of the things that it can be asked to do to a volume.
 */
#ifndef NILFS2_GC_JOB_H
#define NILFS2_GC_JOB_H

#include <stdbool.h>

#include "cli/tool.h"
#include "dev/dev.h"
#include "gc/options.h"

/* Exit status: not all that was wanted was done. */
#define JOB_UNDONE 1
/* Exit status: some segments were left alone, the others are done. */
#define JOB_LEFT 3

/*
 * Jobs come one after the other, each on the volume that the one before has
 * left, and each complete in itself.  A forecast has them all on one overlay.
 */
struct job {
	bool (*is_wanted)(const struct options *options);
	/* Does it to DEV and tells what came of it: 0, JOB_UNDONE,
	   JOB_LEFT or -errno. */
	int (*run)(struct tool *tool, const struct options *options,
		   struct dev *dev);
};

#endif
