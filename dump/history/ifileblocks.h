/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The blocks with the inodes of a checkpoint whose ifile is damaged. */
#ifndef NILFS2_DUMP_IFILEBLOCKS_H
#define NILFS2_DUMP_IFILEBLOCKS_H

#include <stdint.h>

#include "base/context.h"
#include "base/inoset.h"
#include "disk/palloc.h"
#include "dump/history/logitems.h"
#include "vol/extent.h"
#include "vol/root.h"

/*
 * Inodes FIRST to LAST were not found as of the checkpoint: CNO is the older one that
 * they are as of, or 0 if they are lost.
 */
typedef void ifileblocks_damage(void *arg, uint64_t first, uint64_t last,
				uint64_t cno);

/*
 * Finds the blocks with inodes of ROOT: by the map of its ifile, and where this or a
 * block is damaged, in LOGS.  ROOT reads its ifile by them, until the caller frees
 * *EXTENTS; those that are as of an older checkpoint are in STALE.  -ENOMEM, also if
 * the blocks that logs list exceed the memory budget, -EINTR.
 */
int ifileblocks_find(struct root *root, struct context *cx,
		     struct logitems *logs, struct extent **extents,
		     struct inoset *stale, ifileblocks_damage *damage,
		     void *arg);

/* The inodes in block B of the current log of LOGS, if it is one of an ifile: 1 and
   *WHERE and *BLOCK, to be released with cache_put(); 0.  -ENOMEM. */
int ifileblocks_of_log(struct logitems *logs, struct context *cx,
		       const struct segsum_block *b, struct palloc_block *where,
		       const void **block);

#endif
