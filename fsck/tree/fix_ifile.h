/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The allocator of the newest ifile, made what the inodes say. */
#ifndef NILFS2_FSCK_FIX_IFILE_H
#define NILFS2_FSCK_FIX_IFILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "fsck/dat/groupfix.h"
#include "fsck/plan/fixers.h"

/*
 * Makes bitmaps that are missing, and the counts, of the groups in G, whose
 * file is the ifile of JOB's writer; they are in order then.  Fails as
 * metafile_change().
 */
int fix_ifile_groups(struct fixer_job *job, struct context *cx,
		     struct groupfix *g);

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
