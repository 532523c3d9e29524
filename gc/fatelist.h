/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A listing of the segments that could be cleaned, and what became of each. */
#ifndef NILFS2_GC_FATELIST_H
#define NILFS2_GC_FATELIST_H

#include "gc/clean.h"
#include "out/table.h"

/* A table of R; to be ended. */
void fatelist_begin(struct table *table, struct report *r);
void fatelist_row(struct table *table, const struct policy_segment *s,
		  enum clean_fate fate);

#endif
