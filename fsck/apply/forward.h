/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Merging data that was synced before a crash into its files. */
#ifndef NILFS2_FSCK_FORWARD_H
#define NILFS2_FSCK_FORWARD_H

#include <stdbool.h>

#include "base/bitmap.h"
#include "base/context.h"
#include "fsck/apply/repair.h"
#include "fsck/plan/fixers.h"
#include "vol/rollforward.h"

/* Whether a mount of VOL would have to look for such data. */
bool forward_is_due(const struct volume *vol);

/* Whether C found the metadata sound enough to write a log on it. */
bool forward_is_possible(const struct check *c);

/*
 * What data-sync logs of VOL after the super root REC hold, *RFP, for
 * rollforward_free(), and in *NEEDED, all zero at first, the segments that it
 * is in (bitmap_fini() in any case).  FILES as for salvage_collect().  1, 0
 * where they hold nothing of use, then *RFP is NULL, or a failure.
 */
int forward_collect(struct volume *vol, struct context *cx,
		    const struct recovery *rec, struct volume *files,
		    struct rollforward **rfp, struct bitmap *needed);

/*
 * Writes RF into its files, adds a checkpoint, and writes superblocks that name
 * it and are marked valid: nilfs_salvage_orphan_logs().  The segments NEEDED
 * must not be written to before those superblocks are on the device.  0,
 * -ENOSPC, -EUCLEAN, -EIO.
 */
int forward_run(struct fixer_job *job, struct context *cx,
		const struct rollforward *rf, const struct bitmap *needed);

/*
 * Before the first round of R: writes what a mount would recover to a log, and
 * R->now is the look at that; or, if metadata is broken, leaves it to
 * forward_last().  0, or a failure.
 */
int forward_first(struct repair *r, struct context *cx);

/*
 * After all rounds: writes the remaining data to a log, or drops it, and
 * reports that.
 */
int forward_last(struct repair *r, struct context *cx);

#endif
