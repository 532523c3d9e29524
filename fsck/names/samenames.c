// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Most checkpoints differ from their neighbours in the content of files and in
 * times, not in names.  To see that takes no directory: the ifiles of both are
 * followed side by side, blocks that they share are passed over, and of the
 * others the inodes are compared, as far as names and links depend on them.  A
 * directory is the same where the root of its map is, since blocks never
 * change where they are.
 */
#include "fsck/names/samenames.h"

#include <string.h>

#include "disk/inode.h"
#include "disk/palloc.h"
#include "fsck/names/names.h"

struct side {
	struct volume *vol;
	const struct blockmap *map;
	struct blockmap_cursor cur;
	struct blockmap_item item;
	const void *block;	/* borrowed */
};

static bool is_same_inode(const struct nilfs_inode *a,
			  const struct nilfs_inode *b)
{
	uint8_t type = inode_dirent_type(le16_get(a->i_mode));

	if (type != inode_dirent_type(le16_get(b->i_mode)) ||
	    le16_get(a->i_links_count) != le16_get(b->i_links_count))
		return false;
	return type != NILFS_FT_DIR ||
	       (le64_get(a->i_size) == le64_get(b->i_size) &&
		!memcmp(a->i_bmap, b->i_bmap, sizeof(a->i_bmap)));
}

/* Of the same block of two ifiles the contents. */
static bool is_same_block(const struct palloc *p, uint64_t blkoff,
			  const char *a, const char *b)
{
	struct palloc_block what;
	size_t i, at;

	palloc_locate(p, blkoff, &what);
	if (what.kind == PALLOC_BITMAP)
		return !memcmp(a, b, p->block_size);
	for (i = 0; what.kind == PALLOC_ENTRIES && i < what.count; i++) {
		at = i * p->entry_size;
		if (!is_same_inode((const void *)(a + at),
				   (const void *)(b + at)))
			return false;
	}
	return true;
}

static int open_side(struct side *s, struct context *cx,
		     const struct root *root)
{
	*s = (struct side){ .vol = root->vol, .map = &root->ifile.map };
	return blockmap_cursor_open(&s->cur, cx, s->map, 0, false);
}

static void close_side(struct side *s)
{
	blockmap_cursor_close(&s->cur);
}

static int read_block(struct side *s, struct context *cx)
{
	uint64_t blocknr;
	int err = blockmap_resolve(s->map, cx, s->item.ptr, &blocknr);

	return err ? err : cache_get(s->vol->cache, cx, blocknr, &s->block);
}

static void put_block(struct side *s)
{
	if (s->block)
		cache_put(s->vol->cache, s->block);
	s->block = NULL;
}

static int compare_blocks(struct context *cx, struct side *a, struct side *b)
{
	int err = read_block(a, cx);

	if (!err)
		err = read_block(b, cx);
	if (!err)
		err = is_same_block(&a->vol->ifile_palloc, a->item.key,
				    a->block, b->block);
	put_block(a);
	put_block(b);
	return err;
}

/* One step of both: 1, and *SAME of what is there; 0 at the end of both. */
static int step(struct context *cx, struct side *a, struct side *b, bool *same)
{
	int one = blockmap_cursor_next(&a->cur, cx, &a->item);
	int other = one < 0 ? one : blockmap_cursor_next(&b->cur, cx, &b->item);
	int ret = 1;

	*same = false;
	if (other < 0)
		return other;
	if (one && other && a->item.key == b->item.key) {
		if (a->item.ptr != b->item.ptr)
			ret = compare_blocks(cx, a, b);
		*same = ret > 0;
	} else {
		*same = !one && !other;
	}
	return ret < 0 ? ret : one && other;
}

int samenames_check(struct context *cx, const struct root *a,
		    const struct root *b)
{
	struct side x = { 0 }, y = { 0 };
	bool same = true;
	int ret = open_side(&x, cx, a);

	if (!ret)
		ret = open_side(&y, cx, b);
	if (!ret)
		do {
			ret = step(cx, &x, &y, &same);
		} while (ret > 0 && same);
	close_side(&x);
	close_side(&y);
	if (ret < 0 && names_is_fatal(ret))
		return ret;
	if (ret < 0)
		fail_clear(cx);
	return ret >= 0 && same;
}
