/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Proof by checksum that blocks of a log had a given content, and the search
 * for the wrong bit of a superblock.
 */
#ifndef NILFS2_FSCK_WITNESS_H
#define NILFS2_FSCK_WITNESS_H

#include "check/logs/logbits.h"
#include "check/pass/passes.h"

/* Zeroed except for logbits.dev and logbits.geo; freed with witness_fini(). */
struct witness {
	struct logbits logbits;
	bool known; /* the log at logbits.pseg was read */
};

struct witness_block {
	uint64_t blocknr;  /* in the log, after its summary */
	const void *bytes; /* content, a block */
};

/*
 * Whether the checksum of the log at PSEG matches if its N different blocks are
 * replaced by BLOCKS: then they equal, bit for bit, what was written there,
 * except with a probability of 1 in 2^32.  1; 0 if it does not match, if there
 * is no log, or if a block is not in its payload or cannot be read; -EINTR,
 * -ENOMEM.  A log is read once for consecutive calls; each further call costs N
 * blocks.  Nothing is written.
 */
int witness_proves(struct witness *w, struct context *cx, uint64_t pseg,
		   const struct witness_block *blocks, size_t n);

void witness_fini(struct witness *w);

struct witness_supers {
	uint64_t offset[2];		  /* on the device, in bytes; 0: no copy */
	struct nilfs_super_block copy[2]; /* with the bit corrected */
	bool valid[2];
	/* The wrong byte of the copy, and the bit in it; -1: none. */
	int byte[2], bit[2];
	/* The valid or corrected copy that is used, and its layout of the
	   volume; -1 if neither has a valid layout. */
	int choice;
	struct nilfs_geometry geo;
};

/*
 * Reads both superblocks of DEV.  An invalid copy is corrected if exactly one
 * bit makes it valid.
 */
void witness_supers(struct witness_supers *s, struct context *cx,
		    struct dev *dev);

/*
 * Searches for flipped bits if the passes have found damage, or if logs may be
 * missing after a crash.  Runs after all passes, also if the volume is not
 * open.
 */
pass_run witness_search;

/*
 * Verifies the logs that the releases of C depend on, as witness_search() does,
 * for those that only a repair revealed: a check of the result would report
 * them.
 */
pass_run witness_verify;

#endif
