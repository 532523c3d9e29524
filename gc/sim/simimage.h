/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The segments of a real volume as the start of a simulation.
 *
 * The facts of its segments are those that gc.nilfs2 gathers; of a block only
 * matters that it lives in one.
 */
#ifndef NILFS2_GC_SIM_SIMIMAGE_H
#define NILFS2_GC_SIM_SIMIMAGE_H

#include "base/context.h"
#include "dev/dev.h"
#include "gc/policy.h"
#include "gc/sim/simvol.h"

struct simimage {
	uint32_t nsegments, blocks;	/* of the volume, of a segment */
	uint64_t data;		/* blocks of the latest state */
	uint64_t held;		/* for snapshots or protection only */
	uint64_t now;		/* sr_nongc_ctime, seconds */
	struct policy_segment *segments;	/* by number */
	uint8_t *state;		/* CLEAN, FULL or HELD */
};

/*
 * Reads it from DEV, with a protection period of PROTECT seconds.  -EUCLEAN,
 * -EIO, -EINVAL where it is too large; to be closed also then.
 */
int simimage_read(struct simimage *image, struct context *cx, struct dev *dev,
		  uint64_t protect);
void simimage_close(struct simimage *image);

/* Puts it into the empty V, of the same segments, with IMAGE's data. */
int simimage_put(const struct simimage *image, struct context *cx,
		 struct simvol *v);

#endif
