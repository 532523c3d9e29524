/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Entries of the DAT as runs.
 *
 * Files are mostly written in one piece, so entries that follow one another
 * have blocks that do, and the same life: a few runs stand for a block of them.
 * After the pass over the DAT most of it need not be read again.
 */
#ifndef NILFS2_CHECK_DATRUNS_H
#define NILFS2_CHECK_DATRUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/palloc.h"
#include "vol/datscan.h"

/* COUNT entries from NUMBER on; with STEP each has the block after the last. */
struct datrun {
	uint64_t number : 48, count : 16;
	uint64_t blocknr : 48, life : 15, step : 1;
};

struct datrun_life {
	uint64_t start, end;
};

/* What one worker found: all of a group of the allocator, or nothing. */
struct datruns_part {
	struct datrun *list;		/* by number, in the end */
	struct datrun_life *lives;	/* of runs; an index */
	size_t n, room, nlives, lives_room;
};

struct datruns {
	struct datruns_part *parts;
	unsigned int nparts;
	uint64_t bytes;			/* that the list of a part may take */
};

/*
 * Begins with no runs, for WORKERS that add some; all of them take at most BYTES
 * and a little.  -ENOMEM.
 */
int datruns_begin(struct datruns *r, struct context *cx, unsigned int workers,
		  uint64_t bytes);

/* Adds the runs of BLOCK that are worth it, as far as there is room for them. */
void datruns_add(struct datruns *r, unsigned int worker,
		 const struct datscan_block *block);

/* After the last datruns_add(): R can be asked, by many threads. */
void datruns_finish(struct datruns *r);

void datruns_fini(struct datruns *r);

/*
 * Writes the entries of block WHAT of the DAT, whose allocator is PALLOC, to BUF,
 * as the block has them: false where not all are known.
 */
bool datruns_expand(const struct datruns *r, const struct palloc *palloc,
		    const struct palloc_block *what, char *buf);

#endif
