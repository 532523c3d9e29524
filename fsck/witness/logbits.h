/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flipped bits of a log, found by its checksums. */
#ifndef NILFS2_FSCK_LOGBITS_H
#define NILFS2_FSCK_LOGBITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"
#include "disk/geometry.h"
#include "disk/ondisk.h"

/* One in the summary, one in the super root, one in the rest. */
#define LOGBITS_MAX 3

struct logbit {
	uint64_t byte;	  /* of the device */
	unsigned int bit; /* 0 is the lowest */
	/* Bits that the checksum covers: the chance that damage of another
	   kind looks like this flip is POSITIONS / 2^32. */
	uint64_t positions;
};

/* All zero but DEV and GEO, which are borrowed. */
struct logbits {
	struct dev *dev;
	const struct nilfs_geometry *geo;
	char *buf;

	/* Of the last logbits_solve() or logbits_header(): */
	uint64_t pseg;
	struct nilfs_segment_summary ss; /* with its bits corrected */
	struct logbit bits[LOGBITS_MAX];
	unsigned int nbits;
	uint32_t difference; /* of ss_datasum and the blocks, by exclusive
				or, before anything but the summary was
				corrected */
	bool readable;	     /* every block of the log can be read */
	bool whole;	     /* with these bits all its checksums match */
};

/*
 * Is there a log at block PSEG, with a summary that matches ss_sumsum after the
 * correction of at most one bit?  1, 0, -EINTR, -ENOMEM.  Fills lb->ss and
 * lb->bits, no more.
 */
int logbits_header(struct logbits *lb, struct context *cx, uint64_t pseg);

/*
 * The same, and sums up all its blocks: 1, 0 where there is no log, -EINTR,
 * -ENOMEM.  If a sum does not match, a bit of the part that it covers that
 * explains it is looked for; what is found stands in lb->bits, and has a sum
 * for proof each: after its correction that sum matches, and no other bit's
 * would make it.  Nothing is written.
 */
int logbits_solve(struct logbits *lb, struct context *cx, uint64_t pseg);

/* Sums up the log of logbits_header(): lb->difference and lb->readable. */
int logbits_sum(struct logbits *lb, struct context *cx);

/* Frees the buffer. */
void logbits_fini(struct logbits *lb);

#endif
