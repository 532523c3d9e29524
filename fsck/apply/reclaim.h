/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making room for a repair by dropping old checkpoints. */
#ifndef NILFS2_FSCK_RECLAIM_H
#define NILFS2_FSCK_RECLAIM_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "fsck/plan/fixers.h"

struct reclaim {
	uint64_t *segments;	/* dropped, ascending */
	size_t n, room;
};

/*
 * Releases up to WANT segments to job->writer, with their content: virtual
 * numbers are freed, and plain checkpoints that refer to them deleted.  Nothing
 * in them is of the latest state or of a snapshot.  *H, all zero before, is
 * freed with reclaim_fini() when the writer is done.
 *
 * -ENOSPC if there is none, or if the DAT, which shows what is live, is not
 * sound.  -EUCLEAN, -EIO, -ENOMEM, -EINTR.
 */
int reclaim_take(struct reclaim *h, struct context *cx, struct fixer_job *job,
		 size_t want);
void reclaim_fini(struct reclaim *h, struct fixer_job *job);

#endif
