/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The check before the first write. */
#ifndef NILFS2_GC_PRECHECK_H
#define NILFS2_GC_PRECHECK_H

#include "cli/tool.h"
#include "dev/dev.h"

/* Exit status: the volume is for fsck.nilfs2, and nothing was changed. */
#define PRECHECK_REFUSED 4

/*
 * Runs all passes of the checker over DEV: 0 where they find no error, and the
 * volume need not be recovered first; PRECHECK_REFUSED where one of that is so,
 * which is reported then, errors with WHY; or a failure of the checker.
 */
int precheck_run(struct tool *tool, struct dev *dev, const char *why);

#endif
