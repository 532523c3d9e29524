/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The existing volume to which layers are added (--add). */
#ifndef NILFS2_MKFS_ADD_H
#define NILFS2_MKFS_ADD_H

#include <stdint.h>

#include "cli/tool.h"
#include "mkfs/content.h"
#include "mkfs/plan/options.h"
#include "mkfs/plan/plan.h"
#include "mkfs/target.h"
#include "vol/volume.h"

/* All zero: none. */
struct add {
	struct volume *vol;
	struct content_base base;
	uint64_t clean;		/* segments, of which the kernel reserves some */
	uint64_t reserved;
};

/*
 * Opens the volume on the device or image file that TOOL was given, for writing unless
 * it is a dry run, and makes all checks of it.  T becomes the device.  Fails if it is
 * in use, zoned, not a NILFS2 volume, damaged, to be recovered first, or has a feature
 * that forbids writing; nothing is changed.  Close with add_close() and target_close(),
 * also after a failure.
 */
int add_open(struct add *a, struct tool *tool, const struct mkfs_options *o,
	     struct target *t);
void add_close(struct add *a);

/* Sets PLAN to the layout of the volume, and the time of the new checkpoints. */
int add_plan(const struct add *a, struct context *cx,
	     const struct mkfs_options *o, struct plan *plan);

/*
 * -ENOSPC, with figures and the remedy, if layers that need SEGMENTS would leave fewer
 * clean ones than the kernel reserves.
 */
int add_check_room(const struct add *a, struct context *cx, uint64_t segments);

/*
 * If a mount would search for logs after the latest checkpoint, makes the superblocks
 * name that one, and marks the volume as unmounted: a mount must not find some of the
 * layers only.  The first change of the volume.
 */
int add_begin(struct add *a, struct context *cx);

/* Makes C, which was written to the volume, its latest state as of TIME (seconds). */
int add_commit(struct add *a, struct context *cx, const struct content *c,
	       uint64_t time);

#endif
