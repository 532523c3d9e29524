/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Data that was synced before a crash, put into its files. */
#ifndef NILFS2_FSCK_FORWARD_H
#define NILFS2_FSCK_FORWARD_H

#include <stdbool.h>

#include "base/bitmap.h"
#include "base/context.h"
#include "fsck/fixers.h"

/* Whether a mount of VOL would have to look for such data. */
bool forward_is_due(const struct volume *vol);

/* Whether C found the metadata sound enough to write a log on it. */
bool forward_is_possible(const struct check *c);

/*
 * Writes what data-sync logs behind the latest super root of job->vol hold into
 * its files, adds a checkpoint, and writes superblocks that name it and are
 * marked valid: nilfs_salvage_orphan_logs().  The segments with the data, which
 * must not be written to before those superblocks are on the device, are in
 * *NEEDED then (bitmap_fini() in any case).  1, 0 where the logs hold nothing
 * of use, -ENOSPC, -EUCLEAN, -EIO.
 */
int forward_run(struct fixer_job *job, struct context *cx,
		struct bitmap *needed);

#endif
