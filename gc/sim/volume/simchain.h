/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The model of MiDAS: the cost of a chain of groups of segments, by the
 * lifetimes of blocks.
 *
 * Oh et al., "MiDAS: minimizing write amplification in log-structured systems
 * through adaptive group number and size configuration", FAST 2024.  A block of
 * the user begins in the first group, or in the hot one if its lifetime is
 * expected to be short.  A block that is live when it leaves a group moves to
 * the next, and stays in the last one.  All groups but the last are queues of a
 * given size.  Times are in segments that the user writes.
 */
#ifndef NILFS2_GC_SIM_SIMCHAIN_H
#define NILFS2_GC_SIM_SIMCHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

#define SIMCHAIN_GROUPS 16u	/* including the hot and the last one */

/* The distribution of lifetimes: UID, update intervals. */
struct simchain {
	uint64_t *counts;	/* by lifetime, of rewritten blocks */
	size_t times;		/* number of counts; longer lifetimes are the rest */
	uint64_t total;		/* of all writes */
	double round;		/* segments that the user writes between two
				   rounds of the cleaner */
	double hot_valid;	/* live share of blocks that leave the hot group */
	/* Of a hot group that is taken as it was measured; 0: none. */
	double hot_traffic;	/* share of all writes */
	uint32_t hot_size;
	/* Once simchain_settle() was called: */
	double *dead;		/* share of lifetimes up to a time */
	double *living;		/* live share of a segment by its age */
};

/* A choice of sizes in segments; the last group has all others. */
struct simchain_sizes {
	uint32_t groups;	/* including the hot and the last one */
	uint32_t size[SIMCHAIN_GROUPS];	/* 0: the hot one is not used */
	double valid[SIMCHAIN_GROUPS];	/* live share of blocks that leave it */
	double amplification;
};

/* For lifetimes below TIMES.  -ENOMEM; to be closed also then. */
int simchain_open(struct simchain *c, struct context *cx, size_t times);
void simchain_close(struct simchain *c);

/* Sums up the counts. */
void simchain_settle(struct simchain *c);

/*
 * Segments written for one of the user.  A share HOT of the user's blocks
 * enters group 0 of GROUPS and the rest group 1; VALID[I] is the live share of
 * blocks that leave group I: a Markov chain (MCAM).
 */
double simchain_amplification(double hot, const double *valid,
			      uint32_t groups);

/*
 * Computes the cost of S on a volume of SEGMENTS, with LIVE segments of live
 * blocks: INFINITY if that is impossible.
 */
void simchain_cost(const struct simchain *c, struct simchain_sizes *s,
		   double segments, double live);

/*
 * The best sizes found with at most GROUPS: one group after the other is
 * separated from the last, then all sizes of each are tried again, and, with
 * HOT, those of the hot one.
 */
struct simchain_sizes simchain_best(const struct simchain *c, uint32_t groups,
				    bool hot, double segments, double live);

#endif
