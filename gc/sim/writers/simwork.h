/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Synthetic workloads.
 */
#ifndef NILFS2_GC_SIM_SIMWORK_H
#define NILFS2_GC_SIM_SIMWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "gc/sim/writers/simdist.h"
#include "gc/sim/writers/simop.h"
#include "gc/sim/writers/simrandom.h"

struct simwork_config {
	const struct simwork_kind *kind;
	uint64_t data;		/* number of blocks */
	uint64_t hot;		/* of these, the first ones */
	uint32_t hot_writes;	/* percent of the writes to these */
	uint32_t file_blocks;	/* per file */
	double skew;		/* exponent of Zipf's distribution */
	uint32_t sequential;	/* percent of the writes */
	uint32_t trims;		/* percent of the operations on blocks */
	struct simdist size, lifetime;	/* of files, in blocks */
	uint64_t seed;
};

struct simwork_files;

struct simwork {
	struct simwork_config config;
	struct simrandom random;
	uint64_t fills;		/* steps of the first pass, in which all data is written */
	uint64_t filled;	/* of these: blocks or files written */
	uint64_t at;		/* position in a sequence; the next file */
	bool deleted;		/* AT was just deleted */
	uint32_t *order;	/* of files in the first pass */
	struct simdist_zipf zipf;
	struct simwork_files *files;	/* for workloads of files, or NULL */
};

struct simwork_kind {
	const char *name;
	const char *summary;
	/* The next step, after all blocks were written once. */
	void (*next)(struct simwork *w, struct simop *op);
	bool mixed;	/* files are first written in random order */
	bool lives;	/* files of all sizes; no separate first pass */
};

extern const struct simwork_kind simwork_list[];

/* The name of the I-th workload, or NULL after the last one. */
const char *simwork_word(size_t i);

/* The workload of that name, or NULL. */
const struct simwork_kind *simwork_find(const char *name);

/* -EINVAL, -ENOMEM; to be closed also then. */
int simwork_open(struct simwork *w, struct context *cx,
		 const struct simwork_config *config);
void simwork_close(struct simwork *w);

/* Sets W to the state after the first pass. */
void simwork_skip(struct simwork *w);

/*
 * The next operation: the first pass, then by the kind of workload, without
 * end.
 */
void simwork_next(struct simwork *w, struct simop *op);

#endif
