/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blocks of old logs, mended where they are. */
#ifndef NILFS2_FSCK_INPLACE_H
#define NILFS2_FSCK_INPLACE_H

#include "base/context.h"
#include "fsck/plan/fixers.h"

/*
 * Whether anything can be: not without an undo file, and not on zones, below
 * whose write pointers nothing is ever written.
 */
bool inplace_is_possible(const struct fixer_job *job);

/*
 * Gives block BLOCKNR CONTENT, and the log that it is in the checksum for it.
 * -ENOMEM, -EIO, -EINTR.
 */
int inplace_write(struct fixer_job *job, struct context *cx, uint64_t blocknr,
		  const void *content);

#endif
