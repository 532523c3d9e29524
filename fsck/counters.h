/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The option --rebuild-counters. */
#ifndef NILFS2_FSCK_COUNTERS_H
#define NILFS2_FSCK_COUNTERS_H

#include "cli/tool.h"
#include "dev/dev.h"
#include "fsck/plan/options.h"

/*
 * Makes what the SUFILE of the volume on DEV says of segments what the DAT and
 * the logs say, live-block counts included.  0 where it was so,
 * SESSION_REPAIRED, SESSION_UNCORRECTED where the volume has errors on which
 * that would rest, or a failure: -EBUSY where logs must be rolled forward
 * first.
 */
int counters_run(struct tool *tool, const struct options *o, struct dev *dev);

#endif
