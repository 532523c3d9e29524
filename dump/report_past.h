/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The checkpoints of a volume over time, in a report. */
#ifndef NILFS2_DUMP_REPORT_PAST_H
#define NILFS2_DUMP_REPORT_PAST_H

#include "cli/tool.h"
#include "dump/image.h"

/*
 * Reports the snapshots and the newest checkpoints; on a page with a plot of
 * all.  -EUCLEAN, -EIO, -ENOMEM.
 */
int report_past_put(struct tool *tool, const struct dump_image *im);

#endif
