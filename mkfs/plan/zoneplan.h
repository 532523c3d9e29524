/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The layout of a volume on a device with zones. */
#ifndef NILFS2_MKFS_ZONEPLAN_H
#define NILFS2_MKFS_ZONEPLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "dev/zone.h"
#include "disk/geometry.h"
#include "mkfs/plan/options.h"

struct plan;
struct plan_facts;
struct writer_options;

/* Part of struct plan; all zero without zones. */
struct zoneplan {
	const struct zones *zones;	/* borrowed from the facts */
	uint32_t per_zone;		/* segments in a zone, used or not */
	uint64_t unusable;		/* segments that are never used */
	uint64_t lost;			/* unused capacity of zones, bytes */
};

/*
 * Sets the blocks per segment of G, whose block size is set, as required by the
 * zones.  -EINVAL with the reason if no segment fits a zone, or if O requests
 * another length.
 */
int zoneplan_blocks(struct context *cx, const struct mkfs_options *o,
		    const struct plan_facts *facts, struct nilfs_geometry *g);

/*
 * Completes PLAN, whose block and segment sizes are set: the number of segments,
 * the usable ones, the place of the second superblock.  -EINVAL with the reason if
 * the device cannot hold a volume.  A pure function.
 */
int zoneplan_segments(struct context *cx, const struct mkfs_options *o,
		      const struct plan_facts *facts, struct plan *plan);

/* Whether segment SEGNUM must never be written because of its zone. */
bool zoneplan_unusable(const struct plan *plan, uint64_t segnum);

/* Sets the options of the log writer that depend on zones; none without zones. */
void zoneplan_writer(struct plan *plan, struct writer_options *options);

/* "A" or "B", see zoneplan.c. */
const char *zoneplan_recipe(const struct plan *plan);

#endif
