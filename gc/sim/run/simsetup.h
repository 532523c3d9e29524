/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From options to a volume, a user and a cleaner. */
#ifndef NILFS2_GC_SIM_SIMSETUP_H
#define NILFS2_GC_SIM_SIMSETUP_H

#include "base/context.h"
#include "gc/sim/run/simoptions.h"
#include "gc/sim/run/simrun.h"
#include "gc/sim/trace/simreplay.h"
#include "gc/sim/volume/simplace.h"
#include "gc/sim/volume/simclean.h"
#include "gc/sim/volume/simimage.h"
#include "gc/sim/volume/simvol.h"
#include "gc/sim/writers/simwork.h"

/* The input of runs.  They share it, also concurrently. */
struct siminput {
	const struct simimage *image;	/* or NULL */
	const struct simtrace *trace;	/* or NULL */
	size_t volume;			/* index among the chosen ones */
};

/* The user. */
struct simsetup_source {
	struct simwork work;	/* without a trace */
	struct simreplay replay;
	/* Numbers of blocks of the trace from OLD on are increased by SHIFT. */
	uint64_t old, shift;
	struct simop rest;	/* rest of an operation across OLD */
};

struct simsetup {
	const struct simoptions *options;
	const struct siminput *input;
	struct simvol vol;
	struct simwork_config work;	/* without a trace */
	struct simclean cleaner;
	struct simsetup_source source;
	struct simahead ahead;	/* for a placement that knows the future */
	struct simrun run;
	uint64_t low, high;	/* clean segments at which a round begins, and ends */
	uint64_t before;		/* blocks before the measurement */
	uint64_t asked;			/* blocks to be measured */
};

/*
 * Computes the configurations of the volume and the workload, .before and
 * .asked of a run of O, without opening anything.  -EINVAL if an option is
 * outside the range that the others leave, which is a usage error.  Needs no
 * closing.
 */
int simsetup_plan(struct simsetup *s, struct context *cx,
		  const struct simoptions *o, const struct siminput *input);

/* The configuration of the cleaner, after simsetup_plan(). */
struct simclean_config simsetup_cleaner(const struct simsetup *s,
					const struct simchoice_policy *policy);

/*
 * Creates all parts, for POLICY.  -EINVAL if the options contradict each other;
 * to be closed also then.
 */
int simsetup_open(struct simsetup *s, struct context *cx,
		  const struct simoptions *options,
		  const struct siminput *input,
		  const struct simchoice_policy *policy);
void simsetup_close(struct simsetup *s);

/*
 * Whether logs and a step of the cleaner need more than a tenth of the segments
 * without data, so that these and not the policy determine the result.
 */
#define SIMSETUP_SMALL 10u
bool simsetup_is_small(const struct simsetup *s);

/* Blocks that the user writes in total. */
static inline uint64_t simsetup_total(const struct simsetup *s)
{
	return s->before + s->asked;
}

/* Runs it to the end.  PROGRESS (or NULL) is called with the blocks so far. */
int simsetup_run(struct simsetup *s, struct context *cx,
		 void (*progress)(void *arg, uint64_t done), void *arg);

#endif
