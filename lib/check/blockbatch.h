/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading blocks of files, many at a time and in order, bypassing the cache. */
#ifndef NILFS2_CHECK_BLOCKBATCH_H
#define NILFS2_CHECK_BLOCKBATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "base/pool.h"
#include "vol/volume.h"

struct blockbatch_item {
	uint64_t owner;		/* the caller's */
	uint64_t blkoff;	/* block of the file */
	uint64_t vblocknr, blocknr;
	/* Of the batch: the item that is this one by place on the disk; the failure
	   to read it. */
	uint32_t order;
	int err;
};

/* Called for each block added, in order.  DATA is NULL if it cannot be read;
   the failure is then ERR and CX has its text. */
typedef int blockbatch_take(void *arg, struct context *cx,
			    const struct blockbatch_item *item,
			    const void *data, int err);

/* Half of the blocks: one is read while the other is taken. */
struct blockbatch_half {
	struct volume *vol;
	char *buf;
	size_t buf_bytes;	/* and more after it, for what is dropped */
	struct blockbatch_item *items;
	uint32_t count;
};

struct blockbatch {
	blockbatch_take *take;
	void *arg;
	struct blockbatch_half halves[2];
	unsigned int filling;	/* half that is added to */
	uint32_t room;		/* of each half */
	struct pool *pool;	/* that reads; NULL until a half was full */
	unsigned int reading;	/* halves */
};

/* -ENOMEM.  blockbatch_close() also then, or where all is zero. */
int blockbatch_open(struct blockbatch *b, struct context *cx,
		    struct volume *vol, blockbatch_take *take, void *arg);
void blockbatch_close(struct blockbatch *b);

/* Adds one; may take all that were added before.  What take() fails with. */
int blockbatch_add(struct blockbatch *b, struct context *cx,
		   const struct blockbatch_item *item);

/* What a map was found to have. */
struct blockbatch_map {
	uint64_t found;		/* blocks that were added, or have no place */
	uint64_t end;		/* one past the last of these */
	bool more;		/* there are some past those asked for */
	bool broken;		/* part of it cannot be read */
};

/*
 * Adds the blocks of MAP below END, with OWNER, and says in *FOUND which these
 * are.  What breaks the map is no failure; fails as blockbatch_add(), -ENOMEM,
 * -EINTR.
 */
int blockbatch_add_map(struct blockbatch *b, struct context *cx,
		       const struct blockmap *map, uint64_t owner,
		       uint64_t end, struct blockbatch_map *found);

/* Takes all that were added. */
int blockbatch_flush(struct blockbatch *b, struct context *cx);

#endif
