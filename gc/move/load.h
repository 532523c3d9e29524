/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The load of a batch: the blocks of its victims that have to be moved,
 * rewritten or freed.
 */
#ifndef NILFS2_GC_LOAD_H
#define NILFS2_GC_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "gc/plan/facts.h"
#include "log/move.h"
#include "log/tables/tally.h"

/* Blocks that are consecutive in every respect. */
struct load_run {
	struct move_run entry;
	uint64_t blocknr;	/* position of the first one */
	bool current;		/* in the latest checkpoint */
	uint32_t rank;		/* in the order in which files are written */
};

/* A block of metadata that the commit will rewrite. */
struct load_mark {
	uint64_t ino;
	unsigned int level;
	uint64_t key;
	uint64_t vblocknr;	/* present number; 0 in the DAT */
	uint64_t blocknr;	/* present position */
};

/* A log with blocks of the runs or marks. */
struct load_log {
	uint64_t pseg;			/* its first block */
	struct nilfs_segment_summary ss;
};

/*
 * COUNT dead blocks with consecutive numbers, each valid in the checkpoints
 * [start, end).
 */
struct load_dead {
	uint64_t vblocknr;	/* of the first one; the key for sorting */
	uint64_t count;
	uint64_t start, end;
};

/* The size of a load. */
struct load_size {
	size_t nruns, nmarks, ndead, nlogs, nvictims, ndat;
	uint64_t blocks, dead_blocks;	/* of all runs, and of the dead ones */
	uint64_t others;	/* marks of blocks outside the DAT */
};

struct load {
	const struct facts *facts;
	struct load_size has;
	struct load_run *runs;
	struct load_mark *marks;
	struct load_dead *dead;		/* runs */
	struct load_log *logs;
	uint64_t *victims;		/* segments */
	struct tally dat;	/* blocks of the DAT that moving changes, */
	uint64_t *dat_blocks;	/* in the order of adding */
	size_t runs_room, marks_room, dead_room, logs_room, victims_room,
		dat_room;
};

void load_init(struct load *l, const struct facts *facts);
void load_fini(struct load *l);

/*
 * Adds the blocks of S: 1; 0 and nothing changed if S must be skipped: younger
 * than a superblock's log, or (with the failure in CX) damaged.  Or a failure.
 */
int load_take(struct load *l, struct context *cx,
	      const struct policy_segment *s);

/*
 * The same for the segment of the latest log, if the batch begins in another
 * one and no superblock names that log afterwards.
 */
int load_take_latest(struct load *l, struct context *cx);

/* Removes the blocks added last; SIZE is the size before. */
void load_rewind(struct load *l, struct context *cx,
		 const struct load_size *size);

/*
 * Bytes of memory that it needs, including the metadata blocks that it changes;
 * these count twice, for the buffers of the commit.
 */
uint64_t load_bytes(const struct load *l);

/*
 * Whether that is more than a batch may use, half of CX's memory.  A single
 * victim never is too much, so that each can be moved.
 */
bool load_is_full(const struct load *l, const struct context *cx);

/* Sorts the blocks for writing: by rank, file and offset; or AS_IT_COMES. */
void load_sort(struct load *l, bool as_it_comes);

#endif
