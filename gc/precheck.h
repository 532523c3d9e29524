/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The check before the first write. */
#ifndef NILFS2_GC_PRECHECK_H
#define NILFS2_GC_PRECHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/tool.h"
#include "dev/dev.h"

/* Exit status: the volume is for fsck.nilfs2, and nothing was changed. */
#define PRECHECK_REFUSED 4

/* All errors are of snapshots that are to be given up. */
#define PRECHECK_GIVEN 5

/* Whether checkpoint CNO is to be given up. */
typedef bool precheck_given(void *arg, uint64_t cno);

/*
 * Runs all passes of the checker over DEV: 0 where they find no error, and the
 * volume need not be recovered first; PRECHECK_REFUSED where one of that is so,
 * which is reported then, and errors with WHY, and with LISTED as a list.
 * PRECHECK_GIVEN where each error is in what belongs to a checkpoint, not the
 * latest one, of which GIVEN (or NULL) says so.  Or a failure of the checker.
 */
int precheck_run(struct tool *tool, struct dev *dev, const char *why,
		 bool listed, precheck_given *given, void *arg);

#endif
