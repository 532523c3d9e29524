/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts: the counts and times of each segment that could be cleaned.
 */
#ifndef NILFS2_GC_FACTS_H
#define NILFS2_GC_FACTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/bitmap.h"
#include "base/context.h"
#include "gc/plan/policy.h"
#include "gc/plan/zoning.h"
#include "vol/liveness.h"
#include "vol/recovery.h"

struct facts_how;
struct volume;

struct facts {
	struct volume *vol;		/* borrowed */
	struct liveness *liveness;
	uint32_t latest_live;	/* of the latest log's segment */
	struct policy_segment *segments;	/* candidates, by number */
	size_t n, room;
	struct bitmap used;	/* segments that are not clean */
	struct policy_env env;
	uint64_t clean;			/* segments */
	uint64_t protect_cno;		/* of the protection period */
	struct zoning zones;
	const struct facts_how *how;	/* while they are gathered */
	bool whole;		/* candidates are all that are not clean */
	bool stale;		/* the counts in the SUFILE are not exact */
	bool dropped;		/* there were more candidates than facts_how.most */
};

/*
 * The counts of the state before a batch, for those of the state after it.  All
 * zero: none.
 */
struct facts_kept {
	struct liveness *liveness;	/* NULL: none */
	struct recovery at;		/* the state that it counts */
};

/*
 * Collects the facts of all segments of VOL with a protection period of PROTECT
 * seconds (0: none).  KEPT (or NULL), of the previous state on the same device,
 * is used up: live blocks are counted from there by the differences.
 * Candidates exclude the segments being written, those marked as erroneous, and
 * those with a superblock's log or younger (ns_prot_seq).  -EUCLEAN if the DAT
 * or the SUFILE is broken or they contradict each other, -EIO, -ENOMEM.
 */
int facts_gather(struct facts *f, struct context *cx, struct volume *vol,
		 uint64_t protect, struct facts_kept *kept);

struct facts_how {
	uint64_t protect;	/* seconds */
	uint64_t since;		/* blocks of this checkpoint and later ones are kept,
				   too; 0: none for this */
	struct facts_kept *kept;	/* or NULL */
	/* All segments that are not clean are candidates, and all are counted. */
	bool whole;
	/*
	 * Only about the MOST best ones of POLICY are kept as candidates, to bound the
	 * memory; NULL: all.  Metadata blocks do not count for this choice.
	 */
	const struct policy *policy;
	size_t most;
};

/* The same as HOW says. */
int facts_gather_with(struct facts *f, struct context *cx, struct volume *vol,
		      const struct facts_how *how);

/*
 * Counts the metadata blocks of each candidate as well, which are 0 after
 * gathering: this reads the maps of all metadata files.  -EUCLEAN, -EIO,
 * -ENOMEM.
 */
int facts_count_metadata(struct facts *f, struct context *cx);

/*
 * Estimates how many *BLOCKS cleaning will move until GOAL segments are gained, of
 * candidates with MIN_DEAD percent of dead blocks, from the counts of now.  All batches
 * are chosen at once: blocks that do not fit into one are moved by the next.  Metadata
 * written by the batches is not included, so it is an estimate, for progress only.
 * -ENOMEM.
 */
int facts_estimate(const struct facts *f, struct context *cx,
		   const struct policy *policy, uint64_t goal, uint32_t min_dead,
		   uint64_t *blocks);

/*
 * Lists the plain checkpoints outside of the protection period, ascending, but for the
 * latest one: *N of them in *CNOS, which the caller frees, after a failure too.
 */
int facts_old_checkpoints(const struct facts *f, struct context *cx, uint64_t **cnos,
			  size_t *n);

/* Frees the candidates; everything else stays. */
void facts_drop_candidates(struct facts *f);

/* Moves to KEPT the counts that facts_gather() can use after the next batch. */
void facts_keep(struct facts *f, struct facts_kept *kept);

/* Frees the kept counts. */
void facts_forget(struct facts_kept *kept);

/* Accepts facts that are all zero. */
void facts_fini(struct facts *f);

#endif
