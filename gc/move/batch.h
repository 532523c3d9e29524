/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One batch: victims become clean segments with a new checkpoint.
 */
#ifndef NILFS2_GC_BATCH_H
#define NILFS2_GC_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/geometry.h"

struct load;
struct sums;
struct volume;

/* A volume that is to become another size (lib/log/resize.h). */
struct batch_size {
	struct nilfs_geometry g;
	uint64_t bytes;
};

struct batch_options {
	uint64_t time;		/* seconds, of the checkpoint */
	bool front;		/* to the lowest clean segments */
	bool fresh;		/* not after the latest log */
	/* On another device than the one that is read: there all is free. */
	bool elsewhere;
	bool next_taken;		/* the segment named as next is a victim */
	/*
	 * The log may use a victim: as tried before, only as the next segment,
	 * to which nothing is written.
	 */
	bool reuse;
	uint64_t end;		/* no segment from this one on is used; 0: any */
	const struct batch_size *size;	/* from now on; NULL: unchanged */
	bool minor;		/* unprotected minor checkpoints go */
	struct sums *sums;	/* of logs are verified first; NULL: they are not */
	bool forecast;		/* content of files is neither read nor written */
	/*
	 * Called with the number of blocks of the batch written so far, or
	 * NULL.
	 */
	void (*moved)(void *arg, uint64_t blocks);
	void *arg;
};

/* The result; counts add up over batches. */
struct batch_totals {
	uint64_t batches;
	uint64_t victims;	/* segments that became clean */
	uint64_t moved;		/* blocks */
	uint64_t moved_data;	/* of these, of files */
	uint64_t forgotten;	/* dead blocks whose numbers were freed */
	uint64_t corrected;	/* flipped bits in what was moved or rewritten */
	uint64_t written;	/* blocks written to the device */
	uint64_t summaries;	/* of these, the lists of logs */
	uint64_t checkpoints;	/* that are gone */
	uint64_t clean;		/* segments, after the last batch, */
	uint64_t segnum;	/* that its log ends in, */
	uint64_t rest;		/* and blocks after it */
	uint64_t before;	/* checkpoint that the last batch followed */
};

/*
 * Moves LOAD (sorted), and writes superblocks that name the result.  Until then
 * the volume is unchanged.  -EIO if a block cannot be read, -EUCLEAN if the
 * checksum of a log does not match: *BAD is its position (else 0).  -EAGAIN as
 * sums_judge(): the volume is to be opened again.  -EIO too if
 * the last batch of TOTALS was not written.  -ENOSPC, -EINTR, -ENOMEM.
 */
int batch_run(const struct load *load, struct context *cx, struct volume *vol,
	      const struct batch_options *options,
	      struct batch_totals *totals, uint64_t *bad);

/* Blocks that the logs of LOAD take, at most, and at least. */
uint64_t batch_need(const struct load *load);
uint64_t batch_least(const struct load *load);

#endif
