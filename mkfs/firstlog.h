/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first log of a volume: an empty root directory in checkpoint 1. */
#ifndef NILFS2_MKFS_FIRSTLOG_H
#define NILFS2_MKFS_FIRSTLOG_H

#include <stdint.h>

#include "mkfs/plan.h"

/* Blocks of the log; at most 12, and always inside the first segment. */
uint32_t firstlog_nblocks(const struct nilfs_geometry *g);

/*
 * Lays the log out in BUF, which has room for its blocks and is all zero.  It
 * belongs at block g.first_data_block.
 */
void firstlog_fill(const struct plan *plan, void *buf);

#endif
