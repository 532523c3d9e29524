/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is in a segment, by the DAT and by its logs; nothing is asked of the
 * SUFILE.
 */
#ifndef NILFS2_FSCK_USAGE_H
#define NILFS2_FSCK_USAGE_H

#include <stdint.h>

#include "base/bitmap.h"
#include "base/context.h"
#include "check/check.h"
#include "check/claims.h"
#include "vol/summary.h"
#include "vol/volume.h"

struct usage {
	struct volume *vol;		/* borrowed */
	const struct bitmap *which;	/* segments to be asked about */
	struct check facts;		/* only what claims.h needs */
	struct claims claims;
	struct summary summary;
};

/* Blocks are counted from the beginning of the segment. */
struct usage_facts {
	uint32_t nblocks;	/* of the sound logs at its beginning */
	uint64_t lastmod;	/* when the last of these was made; 0: none */
	uint32_t held;		/* blocks that the DAT names in it */
	uint32_t listed;	/* of these, named the same by these logs */
	uint32_t behind;	/* not listed, after these logs */
	uint32_t last;		/* one past the last of these */
};

/*
 * Gathers what the DAT of VOL names in the segments of WHICH (borrowed), as
 * far as the DAT can be read.  -ENOMEM, -EINTR.  usage_fini() also then, and
 * of one that is all zero.
 */
int usage_gather(struct usage *u, struct context *cx, struct volume *vol,
		 const struct bitmap *which);

/*
 * What is in SEGNUM, one of these, each to be asked about once.  A log is sound
 * whose summary can be read, that is part of a checkpoint, and not of a later
 * time than VOL's latest.  Where one ends at block EXPECTED and the DAT names
 * nothing after it, it was the last: logs of no checkpoint can follow.  Fails
 * where the checker cannot go on.
 */
int usage_of(struct usage *u, struct context *cx, uint64_t segnum,
	     uint32_t expected, struct usage_facts *facts);

void usage_fini(struct usage *u);

#endif
