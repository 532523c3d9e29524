/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One check of one volume, told to the user as it goes. */
#ifndef NILFS2_FSCK_SESSION_H
#define NILFS2_FSCK_SESSION_H

#include "cli/tool.h"
#include "dev/dev.h"
#include "fsck/options.h"

#define SESSION_UNCORRECTED 4	/* exit status of fsck(8) */

/*
 * Checks the volume on DEV as O asks and puts findings and a summary on the
 * tool's report.  0 where there is no error, SESSION_UNCORRECTED, or a failure
 * of the checker.
 */
int session_run(struct tool *tool, const struct options *o, struct dev *dev);

#endif
