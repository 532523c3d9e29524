// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Directory blocks, one after the other.
 *
 * An entry follows the one before it, or begins the next block if it does not
 * fit.
 */
#include "mkfs/populate/dirblocks.h"

#include <errno.h>

#include "base/array.h"
#include "disk/ondisk.h"

int dirblocks_add(struct dirblocks *d, struct context *cx, uint64_t ino,
		  uint8_t type, const char *name, uint8_t len)
{
	size_t at = d->nblocks * d->block_size;

	if (d->nblocks) {
		if (dirpack_add(&d->pack, ino, type, name, len))
			return 0;
		dirpack_end(&d->pack);
	}
	if (array_reserve(cx, &d->data, &d->room, at + d->block_size))
		return -ENOMEM;
	dirpack_init(&d->pack, d->data + at, d->block_size);
	d->nblocks++;
	dirpack_add(&d->pack, ino, type, name, len);
	return 0;
}

int dirblocks_begin(struct dirblocks *d, struct context *cx, uint64_t ino,
		    uint64_t parent)
{
	int err;

	d->nblocks = 0;
	err = dirblocks_add(d, cx, ino, NILFS_FT_DIR, ".", 1);
	return err ? err : dirblocks_add(d, cx, parent, NILFS_FT_DIR, "..", 2);
}
