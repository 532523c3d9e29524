/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making an older state of the volume the latest one. */
#ifndef NILFS2_FSCK_RESTORE_H
#define NILFS2_FSCK_RESTORE_H

#include "base/context.h"
#include "disk/ondisk.h"
#include "fsck/fixers.h"

/*
 * Looks for the newest super root on job->dev whose state is whole, and makes
 * it the latest: a log with a checkpoint that has the same content goes into a
 * segment of its own, with a sequence number above all others, and superblocks
 * name that.  SB says what the volume is; the log that it names does not
 * matter.  1, 0 where no such super root was found, or a failure.
 */
int restore_root(struct fixer_job *job, struct context *cx,
		 const struct nilfs_super_block *sb);

#endif
