/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The collector: collects victims and moves their live blocks.
 *
 * It is the common part of all jobs that free segments; these choose the
 * victims.  A round is collector_open(), some collector_add(), collector_move()
 * and collector_close(); each round opens the volume again.
 */
#ifndef NILFS2_GC_COLLECTOR_H
#define NILFS2_GC_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"
#include "gc/move/batch.h"
#include "gc/move/load.h"
#include "gc/move/order.h"
#include "gc/plan/facts.h"

struct collector_options {
	uint64_t protect;	/* period, seconds */
	struct batch_options batch;
	const struct order *order;	/* NULL: by file and offset */
	/* Called for a segment that is skipped, with the reason; or NULL. */
	void (*left)(void *arg, uint64_t segnum, const char *why);
	/*
	 * Called when MOVED of TO_MOVE blocks, an estimate, are done; or NULL.
	 */
	void (*moving)(void *arg, uint64_t moved, uint64_t to_move);
	/*
	 * Called before the first batch is written: it, and those after it, may delete
	 * the N plain checkpoints CNOS, ascending, of which there is at least one; or
	 * NULL.
	 */
	void (*deleting)(void *arg, const uint64_t *cnos, size_t n);
	void *arg;
};

struct collector {
	const struct collector_options *o;	/* borrowed */
	struct dev *dev;			/* borrowed */
	bool full;		/* the victim added last did not fit */
	bool settled;		/* zones of clean segments are empty */
	bool announced;		/* checkpoints that may be deleted */
	/*
	 * Maximum need of a batch, in blocks as of batch_need(), after a batch
	 * found less room than that; 0: unlimited.
	 */
	uint64_t most;
	struct batch_totals totals;
	uint64_t *bad;		/* skipped segments, ascending */
	size_t nbad, bad_room;
	uint64_t *failing;	/* of these, those to be marked as erroneous */
	size_t nfailing, failing_room;
	bool whole;		/* all segments are candidates */
	bool unbounded;		/* a batch may take more than its memory */
	bool reuse;		/* as in struct batch_options */
	uint64_t moved, to_move;	/* blocks, for progress */
	struct facts_kept kept;	/* from the last round */
	/* Of a round: */
	struct volume *vol;
	struct facts facts;
	struct load load;
	size_t sated;		/* number of victims that filled memory, or 0 */
	bool stale;		/* a flipped bit was corrected after it was read */
	bool again;		/* nothing was moved: choose again, or less */
};

void collector_init(struct collector *k, struct dev *dev,
		    const struct collector_options *options);

/*
 * Begins a round; to be closed also after a failure.  -EUCLEAN if the volume
 * must be recovered or repaired first, -EIO, -ENOMEM.
 */
int collector_open(struct collector *k, struct context *cx);

/*
 * Resets the zones that an earlier run has left, as the first round does: for
 * callers that may only rehearse.  Fails as collector_open().
 */
int collector_settle(struct collector *k, struct context *cx);

/* Blocks that a batch may write before no clean segment is left. */
uint64_t collector_room(const struct collector *k);

/*
 * Adds S if the batch then fits into ROOM blocks: 1; 0 if it does not, or S is
 * skipped.  Or a failure.  Once memory or k->most is full nothing is added
 * (collector_is_sated()): a large volume has many candidates, and finding that
 * one does not fit requires reading it.
 */
int collector_add(struct collector *k, struct context *cx,
		  const struct policy_segment *s, uint64_t room);

/* Whether the batch has as many victims as when memory or k->most was last full. */
bool collector_is_sated(const struct collector *k);

/* Sorts the load as collector_move() will. */
void collector_sort(struct collector *k);

/* Whether SEGNUM is skipped. */
bool collector_is_bad(const struct collector *k, uint64_t segnum);

/*
 * Lower bound of the clean segments that the batch gains, less those that it
 * uses.
 */
uint64_t collector_gain(const struct collector *k);

/*
 * Moves the added victims, by BATCH, in the order of the load: 0, or a failure.
 * Three cases are no failures, although nothing is moved.  A segment with a
 * block that cannot be read, or with a log that does not match its checksum, is
 * skipped.  If the checksum identifies a flipped bit, the next round reads it
 * corrected.  If clean segments do not suffice for several victims, the next
 * round can have half as much.  -ENOSPC, with a remedy in the text, if they do
 * not suffice for one.
 */
int collector_move(struct collector *k, struct context *cx,
		   const struct batch_options *batch);

/*
 * Forecasts the result of collector_move() with K's options: *ROOM is that of
 * the next round, 0 if there is no room for the batch or a segment of it is
 * skipped from now on, and *SEGNUM is the segment in which its log would end.
 * Only the order of the load changes.  -EAGAIN if a flipped bit was found, and
 * a new round is needed.
 */
int collector_try(struct collector *k, struct context *cx, uint64_t *room,
		  uint64_t *segnum);

void collector_close(struct collector *k);

/*
 * Runs ACT, which does rounds, on an overlay that is then dropped, without the
 * content of moved blocks: returns the result of ACT.  Nothing is changed, but
 * segments that ACT skipped stay skipped.
 */
int collector_rehearse(struct collector *k, struct context *cx,
		       int (*act)(void *arg, struct context *cx), void *arg);

/*
 * After the last round: marks skipped segments as erroneous with one more log,
 * except those whose only fault is a log that does not match its checksum.
 * Fails as volume_open() and onelog_append().
 */
int collector_finish(struct collector *k, struct context *cx);

void collector_fini(struct collector *k);

#endif
