/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What came of compaction, in words and numbers. */
#ifndef NILFS2_GC_COMPACTREPORT_H
#define NILFS2_GC_COMPACTREPORT_H

#include <stdint.h>

#include "cli/tool.h"
#include "gc/batch.h"
#include "gc/usedend.h"

/*
 * Tells it as section NAME of a job that BEGAN (tool_clock()); LEFT segments
 * were left alone.
 */
void compactreport_put(struct tool *tool, const char *name,
		       const struct usedend *before,
		       const struct usedend *after, uint64_t left,
		       const struct batch_totals *totals, uint64_t began);

#endif
