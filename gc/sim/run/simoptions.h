/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of gcsim.nilfs2. */
#ifndef NILFS2_GC_SIM_SIMOPTIONS_H
#define NILFS2_GC_SIM_SIMOPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/option.h"
#include "gc/sim/run/simrun.h"
#include "gc/sim/volume/simclean.h"
#include "gc/sim/volume/simvol.h"
#include "gc/sim/writers/simwork.h"

#define SIMOPTIONS_SAME UINT32_MAX

/* The default without a trace. */
#define SIMOPTIONS_SEGMENTS 1000u

/* The maximum of a sweep. */
#define SIMOPTIONS_RUNS_MAX 10000000u

/* The unit of ages. */
enum simoptions_clock {
	SIMOPTIONS_WRITES,	/* blocks of the user */
	SIMOPTIONS_TIME,	/* microseconds of a trace */
};

/* How ages are weighted. */
enum simoptions_ages {
	SIMOPTIONS_AGE,
	SIMOPTIONS_ROOT,
};

/* Blocks, or a share of them. */
struct simoptions_amount {
	uint64_t blocks;
	uint32_t percent;	/* 0: as many as BLOCKS */
	bool is_given;
};

struct simoptions {
	/*
	 * Configurations of the parts of a run; simsetup.c adds derived values.
	 */
	struct simvol_config vol;	/* .nsegments 0: the default or as a
					   trace needs; .data 0: by FILL */
	struct simwork_config work;
	struct simclean_config cleaner;	/* .low, .high 0: by the rest;
					   .mc_min_reclaimable or SAME */
	struct simrun_config run;
	/* The volume. */
	uint64_t segment_size, block_size;	/* bytes */
	uint32_t fill;				/* percent */
	/* The user. */
	const char *trace, *volume;
	int trace_format, addresses;
	uint64_t writes;
	struct simoptions_amount warm_up;
	uint32_t hot;				/* percent */
	struct option_list hot_files;		/* of an image, paths */
	const char *skew, *file_size, *lifetime;	/* NULL: the default */
	uint32_t snapshot_seconds;
	int clock;				/* enum simoptions_clock */
	/* The cleaner. */
	struct option_list policies;
	uint32_t scarce;		/* or SIMOPTIONS_SAME: the default */
	int ages;			/* enum simoptions_ages */
	/* The output. */
	uint32_t victims;
	bool curve, wear, csv;
	const char *svg;
	/* The runs. */
	struct option_list sweeps;
	uint32_t seeds;
	const char *key;		/* of the only one, or NULL */
	bool emit, merge, list;
	bool force;				/* replaces the picture */
};

extern const struct simoptions simoptions_defaults;
extern const struct cli_option simoptions_rows[];

/*
 * Parses the textual options of a workload in O; .data must be set.  -EINVAL.
 */
int simoptions_work(struct context *cx, const struct simoptions *o,
		    struct simwork_config *c);

/*
 * Whether O is in range and has only options that apply.  -EINVAL with the
 * reason, which is a usage error.
 */
int simoptions_check(struct context *cx, const struct simoptions *o);

/*
 * Whether the placement of O and the policy P support the other options of O.
 * -EINVAL.  With the word "all" some may not.
 */
int simoptions_check_words(struct context *cx, const struct simoptions *o,
			   const struct simchoice_policy *p);

#endif
