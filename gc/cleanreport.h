/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What came of cleaning, in words and numbers. */
#ifndef NILFS2_GC_CLEANREPORT_H
#define NILFS2_GC_CLEANREPORT_H

#include <stdint.h>

#include "disk/geometry.h"
#include "gc/clean.h"
#include "out/report.h"

/* Bytes of segments that are clean and were not. */
uint64_t cleanreport_freed(const struct clean *c,
			   const struct nilfs_geometry *g);

/* What was written per byte freed, in percent; absent where none was. */
struct value cleanreport_per_freed(const struct clean *c,
				   const struct nilfs_geometry *g);

/* Puts C, of a job that BEGAN (tool_clock()), as members of the section. */
void cleanreport_put(struct report *r, const struct clean *c,
		     const struct nilfs_geometry *g, uint64_t began);

#endif
