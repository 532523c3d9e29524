/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Placements: which log a block is written to.
 *
 * A placement has some logs for data, which are called classes.  It sees each
 * write of the user, each block that the cleaner moves, and each segment before
 * its blocks are moved.  Its times are blocks that the user has written, from 1
 * on.
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
struct simmidas;
struct simplace;

/* The most classes that there may be. */
#define SIMPLACE_CLASSES 64u

/* No write: the block stays as it is until the end. */
#define SIMPLACE_NEVER UINT32_MAX

/* Why a block is written. */
enum simplace_cause {
	SIMPLACE_USER,
	SIMPLACE_MOVED,
	SIMPLACE_PAST,	/* moved, for a snapshot or the protection period */
};

struct simplace_kind {
	const char *name;
	const char *summary;	/* one phrase */
	uint32_t classes;	/* of the data, by default */
	uint32_t least;		/* that may be asked for; 0: no other number */
	uint32_t most;		/* 0: SIMPLACE_CLASSES */
	bool users_log;		/* one more, the first, for what the user writes */
	/*
	 * The log for ID, of which the state is changed as well: to be called
	 * once for each block that is written.  NULL: always the first.
	 */
	unsigned int (*choose)(struct simvol *v, uint32_t id,
			       enum simplace_cause why);
	/* The blocks of SEGNUM will be moved; NULL: that does not matter. */
	void (*clean)(struct simvol *v, uint32_t segnum);
	bool levels, times, ahead;	/* what is kept of each block */
	/* What else is kept, of a volume that is open otherwise; or NULL. */
	int (*open)(struct simvol *v, struct context *cx);
	void (*close)(struct simplace *p);
	/* A victim that comes before those of a policy, or -1; or NULL. */
	int64_t (*victim)(struct simvol *v);
	/* Whether no policy may choose SEGNUM; or NULL. */
	bool (*guards)(const struct simvol *v, uint32_t segnum);
};

extern const struct simplace_kind simplace_list[];

/* The name of the I-th, or NULL past the last one. */
const char *simplace_word(size_t i);

/* By name, or NULL. */
const struct simplace_kind *simplace_find(const char *name);

/* Logs for data, with CLASSES of them, or 0: the default. */
uint32_t simplace_logs(const struct simplace_kind *kind, uint32_t classes);

/* Of a volume. */
struct simplace {
	const struct simplace_kind *kind;
	uint32_t classes;
	uint32_t logs;		/* for data; the next is that of metadata */
	uint8_t *levels;	/* by block */
	uint64_t *written;	/* by block: when, by the user; 0: before */
	uint32_t *next;		/* by block: when again, or NEVER */
	const uint32_t *ahead;	/* borrowed; by write: when again, or NEVER */
	/* Of sepbit: */
	double span;		/* mean life of segments of class 0 */
	double lives;		/* the sum of those since it was taken */
	uint32_t ended;		/* how many they are */
	uint64_t queue;		/* length of the queue of recent writes */
	bool was_short;		/* the victim is of class 0 */
	struct simmidas *midas;	/* of midas */
};

/*
 * For BLOCKS blocks of data.  CLASSES 0: the default.  -ENOMEM; to be closed
 * also then.
 */
int simplace_open(struct simplace *p, struct context *cx,
		  const struct simplace_kind *kind, uint32_t classes,
		  uint64_t blocks);
void simplace_close(struct simplace *p);

/* When each write is replaced, for placements that know the future. */
struct simahead {
	uint32_t *next;		/* by write: the one that replaces it, or the
				   number of those before a trim, or NEVER */
	size_t n, room;
	uint32_t *latest;	/* by block: the last write so far, or NEVER */
	uint32_t *first;	/* by block: the first one, or NEVER */
	uint64_t blocks;
};

/* For blocks 0 ... BLOCKS - 1.  -ENOMEM; to be closed also then. */
int simplace_ahead_open(struct simahead *a, struct context *cx,
			uint64_t blocks);
void simplace_ahead_close(struct simahead *a);

/* OP comes next.  -ENOMEM, -EINVAL: too many writes, no such block. */
int simplace_ahead_add(struct simahead *a, struct context *cx,
		       const struct simop *op);

/*
 * The placement midas: groups by how often a block was moved, each a queue of a
 * size that a model chooses.  See simchain.h for the publication.
 *
 * What it knows of V, which is as large as it will be; -ENOMEM.
 */
int simmidas_open(struct simvol *v, struct context *cx);
void simmidas_close(struct simplace *p);

unsigned int simmidas_choose(struct simvol *v, uint32_t id,
			     enum simplace_cause why);
void simmidas_clean(struct simvol *v, uint32_t segnum);

/* The first segment of a queue that is too long, or -1. */
int64_t simmidas_victim(struct simvol *v);

/* How many queues there are, and *SIZES, as they were chosen last. */
uint32_t simmidas_sizes(const struct simvol *v, struct simchain_sizes *sizes);

/* Whether SEGNUM is in a queue, where no policy may choose it. */
bool simmidas_guards(const struct simvol *v, uint32_t segnum);

#endif
