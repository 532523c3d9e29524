/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The addresses of a trace as numbers of blocks without gaps.
 *
 * Only blocks that are ever written get a number, in the order of their file
 * and address; the files of a volume follow each other.  So a volume is as
 * large as what is written to it, wherever that is, and neighbours stay
 * neighbours.
 */
#ifndef NILFS2_GC_SIM_SIMADDRESS_H
#define NILFS2_GC_SIM_SIMADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "base/pairtable.h"

#define SIMADDRESS_CHUNK 64u	/* blocks */

/* Blocks next to each other, of which some are written. */
struct simaddress_chunk {
	uint64_t written;	/* a bit each */
	uint32_t first;		/* number of the first one; once settled */
};

struct simaddress_place {
	uint64_t number;	/* of the chunk in its file */
	uint32_t file, chunk;
};

/* All zero is the empty map. */
struct simaddress {
	struct pairtable table;		/* file, number: chunk + 1 */
	struct simaddress_chunk *chunks;
	size_t nchunks, room;
	uint32_t last_file, last_chunk;	/* + 1; 0: none */
	uint64_t last_number;
	struct simaddress_place *places;	/* sorted; once settled */
};

/* A file: of which volume, and how much of it. */
struct simaddress_file {
	uint32_t volume;
	uint64_t end;		/* bytes, as far as it is written */
};

void simaddress_fini(struct simaddress *a);

/* What it takes of memory. */
uint64_t simaddress_bytes(const struct simaddress *a);

/*
 * COUNT blocks of FILE from BLOCK on are written: *SLOT identifies the first.
 * -ENOMEM, also where the whole map is more than the memory budget.
 */
int simaddress_touch(struct simaddress *a, struct context *cx, uint32_t file,
		     uint64_t block, uint64_t count, uint64_t *slot);

/*
 * Gives all blocks their numbers, and each of the volumes its number of BLOCKS,
 * which begin as 0.  With RAW, gaps are numbered too.  -EINVAL where a volume
 * has 2^32 - 1 blocks or more, -ENOMEM.  Afterwards nothing changes, so that
 * several threads may ask.
 */
int simaddress_settle(struct simaddress *a, struct context *cx,
		      const struct simaddress_file *files, size_t nfiles,
		      bool raw, uint32_t block_size, uint64_t *blocks);

/* The number of the block of SLOT. */
static inline uint32_t simaddress_block(const struct simaddress *a,
					uint64_t slot, bool raw)
{
	const struct simaddress_chunk *c =
		&a->chunks[slot / SIMADDRESS_CHUNK];
	unsigned int bit = slot % SIMADDRESS_CHUNK;
	uint64_t before = (UINT64_C(1) << bit) - 1;

	if (raw)
		return c->first + bit;
	return c->first + (uint32_t)__builtin_popcountll(c->written & before);
}

/*
 * The numbers of what is ever written of FILE's blocks FIRST ... LAST - 1: they
 * follow each other (with RAW they may have gaps) from *BLOCK on.
 */
void simaddress_range(const struct simaddress *a, uint32_t file, uint64_t first,
		      uint64_t last, bool raw, uint64_t *block,
		      uint64_t *count);

#endif
