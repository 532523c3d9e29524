/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Adding the new checkpoint to the cpfile; changing and deleting old ones. */
#ifndef NILFS2_LOG_CHECKPOINTS_H
#define NILFS2_LOG_CHECKPOINTS_H

#include <stdint.h>

#include "base/context.h"

struct writer;

/*
 * Creates the entry of the new checkpoint, counts it, and adds it to the list
 * of snapshots if requested: nilfs_cpfile_get_checkpoint(),
 * nilfs_cpfile_set_snapshot().
 */
int checkpoints_make(struct writer *w, struct context *cx);

/*
 * Completes the entry, whose block is dirty, after all logs are listed:
 * nilfs_segctor_fill_in_checkpoint().
 */
int checkpoints_complete(struct writer *w, struct context *cx);

/*
 * Deletes checkpoint CNO: nilfs_cpfile_delete_checkpoints().  -EBUSY for a
 * snapshot, 0 also if it does not exist.
 */
int checkpoints_delete(struct writer *w, struct context *cx, uint64_t cno);

/*
 * Converts checkpoint CNO to a snapshot: nilfs_cpfile_set_snapshot().  Counts
 * of live blocks are no longer exact.  -EINVAL if it does not exist or is a
 * snapshot, -EUCLEAN for a broken list of snapshots.
 */
int checkpoints_set(struct writer *w, struct context *cx, uint64_t cno);

/*
 * Converts snapshot CNO to a plain checkpoint: nilfs_cpfile_clear_snapshot().
 * Counts of live blocks are no longer exact.  -EINVAL if it is not a snapshot.
 */
int checkpoints_unset(struct writer *w, struct context *cx, uint64_t cno);

#endif
