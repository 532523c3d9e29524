/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading blocks of files in batches and in disk order, bypassing the cache. */
#ifndef NILFS2_CHECK_BLOCKBATCH_H
#define NILFS2_CHECK_BLOCKBATCH_H

#include "base/context.h"
#include "base/pool.h"
#include "vol/volume.h"

struct blockbatch_item {
	uint64_t owner;		/* set and used by the caller */
	uint64_t blkoff;	/* block of the file */
	uint64_t vblocknr, blocknr;
	/* Used by the batch: index of the item at this position in disk order;
	   error of reading this item. */
	uint32_t order;
	int err;
};

/* Called for each block added, in order.  DATA is NULL if it cannot be read;
   the failure is then ERR and CX has its text. */
typedef int blockbatch_take(void *arg, struct context *cx,
			    const struct blockbatch_item *item,
			    const void *data, int err);

/* Half of the blocks: one half is read while the other is processed. */
struct blockbatch_half {
	struct volume *vol;
	char *buf;
	size_t buf_bytes;	/* without the room after it for gaps */
	struct blockbatch_item *items;
	uint32_t count;
};

struct blockbatch {
	blockbatch_take *take;
	void *arg;
	struct blockbatch_half halves[2];
	unsigned int filling;	/* index of the half that receives blocks */
	uint32_t room;		/* of each half */
	struct pool *pool;	/* reads halves; NULL until a half was full */
	unsigned int reading;	/* halves being read */
};

/* -ENOMEM.  Call blockbatch_close() also after a failure, or if all is zero. */
int blockbatch_open(struct blockbatch *b, struct context *cx,
		    struct volume *vol, blockbatch_take *take, void *arg);
void blockbatch_close(struct blockbatch *b);

/* Adds a block; may process the blocks added before.  Fails as take() does. */
int blockbatch_add(struct blockbatch *b, struct context *cx,
		   const struct blockbatch_item *item);

/* The blocks of a map. */
struct blockbatch_map {
	uint64_t found;		/* blocks added, and blocks without a place */
	uint64_t end;		/* one past the last of these */
	bool more;		/* there are blocks at END or later */
	bool broken;		/* part of the map cannot be read */
};

/*
 * Adds the blocks of MAP below the argument END, with OWNER, and describes them
 * in *FOUND.  A broken map is not a failure.  Fails as blockbatch_add(), or
 * with -ENOMEM or -EINTR.
 */
int blockbatch_add_map(struct blockbatch *b, struct context *cx,
		       const struct blockmap *map, uint64_t owner,
		       uint64_t end, struct blockbatch_map *found);

/* Processes all blocks that were added. */
int blockbatch_flush(struct blockbatch *b, struct context *cx);

#endif
