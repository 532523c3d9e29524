/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of gc.nilfs2. */
#ifndef NILFS2_GC_OPTIONS_H
#define NILFS2_GC_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/option.h"
#include "gc/policy.h"

/* How much is to be free, beyond what is. */
struct options_amount {
	enum {
		OPTIONS_WORTH,		/* all that is worth it */
		OPTIONS_SEGMENTS,
		OPTIONS_BYTES,
		OPTIONS_PERCENT,	/* of all segments */
	} unit;
	uint64_t n;
};

struct options {
	struct options_amount free;
	const struct policy *policy;
	uint64_t max_search;
	uint32_t min_reclaimable;	/* percent */
	uint64_t protect;		/* seconds */
	bool dry_run;
};

extern const struct options options_defaults;
extern const struct cli_option options_rows[];

/* FREE as segments of BYTES each, of which the volume has N. */
uint64_t options_segments(const struct options_amount *amount, uint64_t bytes,
			  uint64_t n);

#endif
