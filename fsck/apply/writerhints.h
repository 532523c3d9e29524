/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results of a look for a writer on the volume. */
#ifndef NILFS2_FSCK_WRITERHINTS_H
#define NILFS2_FSCK_WRITERHINTS_H

#include <stdbool.h>

#include "check/check.h"
#include "fsck/plan/plan.h"
#include "log/repairwriter.h"

/*
 * Fills KNOWN from C, which it borrows, and the repairs of PLAN for which
 * TAKEN, by enum rule_fix, is true: what they are not for must be kept.
 */
void writerhints_fill(struct repairwriter_known *known, struct check *c,
		      const struct plan *plan,
		      const bool taken[RULE_FIX_COUNT]);

#endif
