/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The allocators of ifiles of the past, made what their inodes say. */
#ifndef NILFS2_FSCK_PASTGROUPS_H
#define NILFS2_FSCK_PASTGROUPS_H

#include <stddef.h>

#include "base/context.h"
#include "fsck/plan/fixers.h"

/*
 * Repairs bitmaps and counts of the groups that FIXES name in checkpoints other
 * than the latest.  -ENOMEM, -EINTR, or as pastblocks_write().
 */
int pastgroups_repair(struct fixer_job *job, struct context *cx,
		      const struct fix *fixes, size_t n);

#endif
