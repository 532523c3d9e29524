/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The blocks of the checkpoint file, derived. */
#ifndef NILFS2_FSCK_FIX_CHECKPOINTS_H
#define NILFS2_FSCK_FIX_CHECKPOINTS_H

#include "base/context.h"
#include "fsck/derive/derived.h"
#include "fsck/plan/fixers.h"

/*
 * Derives the blocks of the cpfile of JOB's volume, if its map leads to all of
 * them: entries by their ifiles, older copies and the logs, list and header by
 * the entries.  -ENOMEM, -EINTR.
 */
int fix_checkpoints_derive(struct derived *d, struct context *cx,
			   struct fixer_job *job);

#endif
