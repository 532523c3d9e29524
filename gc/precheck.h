/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The check before the first write. */
#ifndef NILFS2_GC_PRECHECK_H
#define NILFS2_GC_PRECHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/tool.h"
#include "dev/dev.h"

/* Exit status: the volume needs fsck.nilfs2, and nothing was changed. */
#define PRECHECK_REFUSED 4

/* All errors are in snapshots to be deleted or converted. */
#define PRECHECK_GIVEN 5

/*
 * Whether checkpoint CNO is to be deleted or converted to a plain checkpoint.
 */
typedef bool precheck_given(void *arg, uint64_t cno);

/*
 * Runs all passes of the checker over DEV.  0 if they find no error, and the
 * volume need not be recovered first.  Otherwise PRECHECK_REFUSED, with a
 * report: of errors with WHY, and with LISTED as a list.  PRECHECK_GIVEN if
 * each error is in an object of a checkpoint, not the latest one, for which
 * GIVEN (or NULL) is true.  Or a failure of the checker.
 */
int precheck_run(struct tool *tool, struct dev *dev, const char *why,
		 bool listed, precheck_given *given, void *arg);

#endif
