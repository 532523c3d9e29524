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

/* The new size of a volume (lib/log/resize.h). */
struct batch_size {
	struct nilfs_geometry g;
	uint64_t bytes;
};

struct batch_options {
	uint64_t time;		/* seconds, of the checkpoint */
	bool front;		/* write to the lowest clean segments */
	bool fresh;		/* not after the latest log */
	/* Write to another device than is read, where all segments are free. */
	bool elsewhere;
	bool next_taken;		/* the segment named as next is a victim */
	/*
	 * The log may use a victim, only as the next segment, to which nothing
	 * is written; such a batch was tried before.
	 */
	bool reuse;
	uint64_t end;		/* first segment not to be used; 0: none */
	const struct batch_size *size;	/* the new size; NULL: unchanged */
	bool minor;		/* delete unprotected minor checkpoints */
	struct sums *sums;	/* verify logs of moved blocks; NULL: do not */
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
	uint64_t moved_data;	/* of these, blocks of files */
	uint64_t forgotten;	/* dead blocks whose numbers were freed */
	uint64_t corrected;	/* flipped bits in moved or rewritten blocks */
	uint64_t written;	/* blocks written to the device */
	uint64_t summaries;	/* of these, blocks of summaries */
	uint64_t checkpoints;	/* deleted */
	uint64_t clean;		/* clean segments after the last batch, */
	uint64_t segnum;	/* the segment in which its log ends, */
	uint64_t rest;		/* and the blocks after it there */
	uint64_t before;	/* checkpoint that the last batch followed */
};

/*
 * Moves LOAD (sorted), and writes superblocks that name the result.  Until then
 * the volume is unchanged.  -EIO if a block cannot be read, -EUCLEAN if the
 * checksum of a log does not match: *BAD is its position (else 0).  -EAGAIN as
 * sums_judge(): the volume is to be opened again.  -EIO also if the last batch
 * of TOTALS was not written.  -ENOSPC, -EINTR, -ENOMEM.
 */
int batch_run(const struct load *load, struct context *cx, struct volume *vol,
	      const struct batch_options *options,
	      struct batch_totals *totals, uint64_t *bad);

/* The maximum, and the minimum number of blocks in the logs of LOAD. */
uint64_t batch_need(const struct load *load);
uint64_t batch_least(const struct load *load);

#endif
