/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Policies: those of gc.nilfs2, and some that make sense only while a volume is
 * written; and the choice of a victim among all full segments, where neither the
 * order of gc.nilfs2 nor a tournament finds it.
 */
#ifndef NILFS2_GC_SIM_SIMCHOICE_H
#define NILFS2_GC_SIM_SIMCHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gc/plan/policy.h"
#include "gc/sim/volume/simvol.h"
#include "gc/sim/writers/simrandom.h"

struct simchoice;

/* A policy that gc.nilfs2 does not have. */
struct simchoice_kind {
	struct policy policy;	/* by which segments are compared */
	uint32_t parameter;	/* the default; 0: it has none */
	bool has_parameter;
	bool data_ages;		/* needs ages of data */
	/* The number of the next victim, or -1. */
	int64_t (*pick)(struct simchoice *c);
};

/* A policy as requested. */
struct simchoice_policy {
	const char *name;
	const struct policy *policy;
	const struct simchoice_kind *kind;	/* NULL: of gc.nilfs2 */
	uint32_t parameter;	/* weight, percent; of KIND, what that has */
};

/* The name of the I-th policy of all, or NULL past the last one. */
const char *simchoice_word(size_t i);

/* Whether that policy may have a number, and from LEAST to MOST. */
bool simchoice_range(size_t i, uint32_t *least, uint32_t *most);

/* Takes "NAME" or "NAME:NUMBER".  -EINVAL: there is no such policy. */
int simchoice_parse(struct simchoice_policy *p, const char *text);

/* Which of equal segments comes first. */
enum simchoice_ties {
	SIMCHOICE_FIRST,	/* that of the lowest number, as in gc.nilfs2 */
	SIMCHOICE_LAST,		/* ... of the highest */
	SIMCHOICE_OLDEST,	/* written longest ago */
	SIMCHOICE_YOUNGEST,
	SIMCHOICE_RANDOM,
};

struct simchoice_config {
	const struct policy *policy;
	const struct simchoice_kind *kind;	/* or NULL */
	uint32_t parameter;	/* of KIND */
	enum simchoice_ties ties;
	bool root_ages;		/* the root of an age counts */
	uint32_t garbage;	/* percent that a victim must have, and of all
				   blocks above which a step is made; 0: none */
	uint64_t seed;		/* of policies that draw */
};

struct simchoice {
	struct simchoice_config config;
	const struct policy_env *env;	/* borrowed */
	const struct simvol *vol;	/* borrowed */
	const uint8_t *taken;		/* borrowed; by segment: no candidate */
	struct simrandom random;
	/* Full segments in the order in which they became so; n: none. */
	uint32_t *older, *younger;
	uint32_t oldest, youngest;
	struct policy_rank *ranks;	/* room for all */
};

/* For V as it is, but for what is TAKEN.  -ENOMEM; to be closed also then. */
int simchoice_open(struct simchoice *c, const struct simvol *v,
		   const struct policy_env *env, const uint8_t *taken,
		   const struct simchoice_config *config);
void simchoice_close(struct simchoice *c);

/* SEGNUM is full now, or is so no longer. */
void simchoice_changed(struct simchoice *c, uint32_t segnum, bool full);

/* The next victim: its number, or -1. */
int64_t simchoice_next(struct simchoice *c);

/* Whether there is enough garbage in SEGNUM. */
bool simchoice_is_rich(const struct simchoice *c, uint32_t segnum);

/*
 * Sorts N segments, the least important first, equal ones by their numbers.
 */
void simchoice_sort(struct policy_rank *ranks, size_t n);

/* Whether B comes before A, which is as important. */
bool simchoice_prefers(const struct simchoice *c, uint32_t a, uint32_t b);

#endif
