/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Proof by checksum: that blocks of a log had a given content, and which bit of a
 * superblock is wrong.
 */
#ifndef NILFS2_FSCK_WITNESS_H
#define NILFS2_FSCK_WITNESS_H

#include <stdbool.h>

#include "base/context.h"
#include "check/logs/logbits.h"
#include "check/pass/passes.h"
#include "disk/super.h"

/* All zero but logbits.dev and logbits.geo; freed with witness_fini(). */
struct witness {
	struct logbits logbits;
	bool known; /* it was asked about the log at logbits.pseg */
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

struct witness_supers {
	uint64_t offset[2];		  /* bytes of the device; 0: no copy */
	struct nilfs_super_block copy[2]; /* with the bit corrected */
	bool valid[2];
	/* The byte of the copy, and the bit in it, that is wrong; -1: none. */
	int byte[2], bit[2];
	/* The copy that counts as corrected, and the layout of the volume by it;
	   -1 where neither says where all segments are. */
	int choice;
	struct nilfs_geometry geo;
};

/*
 * Reads both superblocks of DEV.  One that is not valid is corrected if there
 * is just one bit whose flip makes it valid.
 */
void witness_supers(struct witness_supers *s, struct context *cx,
		    struct dev *dev);

/*
 * Flipped bits that checksums show, where the passes have found damage, or
 * logs may be missing after a crash; after all of them, open or not.
 */
pass_run witness_search;

#endif
