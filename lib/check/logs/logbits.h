/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Flipped bits of a log, found by its checksums. */
#ifndef NILFS2_CHECK_LOGBITS_H
#define NILFS2_CHECK_LOGBITS_H

#include "base/context.h"
#include "dev/dev.h"
#include "disk/geometry.h"
#include "disk/ondisk.h"

/* One in the summary, one in the super root, one elsewhere. */
#define LOGBITS_MAX 3

struct logbit {
	uint64_t byte;	  /* byte of the device */
	unsigned int bit; /* 0 is the lowest */
	/* Number of bits that the checksum covers: other damage looks like this
	   flip with a probability of POSITIONS / 2^32. */
	uint64_t positions;
};

/* Zeroed except for DEV and GEO, which are borrowed. */
struct logbits {
	struct dev *dev;
	const struct nilfs_geometry *geo;
	char *buf;

	uint64_t pseg, start, bytes; /* the last two in bytes */
	struct nilfs_segment_summary ss; /* with its bits corrected */
	struct logbit bits[LOGBITS_MAX];
	unsigned int nbits;
	uint32_t difference; /* stored ss_datasum XOR the computed one, with
			        only the summary corrected */
	bool readable;	     /* every block of the log can be read; valid
			        after it was summed up */
	bool whole;	     /* with these bits corrected, all its checksums match */
};

/*
 * Whether there is a log at block PSEG whose summary matches ss_sumsum after
 * the correction of at most one bit: 1, 0, -EINTR, -ENOMEM.  Fills only lb->ss
 * and lb->bits.
 */
int logbits_header(struct logbits *lb, struct context *cx, uint64_t pseg);

/* The first block from PSEG on that is readable and begins like a log, except
   for one bit; or END.  Call after logbits_header(). */
uint64_t logbits_next(struct logbits *lb, struct context *cx, uint64_t pseg,
		      uint64_t end);

/* Sums up the log of logbits_header(): lb->difference and lb->readable. */
int logbits_sum(struct logbits *lb, struct context *cx);

/*
 * Sums up the log of logbits_header() and, if a sum does not match, looks
 * for the bit that explains it: 0, -EINTR, -ENOMEM.  Each bit in lb->bits is proved
 * by a sum: the sum matches after its correction, and after that of no other
 * bit.  Nothing is written.
 */
int logbits_blocks(struct logbits *lb, struct context *cx);

/* Whether other damage is so unlikely to look like the bits in lb->bits that
   they can be corrected without asking: true for logs of up to 128 KiB. */
bool logbits_is_credible(const struct logbits *lb);

/*
 * Whether the damage of the log at block PSEG is in its summary alone, so that
 * all other blocks are as written.  Its number of blocks is that of its header,
 * or MOST, the distance to the next log.  1 and *NBLOCKS, or 0; -EINTR,
 * -ENOMEM.
 *
 * Any damage of the summary causes the same error in both sums, and one follows
 * from the other.  Only the sums themselves and ss_sumbytes must be right; or
 * ss_sumsum is wrong.  Other damage looks like this with a probability of 1 in
 * 2^30.
 */
int logbits_payload(struct logbits *lb, struct context *cx, uint64_t pseg,
		    uint64_t most, uint64_t *nblocks);

/* Reads LEN bytes at OFF of the device with the bits corrected, as dev_read(). */
int logbits_read(const struct logbits *lb, struct context *cx, uint64_t off,
		 void *buf, size_t len);

/* Frees the buffer. */
void logbits_fini(struct logbits *lb);

#endif
