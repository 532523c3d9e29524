/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks of the DAT that are lost, made again: as the logs still have them, or
 * from what the logs list.
 */
#ifndef NILFS2_FSCK_DATBLOCKS_H
#define NILFS2_FSCK_DATBLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "check/listings.h"
#include "fsck/dat/groupfix.h"
#include "fsck/plan/fixers.h"
#include "log/metafile.h"

/*
 * Fills block BLKOFF of the DAT M with what COPY, a listing of that block, has.
 * 1, 0 where that cannot be read or is a block of entries none of which makes
 * sense, a failure.
 */
int datblocks_copy(struct fixer_job *job, struct context *cx,
		   struct metafile *m, uint64_t blkoff,
		   const struct listing *copy);

/*
 * Makes block BLKOFF of entries from the listings L of their virtual blocks.
 * Which checkpoint ended a block no log says: all that are listed live from
 * now on.
 */
int datblocks_remake(struct fixer_job *job, struct context *cx,
		     struct metafile *m, uint64_t blkoff,
		     const struct listings *l);

/* True where entry DE, in use, could be what it says. */
bool datblocks_is_plausible(const struct fixer_job *job,
			    const struct nilfs_dat_entry *de);

/* A set for all virtual blocks up to what memory allows; see sparse_init(). */
int datblocks_set(struct sparse *s, struct context *cx, uint64_t end);

#endif
