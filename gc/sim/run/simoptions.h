/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of gcsim.nilfs2. */
#ifndef NILFS2_GC_SIM_SIMOPTIONS_H
#define NILFS2_GC_SIM_SIMOPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/option.h"
#include "gc/sim/volume/simplace.h"
#include "gc/sim/writers/simwork.h"

#define SIMOPTIONS_SAME UINT32_MAX

/* Without a trace, and where their number is not given. */
#define SIMOPTIONS_SEGMENTS 1000u

/* What ages are counted in. */
enum simoptions_clock {
	SIMOPTIONS_WRITES,	/* blocks of the user */
	SIMOPTIONS_TIME,	/* microseconds of a trace */
};

/* How ages count. */
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
	/* The volume. */
	uint32_t segments;			/* 0: SIMOPTIONS_SEGMENTS, or
						   as a trace needs */
	uint64_t segment_size, block_size;	/* bytes */
	uint32_t fill;				/* percent */
	uint64_t data;				/* blocks; 0: by fill */
	uint32_t nodes, dat, summaries;		/* blocks per block of these */
	bool moves_change_nodes, metadata_log, frees_dead;
	uint32_t holes;				/* clean segments; 0: never */
	const struct simplace_kind *placement;
	uint32_t classes;			/* of it; 0: the default */
	int counts;
	/* The user. */
	const struct simwork_kind *workload;
	const char *trace, *volume;
	int trace_format, addresses;
	uint64_t writes;
	struct simoptions_amount warm_up;
	uint32_t hot, hot_writes;		/* percent */
	struct option_list hot_files;		/* of an image, paths */
	uint32_t file_blocks;
	const char *skew, *file_size, *lifetime;	/* NULL: the default */
	uint32_t sequential, trims;		/* percent */
	uint64_t flush_every, snapshot_every, protect, dirty_pages;
	uint32_t snapshot_seconds;
	bool syncs;
	int clock;				/* enum simoptions_clock */
	uint32_t snapshots;
	uint64_t seed;
	/* The cleaner. */
	struct option_list policies;
	uint64_t max_search;
	uint32_t low, high, step;		/* segments; 0: by the rest */
	uint32_t scarce;		/* or SIMOPTIONS_SAME: the default */
	uint32_t garbage;		/* percent that begins a step; 0: LOW */
	int ties;			/* enum simchoice_ties */
	int ages;			/* enum simoptions_ages */
	uint32_t min_reclaimable;	/* percent */
	uint32_t mc_min_reclaimable;	/* or SIMOPTIONS_SAME */
	uint32_t mc_step;		/* segments; 0: as step */
	uint32_t second;		/* blocks of the user; 0: none */
	/* What is said. */
	uint64_t check_every;
	uint32_t victims;
	bool curve, wear, csv;
	const char *svg;
	/* Which runs. */
	struct option_list sweeps;
	uint32_t seeds;
	const char *key;		/* of the only one, or NULL */
	bool emit, merge;
};

extern const struct simoptions simoptions_defaults;
extern const struct cli_option simoptions_rows[];

#endif
