/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --keep: checkpoints that a rule makes snapshots, and the record of these. */
#ifndef NILFS2_GC_KEEPING_H
#define NILFS2_GC_KEEPING_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/tool.h"
#include "dev/dev.h"
#include "gc/options.h"
#include "gc/plan/keep.h"
#include "vol/volume.h"

/* The decision about a checkpoint: FATE of a point. */
enum keeping_fate {
	KEEPING_PLAIN,		/* it is a plain checkpoint, and stays one */
	KEEPING_HAND,		/* a snapshot that was not made by the rule */
	KEEPING_NEW,		/* the rule makes it a snapshot */
	KEEPING_KEPT,		/* it is a snapshot of the rule, and stays one */
	KEEPING_DROPPED,	/* it was one, and becomes a plain checkpoint */
};

struct keeping {
	struct keep_point *points;	/* ascending */
	size_t n, room;
	size_t recorded;		/* lines of the record */
	size_t busy, vanished;		/* keeping_forgive() */
	char path[PATH_MAX];		/* of the record */
	const char *volume;		/* as given */
	bool standard;			/* it has its standard name */
};

/*
 * Lists the checkpoints of VOL, or of the mounted volume on DEV if it is NULL, with those
 * that the rule of O chooses and those of the record.  To be closed also after a
 * failure: -EINVAL for a file that is no record, or as volume_open_bare(), fopen(3).
 */
int keeping_open(struct keeping *k, struct tool *tool, struct context *cx,
		 const struct options *o, struct dev *dev, struct volume *vol);
void keeping_close(struct keeping *k);

/* The point of checkpoint CNO, or NULL. */
struct keep_point *keeping_find(const struct keeping *k, uint64_t cno);

/*
 * Decides what becomes of checkpoint CNO, which is a snapshot if WAS, and one by hand
 * from now on if BY_HAND.
 */
enum keeping_fate keeping_decide(struct keeping *k, uint64_t cno, bool was,
				 bool by_hand);

/* Whether the record can be written: 0, or as output_check(). */
int keeping_check(const struct keeping *k, struct context *cx);

/*
 * Writes the record if it differs.  It never has a snapshot that was made by hand: one to
 * be dropped leaves it before the volume is changed, a new one gets into it after that
 * (DONE).
 * Fails as output_open() and output_commit().
 */
int keeping_write(struct keeping *k, struct context *cx, bool done);

/*
 * A failure has left checkpoints from FIRST on as they were: snapshots that were to be
 * dropped are kept.
 */
void keeping_undo(struct keeping *k, uint64_t first);

/*
 * Judges the failure RET of the kernel to change checkpoint CNO: 0 if it was chosen to be
 * dropped and is mounted, of which it warns, or chosen to be new and is deleted.
 * Otherwise RET, after keeping_undo().
 */
int keeping_forgive(struct keeping *k, struct tool *tool, struct context *cx,
		    uint64_t cno, int ret);

/* Reports the snapshots, as a table of the open section. */
void keeping_report(const struct keeping *k, struct report *r);

#endif
