/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What batches cost, in words and numbers. */
#ifndef NILFS2_GC_TOTALSREPORT_H
#define NILFS2_GC_TOTALSREPORT_H

#include <stdint.h>

#include "gc/batch.h"
#include "out/report.h"

/* Blocks written per block moved, in percent; absent where none was. */
struct value totalsreport_per_moved(const struct batch_totals *totals);

/*
 * Puts TOTALS, and the time since the job BEGAN (tool_clock()), as members of
 * the open section.
 */
void totalsreport_put(struct report *r, const struct batch_totals *totals,
		      uint64_t began);

#endif
