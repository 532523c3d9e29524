/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cleaning with few clean segments, or none. */
#ifndef NILFS2_GC_SCARCE_H
#define NILFS2_GC_SCARCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "gc/move/collector.h"
#include "gc/plan/policy.h"

/* Whether so little is clean that estimates are too coarse, in K's round. */
bool scarce_is(const struct collector *k);

/*
 * One batch in the round of K, of which nothing was added, in the order of
 * POLICY, where a segment is worth it (policy_is_worth()) by MIN_DEAD: 1 where
 * there is more room after it; 0, and nothing was done, where no batch that was
 * tried comes to that.  Fails as collector_move().
 */
int scarce_run(struct collector *k, struct context *cx,
	       const struct policy *policy, uint32_t min_dead);

/*
 * If no segment is clean: frees as many segments without live blocks as
 * possible, with a log that names one of them as the next.  1 if that leaves
 * more room, 0 if not, or if K's device has zones.
 */
int scarce_reuse(struct collector *k, struct context *cx);

#endif
