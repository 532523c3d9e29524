/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The segments of a real volume as the start of a simulation.
 *
 * The facts of its segments are those that gc.nilfs2 gathers; of a block only
 * its segment is known, and whether it belongs to a hot file.
 */
#ifndef NILFS2_GC_SIM_SIMIMAGE_H
#define NILFS2_GC_SIM_SIMIMAGE_H

#include "base/context.h"
#include "cli/option.h"
#include "dev/dev.h"
#include "gc/plan/policy.h"
#include "gc/sim/volume/simvol.h"

struct simimage {
	uint32_t nsegments, blocks;	/* of the volume, per segment */
	uint32_t block_size;
	uint64_t data;		/* blocks of the latest state */
	uint64_t held;		/* kept only for snapshots or protection */
	uint64_t now;		/* sr_nongc_ctime, seconds */
	struct policy_segment *segments;	/* by number */
	uint8_t *state;		/* CLEAN, FULL or HELD */
	uint32_t *hot;		/* segments of blocks of hot files, in file order */
	size_t nhot, hot_room;
};

/*
 * Reads it from DEV, with no protection period; HOT are paths of files.
 * -EUCLEAN, -EIO, -EINVAL if it is too large, -ENOENT and -ENOTDIR if a path
 * does not exist; to be closed also then.
 */
int simimage_read(struct simimage *image, struct context *cx, struct dev *dev,
		  const struct option_list *hot);
void simimage_close(struct simimage *image);

/*
 * Fills the empty V, of the same segments, with IMAGE's data; the hot blocks
 * come first.
 */
int simimage_put(const struct simimage *image, struct context *cx,
		 struct simvol *v);

#endif
