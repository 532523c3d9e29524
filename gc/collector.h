/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The collector: looks at the volume, gathers victims, moves them away.
 *
 * Whoever frees segments chooses; what is the same for all of them is here.  A
 * round is collector_open(), some collector_add(), collector_move() and
 * collector_close(); each looks at the volume again.
 */
#ifndef NILFS2_GC_COLLECTOR_H
#define NILFS2_GC_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"
#include "gc/batch.h"
#include "gc/facts.h"
#include "gc/load.h"
#include "gc/order.h"

struct collector_options {
	uint64_t protect;	/* period, seconds */
	struct batch_options batch;
	const struct order *order;	/* NULL: by file and offset */
	/* A segment that is left alone is told, with the reason; or NULL. */
	void (*left)(void *arg, uint64_t segnum, const char *why);
	/* Told that MOVED of TO_MOVE blocks, an estimate, are done; or NULL. */
	void (*moving)(void *arg, uint64_t moved, uint64_t to_move);
	void *arg;
};

struct collector {
	const struct collector_options *o;	/* borrowed */
	struct dev *dev;			/* borrowed */
	bool full;		/* what was to be added last did not fit */
	bool settled;		/* zones of clean segments are empty */
	struct batch_totals totals;
	uint64_t *bad;		/* segments that are left alone, ascending */
	size_t nbad, bad_room;
	bool whole;		/* all segments are candidates */
	bool unbounded;		/* a batch may take more than its memory */
	bool reuse;		/* as of struct batch_options, whose it is */
	uint64_t moved, to_move;	/* blocks, for who watches */
	/* Of a round: */
	struct volume *vol;
	struct facts facts;
	struct load load;
};

void collector_init(struct collector *k, struct dev *dev,
		    const struct collector_options *options);

/*
 * Begins a round; to be closed also after a failure.  -EUCLEAN where the volume
 * must be recovered or repaired first, -EIO, -ENOMEM.
 */
int collector_open(struct collector *k, struct context *cx);

/*
 * Empties the zones that an earlier run has left, as the first round does: for
 * whom there may be none but rehearsals.  Fails as collector_open().
 */
int collector_settle(struct collector *k, struct context *cx);

/* Blocks that a batch may write before no clean segment is left. */
uint64_t collector_room(const struct collector *k);

/*
 * Adds S where the batch fits into ROOM blocks then: 1; 0 where it does not,
 * or S is left alone.  Or a failure.
 */
int collector_add(struct collector *k, struct context *cx,
		  const struct policy_segment *s, uint64_t room);

/* Sorts the load as collector_move() will. */
void collector_sort(struct collector *k);

/* Whether SEGNUM is left alone. */
bool collector_is_bad(const struct collector *k, uint64_t segnum);

/* Clean segments that the batch would bring, less those it takes, at least. */
uint64_t collector_gain(const struct collector *k);

/*
 * Moves what was added, by BATCH, in the order of the load: 0, or a failure.
 * Where something cannot be read its segment is left alone, nothing is done,
 * and that is no failure.
 */
int collector_move(struct collector *k, struct context *cx,
		   const struct batch_options *batch);

/*
 * What collector_move() would come to, by the batch of K's options: *ROOM is
 * that of the next round, 0 where there is none for it, or a segment of it is
 * left alone from now on, and *SEGNUM where its log would end.  Nothing is
 * changed but the order of the load.
 */
int collector_try(struct collector *k, struct context *cx, uint64_t *room,
		  uint64_t *segnum);

void collector_close(struct collector *k);

/*
 * Has ACT do rounds on an overlay that is dropped then, without the content of
 * what is moved: returns what ACT does.  Afterwards nothing has happened, but
 * what had to be left alone will be left alone.
 */
int collector_rehearse(struct collector *k, struct context *cx,
		       int (*act)(void *arg, struct context *cx), void *arg);

/*
 * After the last round: segments that were left alone are marked as erroneous,
 * with one more log.  Fails as segerror_segments().
 */
int collector_finish(struct collector *k, struct context *cx);

void collector_fini(struct collector *k);

#endif
