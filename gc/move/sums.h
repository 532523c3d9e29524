/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Verifying the checksums of logs whose blocks are moved. */
#ifndef NILFS2_GC_SUMS_H
#define NILFS2_GC_SUMS_H

#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"

struct load;

/* The logs verified by a run, for all of its jobs. */
struct sums {
	struct dev *dev;	/* borrowed; what a forecast writes is not on it */
	uint16_t *good;		/* of each segment: logs that were found right */
	uint64_t ngood;		/* segments, as many as the volume ever had */
};

/* All zero can be freed, too. */
void sums_fini(struct sums *s);

/*
 * Verifies all logs with blocks that LOAD moves, unless that was done before,
 * on all workers.  -EUCLEAN if one does not match: *BAD is its first block
 * (else 0), and the text names the files with blocks there.  A log with a block
 * that cannot be read passes, and so does one that was written meanwhile.
 * -ENOMEM, -EINTR.
 */
int sums_check(struct sums *s, struct context *cx, const struct load *load,
	       uint64_t *bad);

/*
 * The victims of LOAD are free: what is written there next is to be verified.
 */
void sums_forget(struct sums *s, const struct load *load);

#endif
