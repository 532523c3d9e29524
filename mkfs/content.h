/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The content of a volume: its layers, or none. */
#ifndef NILFS2_MKFS_CONTENT_H
#define NILFS2_MKFS_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "log/writer.h"
#include "mkfs/plan/plan.h"
#include "mkfs/populate/populate.h"
#include "mkfs/source/walk.h"
#include "vol/recovery.h"

enum content_snapshots {
	CONTENT_NO_SNAPSHOT,
	CONTENT_EACH,		/* the checkpoint of each layer is a snapshot */
	CONTENT_LAST,		/* only the checkpoint of the last layer */
};

/* An existing volume below the first layer. */
struct content_base {
	struct dev *dev;
	struct recovery at;	/* its latest state */
};

struct content {
	/* NULL: the volume is new. */
	const struct content_base *base;
	/*
	 * Directories and archives, one layer each.  An empty volume has none.
	 */
	const char *const *sources;
	size_t nsources;
	struct walk_options walk;	/* its rules apply to archives, too */
	enum content_snapshots snapshots;
	bool redundant;		/* one more checkpoint: rewrite_metadata() */
	bool strict;
	bool forecast;		/* file contents are neither read nor written */
	uint32_t collect;	/* as writer_options; 0: the default */
	uint64_t allocate;	/* as writer_options */
	bool digest;		/* compute `uuid` */

	/* Called from time to time with the counts so far, or NULL. */
	void (*progress)(void *arg, const struct populate_counts *counts,
			 uint64_t bytes);
	void *arg;

	/* The result. */
	struct populate_counts counts;	/* of all layers together */
	struct walk_notes notes;	/* of all directories together */
	uint64_t written;		/* blocks, summaries included */
	uint64_t redundant_blocks;	/* of these, the redundant checkpoint's */
	uint8_t uuid[16];		/* derived from all blocks written */
	struct writer_end end;
};

/*
 * Checks access to the N SOURCES before anything is written: -EACCES, -ENOENT
 * and the like.
 */
int content_check(struct context *cx, const char *const *sources, size_t n);

/*
 * The approximate number of bytes in the files of the sources, for an estimate of the
 * time left: exclusions are ignored, and hard links are counted again.  0 if it is not
 * known: standard input, compressed archives, unreadable sources.  Takes about a tenth
 * of the time of a run.
 */
uint64_t content_measure(const struct content *c, const struct context *cx);

/*
 * Writes the logs of all layers on DEV, one checkpoint after the other.  No
 * superblock refers to them yet.  If the plan leaves the size open, the size is set
 * (plan_settle()).  The failure text names the file of the source or the place on
 * the device; -ENOSPC if the volume is too small.
 */
int content_write(struct content *c, struct context *cx, struct dev *dev,
		  struct plan *plan);

/* The size of a device with room for any content. */
#define CONTENT_ROOM (UINT64_C(8) << 40)

struct forecast {
	struct plan plan;	/* with its final size */
	struct content content;	/* the result, counted */
	uint64_t nsegments;	/* the minimum for CONTENT */
};

/*
 * Does all that content_write() would do for PLAN, except writing, on a device
 * with enough room.  Sources are read as far as needed: archives completely, files
 * are only opened.  With zones the device has its real size, and with a volume below
 * that of PLAN: -ENOSPC if that is too small, or more than a block device has.  Fails
 * as content_write().
 */
int content_forecast(struct forecast *f, struct context *cx,
		     const struct plan *plan, const struct content *content);

#endif
