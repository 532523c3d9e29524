/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Policies: the order in which segments are cleaned.
 *
 * Pure functions over facts of segments: no volume, no I/O, no clock.
 * gc.nilfs2 and its simulator share them.
 */
#ifndef NILFS2_GC_POLICY_H
#define NILFS2_GC_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vol/gain.h"

/* The facts of a segment for policies; counts are in blocks. */
struct policy_segment {
	uint64_t segnum;
	uint64_t lastmod;	/* su_lastmod, seconds */
	uint32_t blocks;	/* its size */
	uint32_t written;	/* su_nblocks */
	uint32_t live;		/* to be moved, for any reason */
	uint32_t snapshot;	/* of these, for snapshots only */
	uint32_t protected;	/* of these, for the protection period only */
	uint32_t metadata;	/* of these, of DAT, cpfile, SUFILE, ifile: 0
				   before facts_count_metadata() */
};

/* Values common to all segments. */
struct policy_env {
	uint64_t nongc_ctime;	/* sr_nongc_ctime, seconds: now, for ages */
	uint64_t max_search;	/* segments examined per choice; 0: all */
	uint64_t scarce;	/* so few clean segments are scarce */
	uint32_t metadata_weight;	/* cost of moving a block of metadata,
					   percent of one of data */
};

struct policy {
	const char *name;
	const char *summary;	/* one phrase, for the help */
	/*
	 * The value of cleaning S: higher is better, 0 is worthless.  It has no
	 * unit and is only compared.
	 */
	uint64_t (*importance)(const struct policy_segment *s,
			       const struct policy_env *env);
	bool data_first;	/* segments dense in metadata come last */
	bool ages;		/* the order changes with time */
	bool uses_metadata;	/* policy_segment.metadata */
};

/* All policies; the first is the default. */
extern const struct policy policy_list[];
extern const size_t policy_count;

/* The importance of greedy and of cost-benefit-lfs, for policies of the simulator. */
uint64_t policy_dead(const struct policy_segment *s, const struct policy_env *env);
uint64_t policy_cost_benefit_lfs(const struct policy_segment *s,
				 const struct policy_env *env);

/* The name of the I-th policy, or NULL after the last one. */
const char *policy_word(size_t i);

/* The policy of that name, or NULL. */
const struct policy *policy_find(const char *name);

/* The default weight of weighted, percent. */
#define POLICY_WEIGHT 500

/*
 * The policy of TEXT, a name or "weighted:PERCENT"; *WEIGHT is that percentage
 * or POLICY_WEIGHT.  NULL if it is unknown.
 */
const struct policy *policy_parse(const char *text, uint32_t *weight);

/* gain_is_worth() and gain_blocks() (vol/gain.h) of S. */
static inline bool policy_is_worth(const struct policy_segment *s, uint32_t percent)
{
	return gain_is_worth(s->blocks, s->live, percent);
}

static inline bool policy_gains(const struct policy_segment *s)
{
	return gain_blocks(s->blocks, s->live) > 0;
}

struct policy_rank {
	uint64_t importance, index;
};

/*
 * Successive choices.  With env->max_search a choice examines that many
 * segments from where the last one ended, wrapping around, as f2fs' victim
 * search does.  Otherwise all segments are ordered by their importance when it
 * was opened; the order is computed only as far as it is requested.
 */
struct policy_order {
	const struct policy *policy;
	const struct policy_env *env;
	const struct policy_segment *segments;	/* borrowed */
	size_t n;
	/*
	 * The best last: SORTED of them are in order, the others before them
	 * are a heap; NULL with max_search.
	 */
	struct policy_rank *rank;
	size_t sorted;
	uint8_t *taken;		/* by index */
	size_t next;		/* in order, or start of the next search */
};

/* -ENOMEM; to be closed also then. */
int policy_open(struct policy_order *order, const struct policy *policy,
		const struct policy_env *env,
		const struct policy_segment *segments, size_t n);

/*
 * The index of the next victim, or -1.  CLEAN is the number of clean segments,
 * by which data_first decides whether these are scarce.
 */
int64_t policy_next(struct policy_order *order, uint64_t clean);

void policy_close(struct policy_order *order);

#endif
