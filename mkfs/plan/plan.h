/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plan: a layout that is checked before anything is written. */
#ifndef NILFS2_MKFS_PLAN_H
#define NILFS2_MKFS_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/geometry.h"
#include "mkfs/plan/options.h"
#include "mkfs/plan/zoneplan.h"

/* The feature words of the superblock. */
struct features {
	uint64_t compat, compat_ro, incompat;
};

#define PLAN_LABEL_MAX 80

/* The input of the layout besides the options. */
struct plan_facts {
	const char *name;	/* of the device, for messages */
	uint64_t size;		/* bytes of the device */
	uint32_t sector_size;	/* bytes; the smallest write */
	int64_t now;		/* seconds, unless the user gave a time */
	uint8_t uuid[16];
	const struct zones *zones;	/* NULL: none, or ignored */
};

struct plan {
	struct nilfs_geometry g;
	struct features features;
	uint64_t size;		/* bytes of the device */
	uint64_t super2;	/* byte of the second superblock; 0: none */
	uint64_t ctime;		/* seconds; every time on the volume */
	uint32_t reserved;	/* percent of the segments */
	uint8_t uuid[16];
	char label[PLAN_LABEL_MAX];	/* no zero byte if all are used */
	struct zoneplan zoned;
	bool fit;		/* the content determines the size */
	uint64_t slack;		/* additional free bytes, with `fit` */
};

/*
 * Computes a plan from the options and the facts, or fails with -EINVAL and a
 * text that names the option or the smallest size.  A pure function: the same
 * input gives the same plan.
 */
int plan_make(struct context *cx, const struct mkfs_options *o,
	      const struct plan_facts *facts, struct plan *plan);

/* The time to be recorded: that of the options, or NOW.  -EINVAL before 1970. */
int plan_time(struct context *cx, const struct mkfs_options *o, int64_t now,
	      uint64_t *time);

/*
 * Sets the size of a volume that fits its content, with USED segments in use: the
 * fewest segments with which the kernel can still write PLAN->slack bytes, or one
 * small file if that is 0 (reserve_fit()).
 */
void plan_settle(struct plan *plan, uint64_t used);

/* Limits the plan to a device of SIZE bytes without zones. */
void plan_limit(struct plan *plan, uint64_t size);

/* The minimum device size, in bytes, for NSEGMENTS segments. */
uint64_t plan_min_size(const struct nilfs_geometry *g, uint64_t nsegments);

#endif
