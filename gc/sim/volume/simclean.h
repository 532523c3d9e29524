/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cleaner of a simulated volume.
 */
#ifndef NILFS2_GC_SIM_SIMCLEAN_H
#define NILFS2_GC_SIM_SIMCLEAN_H

#include "gc/plan/policy.h"
#include "gc/sim/volume/simchoice.h"
#include "gc/sim/volume/simvol.h"

struct simtree {
	const struct policy_order *order;	/* borrowed: policy, segments,
						   taken */
	const struct simchoice *choice;	/* borrowed: order of equal ones */
	uint32_t *winners;	/* the children of node i are 2i and 2i + 1 */
	bool has_ties;		/* by CHOICE */
	uint32_t leaves;	/* a power of two */
};

struct simclean_config {
	struct simchoice_config choice;	/* with .garbage, LOW and HIGH are unused */
	struct policy_env env;	/* max_search, metadata_weight, scarce */
	uint32_t low;		/* clean segments below which a round begins */
	uint32_t high;		/* clean segments at which it ends */
	uint32_t step;		/* victims that are cleaned together */
	uint32_t mc_step;	/* the same below LOW; 0: STEP */
	uint32_t min_reclaimable;	/* percent: a step with less is skipped */
	uint32_t mc_min_reclaimable;	/* below LOW, as in nilfs_cleanerd.conf */
};

struct simclean {
	struct simclean_config config;
	struct simvol *vol;		/* borrowed */
	struct policy_order order;	/* all segments; taken: no candidates */
	struct simtree tree;		/* if the policy allows it */
	struct simchoice choice;
	bool has_tree, has_choice;
	bool is_bounded;	/* not all full segments are candidates */
	uint32_t *victims;	/* of a step */
	uint32_t nvictims;
	bool goes_on;		/* a round ended without enough victims */
	/* Called for each victim in order; or NULL. */
	void (*chosen)(void *arg, const struct policy_segment *s);
	void *arg;
};

/* A cleaner for V, which is notified of its changes from now on.  -ENOMEM. */
int simclean_open(struct simclean *c, struct context *cx, struct simvol *v,
		  const struct simclean_config *config);
void simclean_close(struct simclean *c);

/* The memory for a cleaner of CONFIG for N segments, in bytes. */
uint64_t simclean_bytes(const struct simclean_config *config, uint32_t n);

/* Whether a round is necessary now. */
static inline bool simclean_is_due(const struct simclean *c)
{
	if (c->config.choice.garbage)
		return c->vol->ngarbage * 100 >
		       c->config.choice.garbage * c->vol->nwritten;
	return c->goes_on || c->vol->nclean < c->config.low;
}

/*
 * Cleans until there are enough clean segments, or, by garbage, one step.
 * -ENOSPC if cleaning gains nothing.
 */
int simclean_round(struct simclean *c, struct context *cx);

/* The next victim, which is not cleaned: its number, or -1. */
int64_t simclean_choose(struct simclean *c);

#endif
