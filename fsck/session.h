/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One check of one volume, and its repair, printed as it goes. */
#ifndef NILFS2_FSCK_SESSION_H
#define NILFS2_FSCK_SESSION_H

#include "cli/tool.h"
#include "dev/dev.h"
#include "fsck/plan/options.h"

/* Exit status of fsck(8). */
#define SESSION_REPAIRED 1
#define SESSION_UNCORRECTED 4

/*
 * Checks the volume on DEV as O asks, repairs it, and puts findings, repairs
 * and a summary on the tool's report.  0 where there was no error,
 * SESSION_REPAIRED where there is none now, SESSION_UNCORRECTED, or a failure:
 * then nothing was changed, unless the failure is DEV's.
 */
int session_run(struct tool *tool, const struct options *o, struct dev *dev);

/* What O says may be repaired, as far as there is a user to ask. */
enum decision_mode session_mode(const struct tool *tool,
				const struct options *o);

/*
 * Makes what the SUFILE of the volume on DEV says of segments what the DAT and
 * the logs say, live-block counts included.  0 where it was so,
 * SESSION_REPAIRED, SESSION_UNCORRECTED where the volume has errors on which
 * that would rest, or a failure: -EBUSY where logs must be rolled forward
 * first.
 */
int counters_run(struct tool *tool, const struct options *o, struct dev *dev);

#endif
