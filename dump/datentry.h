/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One entry of the DAT with its bit in the bitmap. */
#ifndef NILFS2_DUMP_DATENTRY_H
#define NILFS2_DUMP_DATENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"
#include "dump/held.h"

struct volume;

struct datentry {
	bool exists;		/* the DAT has a block for it */
	bool used;		/* the bit */
	uint64_t group;		/* of the allocator */
	struct nilfs_dat_entry de;	/* zeros where none exists */
	enum held_state state;
};

/* Reads the entry of VBLOCKNR.  -EUCLEAN, -EIO. */
int datentry_read(struct datentry *e, struct context *cx, struct volume *vol,
		  const struct held *h, uint64_t vblocknr);

#endif
