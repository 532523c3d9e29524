/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One batch: victims become clean segments with one more checkpoint.
 */
#ifndef NILFS2_GC_BATCH_H
#define NILFS2_GC_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "gc/load.h"
#include "gc/sums.h"
#include "log/writer.h"

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
	bool next_anew;		/* the segment named as next is a victim */
	/*
	 * The log may take a victim: tried before, it names one as the segment
	 * that comes next, and writes to none.
	 */
	bool reuse;
	uint64_t end;		/* none from this segment on is taken; 0: any */
	const struct batch_size *size;	/* from now on; NULL: as it is */
	bool minor;		/* unprotected minor checkpoints go */
	struct sums *sums;	/* of logs are verified first; NULL: they are not */
	bool forecast;		/* content of files is neither read nor written */
	/* Told how many blocks of the batch have gone on their way, or NULL. */
	void (*moved)(void *arg, uint64_t blocks);
	void *arg;
};

/* What came of it; counts add up over batches. */
struct batch_totals {
	uint64_t batches;
	uint64_t victims;	/* segments that became clean */
	uint64_t moved;		/* blocks */
	uint64_t moved_data;	/* of these, of files */
	uint64_t forgotten;	/* dead blocks whose numbers are free again */
	uint64_t written;	/* blocks, all that goes to the device */
	uint64_t summaries;	/* of these, the lists of logs */
	uint64_t checkpoints;	/* that are gone */
	uint64_t clean;		/* segments, after the last batch, */
	uint64_t segnum;	/* that its log ends in, */
	uint64_t rest;		/* and blocks after it */
	uint64_t before;	/* checkpoint that the last batch followed */
};

/*
 * Moves LOAD (sorted) away, and writes superblocks that say so.  Until then
 * nothing has changed.  -EIO where a block cannot be read, -EUCLEAN where a log
 * does not match its checksum: *BAD is where that is (else 0).  -EIO too where
 * the last batch of TOTALS is not on the device.  -ENOSPC, -EINTR, -ENOMEM.
 */
int batch_run(const struct load *load, struct context *cx, struct volume *vol,
	      const struct batch_options *options,
	      struct batch_totals *totals, uint64_t *bad);

/* Blocks of LOAD that are written, be it in another place or again. */
uint64_t batch_blocks(const struct load *load);

/* Blocks that the logs of LOAD take, at most, and at least. */
uint64_t batch_need(const struct load *load);
uint64_t batch_least(const struct load *load);

#endif
