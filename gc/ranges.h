/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ranges of checkpoints on the command line, by number or time. */
#ifndef NILFS2_GC_RANGES_H
#define NILFS2_GC_RANGES_H

#include "cli/range.h"
#include "gc/job.h"

/*
 * Adds the ranges in the arguments WORDS of OPTION to SET, as numbers of the checkpoints
 * on DEV or of the mounted volume: a range by time has the checkpoints that were made in
 * it, a single time is the newest checkpoint that is not newer.  -EINVAL, which is bad
 * usage, or as reading the checkpoints fails.
 */
int ranges_parse(struct tool *tool, const struct options *o, struct dev *dev,
		 const char *option, const struct option_list *words,
		 struct range_set *set);

/* Warns for each range of SET without a checkpoint: JOB_UNDONE, or 0. */
int ranges_warn_unmet(struct tool *tool, const char *option,
		      const struct range_set *set);

#endif
