/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Room for a repair where there is none: what only old checkpoints need. */
#ifndef NILFS2_FSCK_HISTORY_H
#define NILFS2_FSCK_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "fsck/plan/fixers.h"

struct history {
	uint64_t *segments;	/* given up, ascending */
	size_t n, room;
};

/*
 * Gives up to WANT segments to job->writer, and what was in them: its numbers
 * are free, plain checkpoints that had it are no more.  Nothing in them is of
 * the latest state or of a snapshot.  *H, all zero before, is taken back with
 * history_fini() when the writer is done.
 *
 * -ENOSPC where there is none, or where the DAT, which knows what lives, is not
 * sound.  -EUCLEAN, -EIO, -ENOMEM, -EINTR.
 */
int history_take(struct history *h, struct context *cx, struct fixer_job *job,
		 size_t want);
void history_fini(struct history *h, struct fixer_job *job);

#endif
