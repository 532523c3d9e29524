/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Policies: those of gc.nilfs2, and some that make sense only while a volume is
 * written; and the choice of a victim among all full segments, if neither the
 * order of gc.nilfs2 nor a tournament supports the rules.
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
	uint32_t parameter;	/* the default; 0: none */
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
	uint32_t parameter;	/* weight, percent; the parameter of KIND */
};

/* The name of the I-th policy, or NULL after the last one. */
const char *simchoice_word(size_t i);

/* Whether that policy may have a number, from LEAST to MOST. */
bool simchoice_range(size_t i, uint32_t *least, uint32_t *most);

/* Parses "NAME" or "NAME:NUMBER".  -EINVAL: unknown policy. */
int simchoice_parse(struct simchoice_policy *p, const char *text);

/* The order of equal segments. */
enum simchoice_ties {
	SIMCHOICE_FIRST,	/* lowest number first, as in gc.nilfs2 */
	SIMCHOICE_LAST,		/* highest number first */
	SIMCHOICE_OLDEST,	/* written longest ago */
	SIMCHOICE_YOUNGEST,
	SIMCHOICE_RANDOM,
};

struct simchoice_config {
	const struct policy *policy;
	const struct simchoice_kind *kind;	/* or NULL */
	uint32_t parameter;	/* of KIND */
	enum simchoice_ties ties;
	bool root_ages;		/* ages count by their root */
	uint32_t garbage;	/* minimum percent of a victim, and of all
				   blocks for a step; 0: none */
	uint64_t seed;		/* for random policies */
};

/* How fast the blocks of a log die, by measurement: for marginal. */
struct simchoice_rate {
	double deaths, times;	/* of blocks, which fade */
	uint64_t seen;		/* of struct simvol.died */
};

struct simchoice {
	struct simchoice_config config;
	const struct policy_env *env;	/* borrowed */
	const struct simvol *vol;	/* borrowed */
	const uint8_t *taken;		/* borrowed; by segment: not a candidate */
	struct simrandom random;
	/* Full segments in the order in which they became full; n: none. */
	uint32_t *older, *younger;
	uint32_t oldest, youngest;
	struct policy_rank *ranks;	/* room for all */
	struct simchoice_rate rates[SIMVOL_LOGS];	/* by log */
	uint64_t measured;	/* the time of these, in blocks of the user */
};

/*
 * For V with its present segments, without those TAKEN.  -ENOMEM; to be closed
 * also then.
 */
int simchoice_open(struct simchoice *c, const struct simvol *v,
		   const struct policy_env *env, const uint8_t *taken,
		   const struct simchoice_config *config);
void simchoice_close(struct simchoice *c);

/* SEGNUM has become FULL, or is not full any more. */
void simchoice_changed(struct simchoice *c, uint32_t segnum, bool full);

/* The next victim: its number, or -1. */
int64_t simchoice_next(struct simchoice *c);

/* Whether SEGNUM has enough garbage. */
bool simchoice_is_rich(const struct simchoice *c, uint32_t segnum);

/*
 * Sorts N segments, the least important first, equal ones by their numbers.
 */
void simchoice_sort(struct policy_rank *ranks, size_t n);

/* Whether B is preferred to A, which is as important. */
bool simchoice_prefers(const struct simchoice *c, uint32_t a, uint32_t b);

#endif
