/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The blocks of the newest ifile. */
#ifndef NILFS2_FSCK_FIX_IFILE_H
#define NILFS2_FSCK_FIX_IFILE_H

#include <stddef.h>

#include "base/context.h"
#include "fsck/plan/fixers.h"

/*
 * Fills the ifile of JOB's writer where it begins without blocks, or the holes
 * that FIXES name: with the blocks that it had and, in place of what cannot be
 * read, with what the newest older checkpoint has.  The cpfile is repaired
 * before.  Inodes in use of holes that stay are freed.  1 where directories were
 * restored, 0, or a failure of the writer, -ENOMEM, -EINTR.
 */
int fix_ifile_fill(struct fixer_job *job, struct context *cx,
		   const struct fix *fixes, size_t n);

#endif
