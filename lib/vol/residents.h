/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The blocks of a segment that its logs list and that are still there, live or
 * dead, in the order of the disk.
 *
 * Listed blocks that the DAT has elsewhere, or not at all, are skipped: they
 * are not referred to any more.
 */
#ifndef NILFS2_VOL_RESIDENTS_H
#define NILFS2_VOL_RESIDENTS_H

#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"
#include "disk/segsum.h"
#include "vol/liveness.h"
#include "vol/logscan.h"
#include "vol/summary.h"

struct volume;

struct resident {
	uint64_t blocknr;
	struct segsum_block block;	/* as listed */
	enum liveness_kind kind;
	/* Of a virtual block: the checkpoints [start, end) that it belongs to. */
	uint64_t start, end;
};

struct residents {
	struct volume *vol;
	const struct liveness *liveness;
	struct logscan scan;
	struct log log;
	struct summary summary;
	bool inside;		/* of LOG */
};

/*
 * Starts in segment SEGNUM, of which NBLOCKS blocks are in use (su_nblocks).
 * L (borrowed) says who is alive.  To be closed after a failure, too.
 */
int residents_open(struct residents *r, struct context *cx,
		   struct volume *vol, const struct liveness *l,
		   uint64_t segnum, uint32_t nblocks);

/*
 * Steps: 1 and *RES, 0 at the end; -EUCLEAN where a summary or the DAT is
 * broken, -EIO, -ENOMEM.  Follows nilfs_get_vdesc() and nilfs_get_bdesc() of
 * nilfs-utils' cleaner.
 */
int residents_next(struct residents *r, struct context *cx,
		   struct resident *res);

void residents_close(struct residents *r);

#endif
