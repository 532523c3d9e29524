/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making the state of an older checkpoint the newest. */
#ifndef NILFS2_FSCK_ROLLBACK_H
#define NILFS2_FSCK_ROLLBACK_H

#include <stdint.h>

#include "base/context.h"
#include "fsck/plan/fixers.h"

/*
 * Adds a checkpoint to job->vol, which a look found to be sound, that has the
 * files of checkpoint CNO (0: the last one before the latest that is no minor
 * one), and writes superblocks that name it.  No checkpoint is lost by that, and another one
 * leads back.  -ENOENT where there is no such checkpoint, -ENOSPC, -EIO.
 */
int rollback_run(struct fixer_job *job, struct context *cx, uint64_t cno);

#endif
