/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run of the simulator: a volume, a user, a cleaner, and the result.
 */
#ifndef NILFS2_GC_SIM_SIMRUN_H
#define NILFS2_GC_SIM_SIMRUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bitmap.h"
#include "base/context.h"
#include "gc/sim/volume/simclean.h"
#include "gc/sim/volume/simvol.h"
#include "gc/sim/writers/simop.h"

/* Dirty pages: a bitmap, their number, and the position of the sweep. */
struct simdirty {
	struct bitmap map;
	uint64_t count, next;
};

/* Times are in blocks that the user writes, unless otherwise noted. */
struct simrun_config {
	uint64_t flush_every;	/* a checkpoint; 0: only by the cleaner */
	uint64_t snapshot_every;	/* a snapshot; 0: none */
	uint64_t snapshot_time;		/* the same in microseconds */
	uint32_t snapshots;	/* kept; the oldest are deleted */
	uint64_t protect;	/* period */
	uint64_t dirty_pages;	/* written blocks that stay in memory */
	bool syncs;		/* each write is followed by its nodes */
	uint64_t check_every;	/* verify the counts; 0: never */
	uint64_t sample_every;	/* a point of the curve; 0: none */
};

struct simrun_sample {
	uint64_t user, written;	/* blocks since the measurement began */
	uint32_t clean;		/* segments */
	uint32_t starved;	/* see simrun_starved() */
};

#define SIMRUN_PERIODS 8

struct simrun {
	struct simrun_config config;
	struct simvol *vol;		/* borrowed */
	struct simclean *cleaner;	/* borrowed */
	struct simdirty dirty;
	uint64_t asked;		/* blocks that the user wrote to memory */
	struct simvol_totals start;	/* when the measurement began */
	uint64_t asked_start;
	struct simrun_half {
		uint64_t user, written;	/* blocks since then */
	} half;
	uint32_t marks[SIMRUN_PERIODS];	/* checkpoints, parts of the
					   protection period ago */
	uint64_t nmarks;
	uint64_t next_flush, next_snapshot, next_mark, next_check, next_sample;
	uint64_t next_snapshot_time;	/* microseconds */
	struct simrun_sample *samples;
	size_t nsamples, room;
};

/* -ENOMEM; to be closed also then. */
int simrun_open(struct simrun *r, struct context *cx, struct simvol *v,
		struct simclean *cleaner, const struct simrun_config *config);
void simrun_close(struct simrun *r);

/* Does OP for the user.  -ENOSPC if the volume has no room for it; -EINTR. */
int simrun_step(struct simrun *r, struct context *cx, const struct simop *op);

/* Begins the measurement. */
void simrun_measure(struct simrun *r);

/* The totals since then. */
struct simvol_totals simrun_totals(const struct simrun *r);

/* The sum of all blocks written to the device, without those of the image. */
uint64_t simrun_written(const struct simvol_totals *t);

/* Blocks that the user wrote since simrun_measure(), to memory or not. */
static inline uint64_t simrun_asked(const struct simrun *r)
{
	return r->asked - r->asked_start;
}

/*
 * Segments that are at least half live by the counts of policies, but really at
 * most an eighth: they are never cleaned.
 */
uint32_t simrun_starved(const struct simvol *v);

#endif
