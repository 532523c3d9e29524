/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An ifile whose map is lost, put together again. */
#ifndef NILFS2_FSCK_IFILEFILL_H
#define NILFS2_FSCK_IFILEFILL_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "fsck/plan/fixers.h"

/*
 * Fills the ifile of JOB's writer where it begins without blocks: with those
 * that it had and, in place of what cannot be read, with what the newest older
 * checkpoint has.  The cpfile is repaired before.  0, or a failure of the
 * writer, -ENOMEM, -EINTR.
 */
int ifilefill_run(struct fixer_job *job, struct context *cx);

/*
 * Fills these N holes of the ifile, which has others and its inodes in use
 * there: likewise.  What is not found stays a hole.
 */
int ifilefill_holes(struct fixer_job *job, struct context *cx,
		    const uint64_t *blkoffs, size_t n);

#endif
