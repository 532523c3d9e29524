// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Inodes changed in their place.
 *
 * A writer hands out inode numbers and takes them back; what is wrong with the
 * bitmap itself, or with an inode that it calls free, is past it.
 */
#include "fsck/tree/inodeedit.h"

#include <string.h>

int inodeedit_read(const struct inodeedit *e, struct context *cx,
		   uint64_t ino, struct nilfs_inode *inode)
{
	const void *data;
	int ret = metafile_look(e->ifile, cx,
				palloc_entry_blkoff(e->palloc, ino), &data);

	memset(inode, 0, sizeof(*inode));
	if (ret > 0)
		memcpy(inode, (const char *)data +
		       palloc_entry_offset(e->palloc, ino), sizeof(*inode));
	return ret;
}

int inodeedit_write(struct inodeedit *e, struct context *cx, uint64_t ino,
		    const struct nilfs_inode *inode)
{
	void *data;
	int err = metafile_change(e->ifile, cx,
				  palloc_entry_blkoff(e->palloc, ino), &data,
				  NULL);

	if (!err)
		memcpy((char *)data + palloc_entry_offset(e->palloc, ino),
		       inode, sizeof(*inode));
	return err;
}

int inodeedit_is_used(const struct inodeedit *e, struct context *cx,
		      uint64_t ino)
{
	uint64_t group = palloc_group(e->palloc, ino);
	const void *bitmap;
	int ret = metafile_look(e->ifile, cx,
				palloc_bitmap_blkoff(e->palloc, group),
				&bitmap);

	if (ret <= 0)
		return ret;
	return palloc_bit(bitmap, palloc_group_offset(e->palloc, ino));
}

/* Counts what is free in the group of INO, whose bitmap has USED bits. */
static int count_free_bits(struct inodeedit *e, struct context *cx,
			   uint64_t ino, uint32_t used)
{
	uint64_t group = palloc_group(e->palloc, ino);
	struct nilfs_palloc_group_desc *descs;
	uint32_t i;
	void *data;
	bool fresh;
	int err = metafile_change(e->ifile, cx,
				  palloc_desc_blkoff(e->palloc, group), &data,
				  &fresh);

	if (err)
		return err;
	descs = data;
	for (i = 0; fresh && i < e->palloc->groups_per_desc; i++)
		descs[i].pg_nfrees = le32_make(e->palloc->entries_per_group);
	descs = (void *)((char *)data + palloc_desc_offset(e->palloc, group));
	descs->pg_nfrees = le32_make(e->palloc->entries_per_group - used);
	return 0;
}

int inodeedit_mark(struct inodeedit *e, struct context *cx, uint64_t ino,
		   bool used)
{
	uint32_t bit = palloc_group_offset(e->palloc, ino);
	uint8_t *bitmap;
	void *data;
	int err = metafile_change(e->ifile, cx,
				  palloc_bitmap_blkoff(e->palloc,
						       palloc_group(e->palloc,
								    ino)),
				  &data, NULL);

	if (err || palloc_bit(data, bit) == used)
		return err;
	bitmap = data;
	bitmap[bit / 8] ^= (uint8_t)(1u << bit % 8);
	e->bits = true;
	if (ino >= NILFS_USER_INO)
		e->more += used ? 1 : -1;
	return count_free_bits(e, cx, ino, palloc_count(e->palloc, bitmap));
}

int inodeedit_clear(struct inodeedit *e, struct context *cx, uint64_t ino)
{
	static const struct nilfs_inode none;
	int err = inodeedit_write(e, cx, ino, &none);

	return err ? err : inodeedit_mark(e, cx, ino, false);
}
