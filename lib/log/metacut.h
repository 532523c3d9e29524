/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The block map of a metadata file that becomes shorter, or gets a hole. */
#ifndef NILFS2_LOG_METACUT_H
#define NILFS2_LOG_METACUT_H

#include <stdint.h>

#include "base/context.h"
#include "log/metatree.h"

/*
 * The file has no data blocks from KEY on any more: their pointers end, and so
 * do those of nodes that have nothing left.  Fails as metatree_insert().
 * Follows nilfs_bmap_truncate(), but neighbours are not evened out.
 */
int metacut_from(struct metatree *t, struct context *cx, uint64_t key);

/*
 * The file has no data block KEY any more: 1, 0 where it had none, or as
 * metatree_insert().  Follows nilfs_bmap_delete(): a node that becomes less
 * than half full shares what its neighbour has, or becomes one with it.
 */
int metacut_at(struct metatree *t, struct context *cx, uint64_t key);

#endif
