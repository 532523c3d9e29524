// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Differences between two states of a file.
 *
 * A block that is rewritten gets a new virtual block number, and the same
 * number at two checkpoints is the same block.  So two maps are walked in
 * parallel, and bytes are read only where their pointers differ.  The ifile is
 * such a file too: this finds the inodes that changed without reading the
 * others.
 */
#include "dump/files/inode_diff.h"

#include <string.h>
#include <sys/stat.h>

#include "base/checked.h"
#include "disk/inode.h"
#include "disk/palloc.h"
#include "vol/volume.h"

const struct value_flag inode_diff_names[] = {
	{ INODE_DIFF_TYPE, "type" },
	{ INODE_DIFF_INODE, "inode" },
	{ INODE_DIFF_MODE, "mode" },
	{ INODE_DIFF_OWNER, "owner" },
	{ INODE_DIFF_GROUP, "group" },
	{ INODE_DIFF_LINKS, "links" },
	{ INODE_DIFF_SIZE, "size" },
	{ INODE_DIFF_BLOCKS, "blocks" },
	{ INODE_DIFF_MTIME, "mtime" },
	{ INODE_DIFF_CTIME, "ctime" },
	{ INODE_DIFF_DEVICE, "device" },
	{ INODE_DIFF_FLAGS, "flags" },
	{ INODE_DIFF_CONTENT, "content" },
	{ INODE_DIFF_GENERATION, "generation" },
	{ 0, NULL },
};

#define DIFFERS(field) (memcmp(&a->field, &b->field, sizeof(a->field)) != 0)

unsigned int inode_diff_attributes(const struct nilfs_inode *a,
				   const struct nilfs_inode *b)
{
	unsigned int mode = le16_get(a->i_mode) ^ le16_get(b->i_mode);
	bool device = inode_has_rdev(a) && inode_has_rdev(b);
	unsigned int what = 0;

	if (mode & S_IFMT)
		what |= INODE_DIFF_TYPE;
	if (mode & ~(unsigned int)S_IFMT)
		what |= INODE_DIFF_MODE;
	if (DIFFERS(i_generation))
		what |= INODE_DIFF_GENERATION;
	if (DIFFERS(i_uid))
		what |= INODE_DIFF_OWNER;
	if (DIFFERS(i_gid))
		what |= INODE_DIFF_GROUP;
	if (DIFFERS(i_links_count))
		what |= INODE_DIFF_LINKS;
	if (DIFFERS(i_size))
		what |= INODE_DIFF_SIZE;
	if (DIFFERS(i_blocks))
		what |= INODE_DIFF_BLOCKS;
	if (DIFFERS(i_mtime) || DIFFERS(i_mtime_nsec))
		what |= INODE_DIFF_MTIME;
	if (DIFFERS(i_ctime) || DIFFERS(i_ctime_nsec))
		what |= INODE_DIFF_CTIME;
	if (device && DIFFERS(i_bmap[0]))
		what |= INODE_DIFF_DEVICE;
	if (DIFFERS(i_flags))
		what |= INODE_DIFF_FLAGS;
	return what;
}

/* Two maps side by side. */
struct pair {
	struct file *file[2];
	struct blockmap_cursor cursor[2];
	struct blockmap_item item[2];
	bool have[2];
};

static int pair_open(struct pair *p, struct context *cx, struct file *a,
		     struct file *b)
{
	int err;

	memset(p, 0, sizeof(*p));
	p->file[0] = a;
	p->file[1] = b;
	err = blockmap_cursor_open(&p->cursor[0], cx, &a->map, 0, false);
	return err ? err
		   : blockmap_cursor_open(&p->cursor[1], cx, &b->map, 0, false);
}

static void pair_close(struct pair *p)
{
	blockmap_cursor_close(&p->cursor[0]);
	blockmap_cursor_close(&p->cursor[1]);
}

static int pair_fill(struct pair *p, struct context *cx)
{
	int i, ret;

	for (i = 0; i < 2; i++) {
		if (p->have[i])
			continue;
		ret = blockmap_cursor_next(&p->cursor[i], cx, &p->item[i]);
		if (ret < 0)
			return ret;
		p->have[i] = ret;
		if (!ret)
			p->item[i].key = UINT64_MAX;
	}
	return 0;
}

/*
 * The next block that the maps do not share: 1, its number in *BLKOFF, and
 * its pointers, 0 for a hole; 0 at the end.
 */
