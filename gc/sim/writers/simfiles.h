/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that are created and deleted, with sizes and lifetimes.
 *
 * A file takes the next free blocks, wherever they are; it is deleted, and its
 * blocks trimmed, when its lifetime is over, counted in blocks written since, or
 * earlier where room is needed and no other file ends sooner.
 */
#ifndef NILFS2_GC_SIM_SIMFILES_H
#define NILFS2_GC_SIM_SIMFILES_H

#include <stdint.h>

#include "base/bitmap.h"
#include "base/context.h"
#include "gc/sim/writers/simdist.h"
#include "gc/sim/writers/simop.h"

/* A file that exists. */
struct simfiles_file {
	uint64_t end;		/* of its life, in blocks written */
	uint32_t first;		/* block; the others are in the chain */
};

/* All zero needs not be closed, and may be. */
struct simfiles {
	struct simdist size, lifetime;
	struct bitmap used;
	uint32_t *chain;	/* by block: the next one of the file, or NONE */
	struct simfiles_file *heap;	/* the one that ends first is on top */
	size_t nfiles;
	uint64_t data, free;	/* blocks */
	uint64_t cursor;	/* where room is looked for */
	uint64_t written;	/* blocks so far */
	uint64_t wanted;	/* blocks that the new file still gets */
	uint32_t first, last;	/* of the new file, or NONE */
	uint32_t doomed;	/* next block of the file that is deleted */
};

#define SIMFILES_NONE UINT32_MAX

/* No files in DATA blocks, fewer than 2^32 - 1.  -ENOMEM; to be closed. */
int simfiles_open(struct simfiles *f, struct context *cx, uint64_t data,
		  const struct simdist *size, const struct simdist *lifetime);
void simfiles_close(struct simfiles *f);

/* The next operation: a part of a file is written or trimmed. */
void simfiles_next(struct simfiles *f, struct simrandom *r, struct simop *op);

/* For a volume that is not empty: all blocks are of files. */
void simfiles_fill(struct simfiles *f, struct simrandom *r);

#endif
