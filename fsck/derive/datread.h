/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading the blocks of the DAT at their newest listings. */
#ifndef NILFS2_FSCK_DATREAD_H
#define NILFS2_FSCK_DATREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "check/check.h"
#include "check/logs/listings.h"
#include "dev/dev.h"

struct datread {
	struct dev *dev;	/* borrowed, as VOL is */
	struct volume *vol;
	struct listings listings;	/* of the DAT's blocks */
	/* The map led to an older version of a block, or does not have one that
	   is needed: it is an older version itself. */
	bool stale;
};

/* Reads the logs of C's volume.  -ENOMEM, -EINTR; datread_fini() always. */
int datread_init(struct datread *o, struct context *cx, const struct check *c,
		 struct dev *dev);
void datread_fini(struct datread *o);

/* Whether logs of the segment of block BLOCKNR cannot be read. */
bool datread_is_unread(const struct datread *o, uint64_t blocknr);

/*
 * Reads block BLKOFF of the DAT, which is at *BLOCKNR, into BUF: 1, 0 for a
 * hole, -ENOMEM, -EINTR; what cannot be read is zeros.
 */
int datread_read(struct datread *o, struct context *cx, uint64_t blkoff,
		 uint64_t *blocknr, char *buf);

/* Block BLKOFF is a hole, and is needed: the map is stale if a log has it. */
void datread_lacks(struct datread *o, uint64_t blkoff);

/*
 * Block BLKOFF, at BLOCKNR, is nothing of the DAT: puts what was there before
 * into BUF.  1, 0 where there is no older version, or a failure as above.
 */
int datread_read_older(const struct datread *o, struct context *cx,
		       uint64_t blkoff, uint64_t blocknr, char *buf);

/*
 * Sets c->sufile_doubted unless the SUFILE is where its newest listings are.
 * -ENOMEM, -EINTR.
 */
int datread_doubt_sufile(struct check *c, struct context *cx);

#endif
