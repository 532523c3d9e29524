// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Directory blocks, one after the other.
 *
 * An entry follows the one before it, or begins the next block if it does not
 * fit.
 */
#include "mkfs/populate/dirblocks.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "disk/ondisk.h"

static int add_block(struct dirblocks *d, struct context *cx)
{
	if (array_reserve(cx, &d->data, &d->room,
			  (d->nblocks + 1) * d->block_size))
		return -ENOMEM;
	dirpack_init(&d->pack, d->data + d->nblocks * d->block_size,
		     d->block_size);
	d->nblocks++;
	return 0;
}

int dirblocks_add(struct dirblocks *d, struct context *cx, uint64_t ino,
		  uint8_t type, const char *name, uint8_t len)
{
	int err;

	if (dirpack_add(&d->pack, ino, type, name, len))
		return 0;
	dirpack_end(&d->pack);
	err = add_block(d, cx);
	if (!err)
		dirpack_add(&d->pack, ino, type, name, len);
	return err;
}

int dirblocks_begin(struct dirblocks *d, struct context *cx, uint64_t ino,
		    uint64_t parent)
{
	int err;

	d->nblocks = 0;
	err = add_block(d, cx);
	if (err)
		return err;
	dirpack_add(&d->pack, ino, NILFS_FT_DIR, ".", 1);
	dirpack_add(&d->pack, parent, NILFS_FT_DIR, "..", 2);
	return 0;
}

void dirblocks_end(struct dirblocks *d)
{
	dirpack_end(&d->pack);
}

void dirblocks_fini(struct dirblocks *d)
{
	free(d->data);
	d->data = NULL;
	d->room = 0;
}
