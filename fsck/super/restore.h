/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening the volume at another super root than superblocks lead to. */
#ifndef NILFS2_FSCK_RESTORE_H
#define NILFS2_FSCK_RESTORE_H

#include "base/context.h"
#include "disk/ondisk.h"
#include "fsck/plan/fixers.h"

/*
 * Looks for super roots on job->dev, newest first, and makes number
 * job->state_number of those from which a volume can be opened, from 0,
 * job->state; superblocks like SB name its log.  SB says what the volume is;
 * the log that it names matters only in so far as it was complete once.  1, 0
 * where there are not so many, or a failure.
 */
int restore_root(struct fixer_job *job, struct context *cx,
		 const struct nilfs_super_block *sb);

#endif
