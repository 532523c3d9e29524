/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sparse blocks of the DAT: those that could go if the numbers that are in use
 * there were others.
 */
#ifndef NILFS2_GC_DATUSE_H
#define NILFS2_GC_DATUSE_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "log/tally.h"
#include "vol/volume.h"

struct datuse_block {
	uint64_t blkoff;	/* in the DAT */
	uint64_t first;		/* number */
	uint32_t count, used;	/* numbers */
	uint32_t kept;		/* of those used: not of cpfile and SUFILE */
};

struct datuse {
	struct datuse_block *blocks;	/* the fewest kept first */
	size_t n, room;
	uint64_t numbers, used;		/* of all blocks of the DAT */
	struct tally holes;		/* where it has none before its end */
};

/*
 * Looks at the DAT of VOL; to be freed, also after a failure.  -EUCLEAN, -EIO
 * where it cannot be read, -ENOMEM.
 */
int datuse_find(struct datuse *s, struct context *cx, struct volume *vol);
void datuse_free(struct datuse *s);

/* How many blocks can go where SPARE numbers more are to have room. */
size_t datuse_count(const struct datuse *s, uint64_t spare);

/* Numbers that a log on VOL takes for metadata. */
uint64_t datuse_spare(const struct volume *vol);

#endif
