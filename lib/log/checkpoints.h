/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The new checkpoint in the cpfile.
 */
#ifndef NILFS2_LOG_CHECKPOINTS_H
#define NILFS2_LOG_CHECKPOINTS_H

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

#endif
