// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Directory blocks, filled front to back.
 *
 * An entry goes behind the one before it, or begins the next block where it
 * does not fit; only the last entry of a block is longer than it must be, up
 * to the block's end.
 *
 * A length of 65536 has no form that every kernel reads alike, so an entry
 * alone in a block of 64 KiB is followed by free room: an entry without inode.
 */
#include "mkfs/dirblocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "disk/dirent.h"

static uint8_t *block(const struct dirblocks *d)
{
	return d->data + (d->nblocks - 1) * d->block_size;
}

/* Writes an entry's head where the block is used up to. */
static void put(struct dirblocks *d, uint64_t ino, uint8_t type,
		const char *name, uint8_t len)
{
	struct nilfs_dir_entry *de =
		(struct nilfs_dir_entry *)(block(d) + d->used);
	uint32_t rec_len = dirent_rec_len(len);

	de->inode = le64_make(ino);
	de->rec_len = dirent_rec_len_encode(rec_len);
	de->name_len = len;
	de->file_type = type;
	memcpy(de->name, name, len);
	d->last = d->used;
	d->used += rec_len;
}

/* Makes the last entry reach the end of its block. */
static void complete(struct dirblocks *d)
{
	struct nilfs_dir_entry *de;

	if (!d->last && d->block_size > NILFS_MAX_REC_LEN)
		put(d, 0, NILFS_FT_UNKNOWN, "", 0);
	de = (struct nilfs_dir_entry *)(block(d) + d->last);
	de->rec_len = dirent_rec_len_encode(d->block_size - d->last);
	d->used = d->block_size;
}

static int add_block(struct dirblocks *d, struct context *cx)
{
	uint8_t *data = array_grow(cx, d->data, &d->room,
				   (d->nblocks + 1) * d->block_size, 1);

	if (!data)
		return -ENOMEM;
	d->data = data;
	d->nblocks++;
	d->used = 0;
	memset(block(d), 0, d->block_size);
	return 0;
}

int dirblocks_add(struct dirblocks *d, struct context *cx, uint64_t ino,
		  uint8_t type, const char *name, uint8_t len)
{
	int err;

	if (dirent_rec_len(len) > d->block_size - d->used) {
		complete(d);
		err = add_block(d, cx);
		if (err)
			return err;
	}
	put(d, ino, type, name, len);
	return 0;
}

int dirblocks_begin(struct dirblocks *d, struct context *cx, uint64_t ino,
		    uint64_t parent)
{
	int err;

	d->nblocks = 0;
	err = add_block(d, cx);
	if (err)
		return err;
	put(d, ino, NILFS_FT_DIR, ".", 1);
	put(d, parent, NILFS_FT_DIR, "..", 2);
	return 0;
}

void dirblocks_end(struct dirblocks *d)
{
	complete(d);
}

void dirblocks_fini(struct dirblocks *d)
{
	free(d->data);
	d->data = NULL;
	d->room = 0;
}
