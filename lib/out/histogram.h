/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A histogram: counts of numbers in buckets, as bars or as JSON buckets.
 */
#ifndef NILFS2_OUT_HISTOGRAM_H
#define NILFS2_OUT_HISTOGRAM_H

#include <stdint.h>

#include "out/report.h"

#define HISTOGRAM_BUCKETS_MAX 64

struct histogram {
	unsigned int count;			/* buckets */
	uint64_t from[HISTOGRAM_BUCKETS_MAX];	/* least number of each */
	uint64_t hits[HISTOGRAM_BUCKETS_MAX];
	uint64_t max;				/* largest number of the last */
};

/*
 * Initializes COUNT buckets (1 ... HISTOGRAM_BUCKETS_MAX) of equal width over 0 ...
 * MAX, fewer if there are less than COUNT numbers.
 */
void histogram_linear(struct histogram *h, uint64_t max, unsigned int count);

/* Counts V TIMES times; a V above the maximum counts in the last bucket. */
void histogram_add(struct histogram *h, uint64_t v, uint64_t times);

/*
 * Reports the histogram: in text one bar per bucket, the longest BAR characters; in
 * JSON an array NAME of {"from", "to", "count"}, both ends included.  KIND (U64,
 * SIZE, PERCENT in hundredths, ...) is the format of the bounds.
 */
void histogram_report(const struct histogram *h, struct report *r,
		      const char *name, enum value_kind kind,
		      unsigned int bar);

#endif