static int pair_next(struct pair *p, struct context *cx, uint64_t *blkoff,
		     uint64_t ptr[2])
{
	for (;;) {
		int err = pair_fill(p, cx), i;

		if (err)
			return err;
		if (!p->have[0] && !p->have[1])
			return 0;
		*blkoff = p->item[0].key < p->item[1].key ? p->item[0].key
							  : p->item[1].key;
		for (i = 0; i < 2; i++) {
			bool here = p->have[i] && p->item[i].key == *blkoff;

			ptr[i] = here ? p->item[i].ptr : 0;
			if (here)
				p->have[i] = false;
		}
		if (ptr[0] != ptr[1])
			return 1;
	}
}

/* Borrows the block at PTR of side I; *DATA is NULL for a hole. */
static int get_block(struct pair *p, struct context *cx, int i, uint64_t ptr,
		     const void **data)
{
	struct file *file = p->file[i];
	uint64_t blocknr;
	int err;

	*data = NULL;
	if (!ptr)
		return 0;
	err = blockmap_resolve(&file->map, cx, ptr, &blocknr);
	return err ? err : cache_get(file->vol->cache, cx, blocknr, data);
}

static int get_blocks(struct pair *p, struct context *cx, const uint64_t ptr[2],
		      const void *data[2])
{
	int err = get_block(p, cx, 0, ptr[0], &data[0]);

	data[1] = NULL;
	return err ? err : get_block(p, cx, 1, ptr[1], &data[1]);
}

static void put_blocks(struct pair *p, const void *data[2])
{
	int i;

	for (i = 0; i < 2; i++)
		if (data[i])
			cache_put(p->file[i]->vol->cache, data[i]);
}

/* Whether LEN bytes differ; NULL stands for zeroes. */
static bool bytes_differ(const char *a, const char *b, size_t len)
{
	size_t i;

	if (a && b)
		return memcmp(a, b, len) != 0;
	if (!a)
		a = b;
	for (i = 0; a && i < len; i++)
		if (a[i])
			return true;
	return false;
}

/* Whether the blocks at PTR differ in their first LEN bytes. */
static int blocks_differ(struct pair *p, struct context *cx,
			 const uint64_t ptr[2], size_t len)
{
	const void *data[2];
	int ret = get_blocks(p, cx, ptr, data);

	if (!ret)
		ret = bytes_differ(data[0], data[1], len);
	put_blocks(p, data);
	return ret;
}

int inode_diff_content(struct context *cx, struct file *a, struct file *b)
{
	uint64_t size = le64_get(a->inode.i_size), blkoff, ptr[2];
	const struct nilfs_geometry *geo = &a->vol->geo;
	struct pair p;
	int ret;

	ret = pair_open(&p, cx, a, b);
	while (!ret) {
		size_t len = geo->block_size;

		ret = pair_next(&p, cx, &blkoff, ptr);
		if (ret <= 0)
			break;
		ret = 0;
		if (blkoff >= div_round_up(size, geo->block_size))
			break;
		if (size - (blkoff << geo->block_bits) < len)
			len = (size_t)(size - (blkoff << geo->block_bits));
		ret = blocks_differ(&p, cx, ptr, len);
	}
	pair_close(&p);
	return ret;
}

/* Adds the inodes that differ in one pair of blocks of the ifiles. */
static int collect_block(struct pair *p, struct context *cx,
			 const struct palloc_block *where,
			 const uint64_t ptr[2], struct inoset *set)
{
	size_t size = p->file[0]->vol->geo.inode_size;
	const void *data[2];
	int ret = get_blocks(p, cx, ptr, data);
	uint64_t i;

	for (i = 0; ret >= 0 && i < where->count; i++) {
		const char *a = data[0], *b = data[1];

		if (bytes_differ(a ? a + i * size : NULL,
				 b ? b + i * size : NULL, size))
			ret = inoset_add(set, cx, where->first + i);
	}
	put_blocks(p, data);
	return ret < 0 ? ret : 0;
}

int inode_diff_collect(struct context *cx, struct root *a, struct root *b,
		       struct inoset *set)
{
	struct palloc_block where;
	uint64_t blkoff, ptr[2];
	struct pair p;
	int ret;

	ret = pair_open(&p, cx, &a->ifile, &b->ifile);
	while (!ret) {
		ret = pair_next(&p, cx, &blkoff, ptr);
		if (ret <= 0)
			break;
		palloc_locate(&a->vol->ifile_palloc, blkoff, &where);
		ret = where.kind == PALLOC_ENTRIES
			      ? collect_block(&p, cx, &where, ptr, set)
			      : 0;
		if (!ret)
			ret = context_cancelled(cx);
	}
	pair_close(&p);
	return ret;
}
