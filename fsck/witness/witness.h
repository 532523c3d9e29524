/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Proof, by the checksum of a log, that blocks had a given content. */
#ifndef NILFS2_FSCK_WITNESS_H
#define NILFS2_FSCK_WITNESS_H

#include "check/logs/logbits.h"

/* All zero but logbits.dev and logbits.geo; freed with witness_fini(). */
struct witness {
	struct logbits logbits;
	bool known; /* logbits has the sums of a log */
	bool is_log;
};

struct witness_block {
	uint64_t blocknr;  /* in the log, after its summary */
	const void *bytes; /* a block */
};

/*
 * Whether the checksum of the log at PSEG matches once its blocks, N of them,
 * all different, are BLOCKS: then each has, bit for bit, what was written
 * there, but for a chance of 1 in 2^32.  1; 0 where it does not match, where no
 * log is there, a block is not in its payload or cannot be read; -EINTR,
 * -ENOMEM.  A log is read once as long as it is the one asked for; from then on
 * each question costs N blocks.  Nothing is written.
 */
int witness_proves(struct witness *w, struct context *cx, uint64_t pseg,
		   const struct witness_block *blocks, size_t n);

void witness_fini(struct witness *w);

#endif
