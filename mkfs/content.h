/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The content of a new volume: its layers, or none. */
#ifndef NILFS2_MKFS_CONTENT_H
#define NILFS2_MKFS_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "log/writer.h"
#include "mkfs/plan/plan.h"
#include "mkfs/populate/populate.h"
#include "mkfs/source/walk.h"

enum content_snapshots {
	CONTENT_NO_SNAPSHOT,
	CONTENT_EACH,		/* every layer's checkpoint is a snapshot */
	CONTENT_LAST,		/* only the last one's */
};

struct content {
	/*
	 * Directories and archives, one layer each; without any an empty
	 * volume.
	 */
	const char *const *sources;
	size_t nsources;
	struct walk_options walk;	/* its rules are for archives, too */
	enum content_snapshots snapshots;
	bool strict;
	bool forecast;		/* what files hold is neither read nor written */
	uint32_t collect;	/* as writer_options; 0: the default */
	uint64_t allocate;	/* as writer_options */
	bool digest;		/* make `uuid` */

	/* Called now and then with what is done so far, or NULL. */
	void (*progress)(void *arg, const struct populate_counts *counts,
			 uint64_t bytes);
	void *arg;

	/* The result. */
	struct populate_counts counts;	/* of all layers together */
	struct walk_notes notes;	/* of all directories together */
	uint64_t written;		/* blocks, summaries included */
	uint8_t uuid[16];		/* derived from all blocks written */
	struct writer_end end;
};

/*
 * Checks access to the N SOURCES before anything is written: -EACCES, -ENOENT
 * and the like.
 */
int content_check(struct context *cx, const char *const *sources, size_t n);

/*
 * Bytes in the files of the sources, near enough for a time that is left: nothing
 * is excluded, a hard link counts again.  0 where it cannot be known: standard
 * input, compressed archives, what cannot be read.  Takes a tenth of the time of
 * a run.
 */
uint64_t content_measure(const struct content *c, const struct context *cx);

/*
 * Writes the logs of all layers on DEV, one checkpoint each, after one
 * another.  No superblock names them yet.  Where the plan leaves the size
 * open it is settled (plan_settle()).  Failures name the file of the source or
 * the place on the device; -ENOSPC where the volume is too small.
 */
int content_write(struct content *c, struct context *cx, struct dev *dev,
		  struct plan *plan);

struct forecast {
	struct plan plan;	/* where its size was open: settled */
	struct content content;	/* the result, counted */
	uint64_t nsegments;	/* the fewest with which CONTENT can be written */
};

/*
 * Does all that content_write() would do for PLAN, except writing, on a device
 * with enough room: sources are read as far as needed (archives completely,
 * files are only opened).  With zones the device has its real size: -ENOSPC if
 * that is too small.  Fails as content_write().
 */
int content_forecast(struct forecast *f, struct context *cx,
		     const struct plan *plan, const struct content *content);

#endif
