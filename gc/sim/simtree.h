/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The best segment by a policy, while segments change.
 *
 * A tournament: each inner node holds the better of its two children.  A block
 * that dies changes one leaf, and rarely a winner above the first few.  For
 * policies whose numbers do not change with time alone.
 */
#ifndef NILFS2_GC_SIM_SIMTREE_H
#define NILFS2_GC_SIM_SIMTREE_H

#include "gc/plan/policy.h"

struct simtree {
	const struct policy_order *order;	/* borrowed: policy, segments,
						   taken */
	uint32_t *winners;	/* of node i the children are 2i and 2i + 1 */
	uint32_t leaves;	/* a power of two */
};

/* -ENOMEM; to be closed also then. */
int simtree_open(struct simtree *t, const struct policy_order *order);
void simtree_close(struct simtree *t);

/* Segment INDEX, or whether it is taken, has changed. */
void simtree_update(struct simtree *t, uint32_t index);

/* The best that is not taken, which policy_next() would find; or -1. */
int64_t simtree_best(const struct simtree *t);

#endif
