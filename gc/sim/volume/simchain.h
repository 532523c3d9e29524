/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The model of MiDAS: what a chain of groups of segments costs, by how long
 * blocks live.
 *
 * Oh et al., "MiDAS: minimizing write amplification in log-structured systems
 * through adaptive group number and size configuration", FAST 2024.  What the
 * user writes begins in the first group, or in the hot one if it will not live
 * long; what lives when it leaves a group moves on to the next, and in the last
 * one it stays.  All groups but the last are queues of a given size.  Times are
 * segments that the user writes.
 */
#ifndef NILFS2_GC_SIM_SIMCHAIN_H
#define NILFS2_GC_SIM_SIMCHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

#define SIMCHAIN_GROUPS 16u	/* with the hot one and the last one */

/* The distribution of lives: UID, update intervals. */
struct simchain {
	uint64_t *counts;	/* by life, of blocks written again */
	size_t times;		/* lives kept apart; more is the rest */
	uint64_t total;		/* of all writes */
	double hot_valid;	/* what lives of what leaves the hot group */
	/* Once simchain_settle() was called: */
	double *dead;		/* the share of lives up to a time */
	double *living;		/* what lives of one written at each time */
};

/* A choice of sizes in segments; the last group has all others. */
struct simchain_sizes {
	uint32_t groups;	/* the hot one and the last one as well */
	uint32_t size[SIMCHAIN_GROUPS];	/* 0: the hot one is not used */
	double valid[SIMCHAIN_GROUPS];	/* what lives of what leaves it */
	double amplification;
};

/* For lives below TIMES.  -ENOMEM; to be closed also then. */
int simchain_open(struct simchain *c, struct context *cx, size_t times);
void simchain_close(struct simchain *c);

/* Sums up the counts. */
void simchain_settle(struct simchain *c);

/*
 * Segments written for one of the user, of which HOT enters group 0 of GROUPS
 * and the rest group 1, where of what leaves group I, VALID[I] lives: the chain
 * of Markov (MCAM).
 */
double simchain_amplification(double hot, const double *valid,
			      uint32_t groups);

/*
 * Fills in what S costs on a volume of SEGMENTS, of which as much as LIVE
 * segments lives: INFINITY where that is not possible.
 */
void simchain_cost(const struct simchain *c, struct simchain_sizes *s,
		   double segments, double live);

/*
 * The best that is found with at most GROUPS: one group after the other is
 * parted from the last, then each is tried in all sizes again, and, with HOT,
 * the hot one.
 */
struct simchain_sizes simchain_best(const struct simchain *c, uint32_t groups,
				    bool hot, double segments, double live);

#endif
