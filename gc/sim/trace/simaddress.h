/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The addresses of a trace as block numbers without gaps.
 *
 * Only written blocks get a number, in the order of their file and address; the
 * files of a volume follow each other.  So the size of a volume is the amount
 * of written blocks, regardless of their addresses, and neighbours stay
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

/* Adjacent blocks, some of which are written. */
struct simaddress_chunk {
	uint64_t written;	/* a bit each */
	uint32_t first;		/* number of the first one; once settled */
};

struct simaddress_place {
	uint64_t number;	/* of the chunk in its file */
	uint32_t file, chunk;
};

/* All zero is an empty map. */
struct simaddress {
	struct pairtable table;		/* file, number: chunk + 1 */
	struct simaddress_chunk *chunks;
	size_t nchunks, room;
	uint32_t last_file, last_chunk;	/* + 1; 0: none */
	uint64_t last_number;
	struct simaddress_place *places;	/* sorted; once settled */
};

/* A file: its volume and its size. */
struct simaddress_file {
	uint32_t volume;
	uint64_t end;		/* bytes, up to the last write */
};

void simaddress_fini(struct simaddress *a);

/* The memory that it uses, in bytes. */
uint64_t simaddress_bytes(const struct simaddress *a);

/*
 * Records that COUNT blocks of FILE from BLOCK on are written; *SLOT identifies
 * the first.  -ENOMEM, also if the whole map exceeds the memory budget.
 */
int simaddress_touch(struct simaddress *a, struct context *cx, uint32_t file,
		     uint64_t block, uint64_t count, uint64_t *slot);

/*
 * Assigns numbers to all blocks, and sets the number of BLOCKS of each volume,
 * at first 0.  With RAW, gaps are numbered too.  -EINVAL if a volume has 2^32 -
 * 1 blocks or more, -ENOMEM.  Afterwards the map does not change, so several
 * threads may use it.
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
 * The numbers of the written blocks among FILE's blocks FIRST ... LAST - 1:
 * they are consecutive (with RAW they may have gaps) from *BLOCK on.
 */
void simaddress_range(const struct simaddress *a, uint32_t file, uint64_t first,
		      uint64_t last, bool raw, uint64_t *block,
		      uint64_t *count);

#endif
