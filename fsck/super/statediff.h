/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many files two states of a volume do not have in common. */
#ifndef NILFS2_FSCK_STATEDIFF_H
#define NILFS2_FSCK_STATEDIFF_H

#include <stdint.h>

#include "base/context.h"
#include "vol/volume.h"

/*
 * Counts the inodes of the latest checkpoints of A and B that are in only one
 * of them, or are not the same there.  0 and *N; -EUCLEAN, -EIO, -ENOENT where
 * an ifile cannot be read; -EINTR.
 */
int statediff_count(struct context *cx, struct volume *a, struct volume *b,
		    uint64_t *n);

#endif
