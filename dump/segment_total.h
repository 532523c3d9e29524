/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums over segments, and how full they are. */
#ifndef NILFS2_DUMP_SEGMENT_TOTAL_H
#define NILFS2_DUMP_SEGMENT_TOTAL_H

#include <stdbool.h>
#include <stdint.h>

#include "dump/segment.h"
#include "out/histogram.h"
#include "out/report.h"

struct segment_total {
	uint64_t segments, clean, active, dirty, error, protected;
	uint64_t blocks, written, live, snapshot, recent, dead;
	uint64_t data, live_data, overhead;
	uint64_t without_data;		/* segments that were not looked into */
	uint64_t without_counts;	/* segments with unknown live blocks */
	struct histogram use;		/* of segments in use, in tenths */
};

void segment_total_init(struct segment_total *t);
void segment_total_add(struct segment_total *t, const struct segment *s);

/* Says the sums as a section; blocks are of BLOCK_SIZE bytes. */
void segment_total_report(const struct segment_total *t,
			  struct report *report, uint32_t block_size);

/* Says how many segments in use are how full. */
void segment_total_report_use(const struct segment_total *t,
			      struct report *report);

#endif
