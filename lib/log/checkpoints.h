/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The new checkpoint in the cpfile, and old ones that go.
 */
#ifndef NILFS2_LOG_CHECKPOINTS_H
#define NILFS2_LOG_CHECKPOINTS_H

#include <stdint.h>

#include "base/context.h"

struct writer;

/*
 * Makes the entry, counts it, and lists it as a snapshot where it is to be
 * one: nilfs_cpfile_get_checkpoint(), nilfs_cpfile_set_snapshot().
 */
int checkpoints_make(struct writer *w, struct context *cx);

/*
 * Completes the entry, whose block is dirty, once all logs are listed:
 * nilfs_segctor_fill_in_checkpoint().
 */
int checkpoints_complete(struct writer *w, struct context *cx);

/*
 * Checkpoint CNO, which is no snapshot, is gone:
 * nilfs_cpfile_delete_checkpoints().  -EBUSY for a snapshot, 0 also for one
 * that does not exist.
 */
int checkpoints_delete(struct writer *w, struct context *cx, uint64_t cno);

/*
 * Snapshot CNO becomes a plain checkpoint: nilfs_cpfile_clear_snapshot().
 * Counts of live blocks are not exact any more.  -EINVAL where it is none.
 */
int checkpoints_unset(struct writer *w, struct context *cx, uint64_t cno);

#endif
