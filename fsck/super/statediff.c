// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two states of a volume, compared by their inodes.
 *
 * A block of an ifile that both have under the same virtual number is the same
 * block, so only what was written in between is read.  An inode changes with
 * each change of its file, its map, its size or its times.
 */
#include "fsck/super/statediff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "disk/ondisk.h"
#include "vol/root.h"

struct statediff {
	struct root root[2];
	const struct palloc *palloc;
	char *block;		/* a copy of the first one's */
	uint64_t n;
};

static bool is_used(const struct nilfs_inode *inode)
{
	return le16_get(inode->i_links_count);
}

/* Counts in two blocks of entries; OTHER is NULL for a hole. */
static void compare_entries(struct statediff *d, const char *block,
			    const char *other)
{
	static const struct nilfs_inode none;
	uint32_t size = d->root[0].vol->geo.inode_size, at;

	for (at = 0; at + size <= d->root[0].vol->geo.block_size; at += size) {
		const struct nilfs_inode *a = (const void *)(block + at);
		const struct nilfs_inode *b =
			other ? (const void *)(other + at) : &none;

		d->n += (is_used(a) || is_used(b)) &&
			memcmp(a, b, sizeof(*a)) != 0;
	}
}

/* Block BLKOFF of ifile FROM, which the other one does not have so. */
static int compare_block(struct statediff *d, struct context *cx, int from,
			 uint64_t blkoff)
{
	struct file *file = &d->root[from].ifile;
	struct file *other = &d->root[!from].ifile;
	const void *block;
	int ret = file_block(file, cx, blkoff, &block);

	if (ret <= 0)
		return ret;
	memcpy(d->block, block, d->root[0].vol->geo.block_size);
	file_put(file, block);
	ret = file_block(other, cx, blkoff, &block);
	if (ret < 0)
		return ret;
	/* What both have was compared from the first one's side. */
	if (!ret || !from)
		compare_entries(d, d->block, ret ? block : NULL);
	if (ret)
		file_put(other, block);
	return 0;
}

static bool has_entries(const struct statediff *d, uint64_t blkoff)
{
	struct palloc_block where;

	palloc_locate(d->palloc, blkoff, &where);
	return where.kind == PALLOC_ENTRIES;
}

/* Block ITEM of ifile FROM, unless it is one that the other one shares. */
static int compare_item(struct statediff *d, struct context *cx, int from,
			const struct blockmap_item *item)
{
	uint64_t ptr;
	int ret = context_cancelled(cx);

	if (ret || !has_entries(d, item->key))
		return ret;
	ret = blockmap_lookup(&d->root[!from].ifile.map, cx, item->key, &ptr);
	if (ret < 0 || (ret && ptr == item->ptr))
		return ret < 0 ? ret : 0;
	return compare_block(d, cx, from, item->key);
}

static int compare_from(struct statediff *d, struct context *cx, int from)
{
	struct blockmap_cursor cur;
	struct blockmap_item item;
	int ret = blockmap_cursor_open(&cur, cx, &d->root[from].ifile.map, 0,
				       false);

	while (!ret && (ret = blockmap_cursor_next(&cur, cx, &item)) > 0)
		ret = compare_item(d, cx, from, &item);
	blockmap_cursor_close(&cur);
	return ret;
}

int statediff_count(struct context *cx, struct volume *a, struct volume *b,
		    uint64_t *n)
{
	struct statediff d = { .palloc = &a->ifile_palloc };
	int err = root_open(&d.root[0], cx, a, 0);

	if (!err)
		err = root_open(&d.root[1], cx, b, 0);
	if (err)
		return err;
	d.block = malloc(a->geo.block_size);
	if (!d.block)
		return fail(cx, -ENOMEM, "block of inodes");
	err = compare_from(&d, cx, 0);
	if (!err)
		err = compare_from(&d, cx, 1);
	free(d.block);
	*n = d.n;
	return err;
}
