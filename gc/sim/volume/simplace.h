/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Placements: the log for each written block.
 *
 * A placement has some logs for data, which are called classes.  It is called
 * for each write of the user, each block that the cleaner moves, and each
 * segment before its blocks are moved.  Its times count blocks that the user
 * has written, from 1 on.
 */
#ifndef NILFS2_GC_SIM_SIMPLACE_H
#define NILFS2_GC_SIM_SIMPLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "gc/sim/writers/simop.h"

struct simvol;
struct simchain_sizes;
struct simclass;
struct simmidas;
struct simrange;
struct simresidual;
struct simplace;

/* The maximum number of classes. */
#define SIMPLACE_CLASSES 64u

/* No write: the block stays unchanged until the end. */
#define SIMPLACE_NEVER UINT32_MAX

/* The cause of a write. */
enum simplace_cause {
	SIMPLACE_USER,
	SIMPLACE_MOVED,
	SIMPLACE_HELD,	/* moved, for a snapshot or the protection period */
};

struct simplace_kind {
	const char *name;
	const char *summary;	/* one phrase */
	uint32_t classes;	/* of the data, by default */
	uint32_t least;		/* minimum requested; 0: not configurable */
	uint32_t most;		/* 0: SIMPLACE_CLASSES */
	uint32_t ends_few;	/* logs that end before a step does; 0: all */
	bool users_log;		/* a first, additional one for the user's writes */
	/*
	 * The log for ID; also changes the state, so it is called exactly once
	 * for each written block.  NULL: always the first.
	 */
	unsigned int (*choose)(struct simvol *v, uint32_t id,
			       enum simplace_cause why);
	/* Before the user writes COUNT blocks from FIRST on; or NULL. */
	void (*ask)(struct simvol *v, uint64_t first, uint64_t count);
	/* The user no longer needs ID, which is in its place; or NULL. */
	void (*forget)(struct simvol *v, uint32_t id);
	/*
	 * Of simclass_choose(): the class by the state of a block, 0 if it has
	 * none, which it changes.
	 */
	unsigned int (*classify)(struct simvol *v, uint64_t *word, bool moved);
	uint32_t range_blocks;	/* in a range of simrange.c; 0: none */
	/* The blocks of SEGNUM will be moved; or NULL. */
	void (*clean)(struct simvol *v, uint32_t segnum);
	bool levels, times, ahead;	/* data kept for each block */
	bool words;		/* four bytes for each block, by open() */
	/* Further state, for a volume that is otherwise open; or NULL. */
	int (*open)(struct simvol *v, struct context *cx);
	void (*close)(struct simplace *p);
	/* A victim that precedes those of a policy, or -1; or NULL. */
	int64_t (*victim)(struct simvol *v);
	/* Whether policies may not choose SEGNUM; or NULL. */
	bool (*guards)(const struct simvol *v, uint32_t segnum);
};

extern const struct simplace_kind simplace_list[];

/* The name of the I-th placement, or NULL after the last one. */
const char *simplace_word(size_t i);

/* The placement of that name, or NULL. */
const struct simplace_kind *simplace_find(const char *name);

/* The number of logs for data with CLASSES, 0: the default. */
static inline uint32_t simplace_logs(const struct simplace_kind *kind,
				     uint32_t classes)
{
	return (classes ? classes : kind->classes) + kind->users_log;
}

/* The level of a block that was never written. */
#define SIMPLACE_LEVEL_NONE UINT8_MAX

/* The placement of a volume. */
struct simplace {
	const struct simplace_kind *kind;
	uint32_t classes;
	uint32_t logs;		/* for data; the next is that of metadata */
	uint8_t *levels;	/* by block */
	/* By block: time of the user's write, 0: before; or a state. */
	uint64_t *written;
	uint32_t *next;		/* by block: time of the next write, or NEVER */
	const uint32_t *ahead;	/* borrowed; by write: time of the next, or NEVER */
	/* Of sepbit: */
	double span;		/* mean lifetime of segments of class 0 */
	double lives;		/* sum of lifetimes since the mean was set */
	uint32_t ended;		/* number of these segments */
	uint64_t queue;		/* length of the queue of recent writes */
	bool was_short;		/* the victim is of class 0 */
	struct simmidas *midas;	/* of midas */
	struct simclass *class;	/* of simclass.c */
	struct simrange *range;	/* of simrange.c */
	struct simresidual *residual;	/* of simresidual.c */
};

/* The replacement time of each write, for placements that know the future. */
struct simahead {
	uint32_t *next;		/* by write: its replacement, the number of
				   writes before a trim, or NEVER */
	size_t n, room;
	uint32_t *latest;	/* by block: the last write so far, or NEVER */
	uint32_t *first;	/* by block: the first one, or NEVER */
	uint64_t blocks;
};

/* For blocks 0 ... BLOCKS - 1.  -ENOMEM; to be closed also then. */
int simplace_ahead_open(struct simahead *a, struct context *cx,
			uint64_t blocks);
void simplace_ahead_close(struct simahead *a);

/*
 * Adds OP as the next operation.  -ENOMEM, -EINVAL: too many writes, no such
 * block.
 */
int simplace_ahead_add(struct simahead *a, struct context *cx,
		       const struct simop *op);

/*
 * The placement midas: groups by how often a block was moved, each a queue of a
 * size that a model chooses.  See simchain.h for the publication.
 *
 * simmidas_open() sets up its state for V of the final size; -ENOMEM.
 */
int simmidas_open(struct simvol *v, struct context *cx);
void simmidas_close(struct simplace *p);

unsigned int simmidas_choose(struct simvol *v, uint32_t id,
			     enum simplace_cause why);
void simmidas_clean(struct simvol *v, uint32_t segnum);

/* The first segment of a queue that is too long, or -1. */
int64_t simmidas_victim(struct simvol *v);

/* The number of queues, and *SIZES, as chosen last. */
uint32_t simmidas_sizes(const struct simvol *v, struct simchain_sizes *sizes);

/* Whether SEGNUM is in a queue, from which policies may not choose. */
bool simmidas_guards(const struct simvol *v, uint32_t segnum);

#endif
