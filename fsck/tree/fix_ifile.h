/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The allocator of the newest ifile, made what the inodes say. */
#ifndef NILFS2_FSCK_IFILEGROUPS_H
#define NILFS2_FSCK_IFILEGROUPS_H

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

#endif
