/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Truncating the block map of a metadata file, or making a hole in it. */
#ifndef NILFS2_LOG_METACUT_H
#define NILFS2_LOG_METACUT_H

#include <stdint.h>

#include "base/context.h"
#include "log/meta/metatree.h"

/*
 * The file has no data blocks from KEY on any more: their pointers end, and so
 * do those of nodes that have nothing left.  Fails as metatree_insert().
 * Follows nilfs_bmap_truncate(), but neighbours are not evened out.
 */
int metacut_from(struct metatree *t, struct context *cx, uint64_t key);

/*
 * Deletes data block KEY: 1, 0 if there is none, or as metatree_insert().
 * Follows nilfs_bmap_delete(): a node that becomes less than half full takes
 * entries of a sibling, or is merged with it.
 */
int metacut_at(struct metatree *t, struct context *cx, uint64_t key);

#endif
