/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The attributes of the inodes in one block of an ifile, before and after. */
#ifndef NILFS2_FSCK_ATTRIBUTES_H
#define NILFS2_FSCK_ATTRIBUTES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/palloc.h"
#include "fsck/account/expected.h"
#include "fsck/account/sides.h"
#include "vol/file.h"

struct attributes {
	struct sides *s;
	const struct sides_state *state;
	const struct expected *e; /* of the ifile */
	const struct palloc_block *what;
	uint64_t blkoff, vblocknr; /* of the ifile; 0: not known */
	uint64_t before;	   /* where the block was; 0: not known */
	const char *inodes[2];	   /* of each side; NULL: could not be read */
	struct file *ifile;	   /* the one before, or NULL */
	bool is_stale; /* the one before is of an older checkpoint */
	bool is_proven; /* it is what was written */
};

/* What the bitmap of IFILE, or NULL, says of inode INO: 1 in use, 0 free,
   negative if it cannot be read, or has not as many as its descriptor says. */
int attributes_is_in_use(struct file *ifile, struct context *cx, uint64_t ino);

/*
 * Whether the block before is, byte for byte, a version that another one has
 * replaced by the checkpoint.  Uses the buffers of the sides.
 */
bool attributes_is_stale(const struct attributes *a, struct context *cx);

/*
 * The block as it was written, where the checksum of its log proves it: that
 * after the repair, or with the unused inodes of another version.  Borrowed
 * until the buffers of the sides are used again; NULL where nothing is proved.
 */
const char *attributes_find(const struct attributes *a, struct context *cx);

/*
 * Adds the inodes whose attributes have, or may have, changed.  If more than
 * one was changed, or refers to blocks of others, the whole block is treated as
 * another one.  1 if there is any, 0, -ENOMEM, -EINTR.
 */
int attributes_compare(const struct attributes *a, struct context *cx);

#endif
