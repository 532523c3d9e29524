/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Flipped bits of a log, found by its checksums. */
#ifndef NILFS2_CHECK_LOGBITS_H
#define NILFS2_CHECK_LOGBITS_H

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

	/* Of the last logbits_header(): */
	uint64_t pseg, start, bytes; /* the last two in bytes */
	struct nilfs_segment_summary ss; /* with its bits corrected */
	struct logbit bits[LOGBITS_MAX];
	unsigned int nbits;
	uint32_t difference; /* of ss_datasum and the blocks, by exclusive
				or, before anything but the summary was
				corrected */
	bool readable;	     /* every block of the log can be read, since it
				was summed up */
	bool whole;	     /* with these bits all its checksums match */
};

/*
 * Is there a log at block PSEG, with a summary that matches ss_sumsum after the
 * correction of at most one bit?  1, 0, -EINTR, -ENOMEM.  Fills lb->ss and
 * lb->bits, no more.
 */
int logbits_header(struct logbits *lb, struct context *cx, uint64_t pseg);

/* The first block from PSEG on that can be read and begins as a log does, but for a
   bit, or END.  After logbits_header(). */
uint64_t logbits_next(struct logbits *lb, struct context *cx, uint64_t pseg,
		      uint64_t end);

/* Sums up the log of logbits_header(): lb->difference and lb->readable. */
int logbits_sum(struct logbits *lb, struct context *cx);

/*
 * Sums up the log of logbits_header() and looks, where a sum does not match,
 * for the bit that explains it: 0, -EINTR, -ENOMEM.  Each bit in lb->bits has a
 * sum for proof: after its correction that sum matches, and no other bit would
 * make it match.  Nothing is written.
 */
int logbits_blocks(struct logbits *lb, struct context *cx);

/* Whether damage of another kind looks like the bits in lb->bits so rarely that they
   can be corrected without a question: in logs of up to 128 KiB. */
bool logbits_is_credible(const struct logbits *lb);

/*
 * Whether the damage of the log at block PSEG is in its summary alone, so that
 * all other blocks are what was written.  It has as many blocks as its header
 * says, or MOST, which are up to the next log.  1 and *NBLOCKS, or 0; -EINTR,
 * -ENOMEM.
 *
 * No matter how much of the summary is damaged, both sums show the same error,
 * and one follows from the other.  Only the sums themselves and ss_sumbytes
 * must be right; or ss_sumsum is what is wrong.  The chance that other damage
 * looks like this is 1 in 2^30.
 */
int logbits_payload(struct logbits *lb, struct context *cx, uint64_t pseg,
		    uint64_t most, uint64_t *nblocks);

/* Reads LEN bytes at OFF of the device, as dev_read(), the bits corrected. */
int logbits_read(const struct logbits *lb, struct context *cx, uint64_t off,
		 void *buf, size_t len);

/* Frees the buffer. */
void logbits_fini(struct logbits *lb);

#endif
