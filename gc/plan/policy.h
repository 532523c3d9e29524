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

/* A segment, as far as policies care; counts are blocks. */
struct policy_segment {
	uint64_t segnum;
	uint64_t lastmod;	/* su_lastmod, seconds */
	uint32_t blocks;	/* that it has room for */
	uint32_t written;	/* su_nblocks */
	uint32_t live;		/* for whomever: these would have to be moved */
	uint32_t snapshot;	/* of these, for snapshots only */
	uint32_t protected;	/* of these, for the protection period only */
	uint32_t metadata;	/* of these, of DAT, cpfile, SUFILE, ifile: 0
				   before facts_count_metadata() */
};

/* What all segments have in common. */
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
	 * How much is gained by cleaning S: more is better, and what is worth
	 * nothing at all is 0.  The sum that is compared, not a unit.
	 */
	uint64_t (*importance)(const struct policy_segment *s,
			       const struct policy_env *env);
	bool data_first;	/* what is dense in metadata comes last */
	bool ages;		/* the order changes with time */
	bool uses_metadata;	/* policy_segment.metadata */
};

/* All of them; the first is the default. */
extern const struct policy policy_list[];
extern const size_t policy_count;

/* The name of the I-th policy, or NULL past the last one. */
const char *policy_word(size_t i);

/* The policy of that name, or NULL. */
const struct policy *policy_find(const char *name);

/* The default weight of weighted, percent. */
#define POLICY_WEIGHT 500

/*
 * The policy of TEXT, which is a name, or "weighted:PERCENT"; *WEIGHT is that
 * or POLICY_WEIGHT.  NULL if it is unknown.
 */
const struct policy *policy_parse(const char *text, uint32_t *weight);

/*
 * Whether cleaning gains at least PERCENT of S; always true without live
 * blocks.
 */
bool policy_is_worth(const struct policy_segment *s, uint32_t percent);

struct policy_rank {
	uint64_t importance, index;
};

/*
 * Successive choices.  With env->max_search a choice examines that many
 * segments from where the last one ended, around the end, as f2fs' victim
 * search does; otherwise all, by their importance when it was opened, in an
 * order that is computed as far as it is asked for.
 */
struct policy_order {
	const struct policy *policy;
	const struct policy_env *env;
	const struct policy_segment *segments;	/* borrowed */
	size_t n;
	/*
	 * The best last, of which SORTED are in order and the others before
	 * them a heap; NULL with max_search.
	 */
	struct policy_rank *rank;
	size_t sorted;
	uint8_t *taken;		/* by index */
	size_t next;		/* in order, or where the search goes on */
};

/* -ENOMEM; to be closed also then. */
int policy_open(struct policy_order *order, const struct policy *policy,
		const struct policy_env *env,
		const struct policy_segment *segments, size_t n);

/*
 * The index of the next victim, or -1.  CLEAN is the number of clean segments,
 * by which data_first knows whether these are scarce.
 */
int64_t policy_next(struct policy_order *order, uint64_t clean);

void policy_close(struct policy_order *order);

#endif
