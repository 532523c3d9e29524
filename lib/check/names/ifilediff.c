// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Comparing two ifiles.
 *
 * Shared blocks are not read.  Of the others bitmaps are compared bit by bit,
 * inodes field by field; most differ only in times and sizes of files, which
 * names do not depend on.  An inode whose bit and bytes both differ is found
 * twice, so the numbers are sorted before each is read.
 *
 * A directory is unchanged if its size and the root of its map are, since
 * blocks never change in place.
 */
#include "check/damage.h"
#include "check/names/ifilediff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "check/inodes/inodelist.h"
#include "check/names/dirread.h"
#include "disk/inode.h"
#include "disk/palloc.h"
#include "vol/mapdiff.h"

/* Both versions of block KEY of the ifile, NULL for none. */
struct blocks {
	const void *a, *b; /* borrowed */
};

struct finder {
	struct ifilediff *diff;
	struct root *from, *to;
	uint64_t most;
	bool sorted; /* the changes so far */
	bool many;   /* more than are kept */
};

static bool is_same_inode(const struct nilfs_inode *a,
			  const struct nilfs_inode *b)
{
	uint8_t type = inode_dirent_type(le16_get(a->i_mode));

	if (type != inode_dirent_type(le16_get(b->i_mode)) ||
	    le16_get(a->i_links_count) != le16_get(b->i_links_count))
		return false;
	return type != NILFS_FT_DIR || inode_has_same_map(a, b);
}

static int add_number(struct finder *f, struct context *cx, uint64_t ino)
{
	struct ifilediff *d = f->diff;

	f->many = d->count >= f->most;
	if (f->many)
		return 0;
	if (array_reserve(cx, &d->changes, &d->room, d->count + 1))
		return -ENOMEM;
	f->sorted &= !d->count || d->changes[d->count - 1].ino < ino;
	d->changes[d->count++] = (struct inodelist_change){ .ino = ino };
	return 0;
}

/* Bits 64 * I and up of a bitmap block, or none. */
static uint64_t bits_of(const le64 *bitmap, uint32_t i)
{
	return bitmap ? le64_get(bitmap[i]) : 0;
}

static int compare_bitmaps(struct finder *f, struct context *cx,
			   const struct palloc_block *what,
			   const struct blocks *blocks)
{
	const struct palloc *p = &f->to->vol->ifile_palloc;
	uint64_t first = what->group * p->entries_per_group, word;
	uint32_t i;
	int err = 0;

	for (i = 0; i < p->entries_per_group / 64; i++) {
		word = bits_of(blocks->a, i) ^ bits_of(blocks->b, i);
		for (; word && !err; word &= word - 1)
			err = add_number(
				f, cx,
				first + 64ull * i +
					(unsigned int)__builtin_ctzll(word));
	}
	return err;
}

static int compare_inodes(struct finder *f, struct context *cx,
			  const struct palloc_block *what,
			  const struct blocks *blocks)
{
	size_t size = f->to->vol->ifile_palloc.entry_size, i;
	const char *a = blocks->a, *b = blocks->b;
	int err = 0;

	for (i = 0; i < what->count && !err; i++) {
		if (a && b &&
		    is_same_inode((const void *)(a + i * size),
				  (const void *)(b + i * size)))
			continue;
		err = add_number(f, cx, what->first + i);
	}
	return err;
}

static int compare_blocks(void *arg, struct context *cx,
			  const struct mapdiff_item *item)
{
	struct finder *f = arg;
	struct cache *cache = f->to->vol->cache;
	struct palloc_block what;
	struct blocks blocks = { NULL, NULL };
	int err;

	if (!palloc_has_block(&f->to->vol->ifile_palloc, item->key))
		return fail(cx, -EUCLEAN, "ifile: block %llu past the end",
			    (unsigned long long)item->key);
	palloc_locate(&f->to->vol->ifile_palloc, item->key, &what);
	if (what.kind == PALLOC_DESC || f->many)
		return 0;
	err = blockmap_borrow(&f->from->ifile.map, cx, item->a, &blocks.a);
	if (!err)
		err = blockmap_borrow(&f->to->ifile.map, cx, item->b,
				      &blocks.b);
	if (!err && what.kind == PALLOC_BITMAP)
		err = compare_bitmaps(f, cx, &what, &blocks);
	else if (!err)
		err = compare_inodes(f, cx, &what, &blocks);
	cache_put(cache, blocks.a);
	cache_put(cache, blocks.b);
	return err ? err : context_cancelled(cx);
}

static int compare_numbers(const void *a, const void *b)
{
	const struct inodelist_change *x = a, *y = b;

	return x->ino < y->ino ? -1 : x->ino > y->ino;
}

static void sort_changes(struct ifilediff *d)
{
	size_t n = 0, i;

	sort_in_place(d->changes, d->count, sizeof(*d->changes),
		      compare_numbers);
	for (i = 0; i < d->count; i++)
		if (!n || d->changes[n - 1].ino != d->changes[i].ino)
			d->changes[n++] = d->changes[i];
	d->count = n;
}

/* Inode C of the ifile of TO: its kind and links, and *INODE. */
static int read_inode(struct root *to, struct context *cx,
		      struct inodelist_change *c, struct nilfs_inode *inode)
{
	const struct palloc *p = &to->vol->ifile_palloc;
	const void *block;
	bool allocated = false;
	int ret = file_block(&to->ifile, cx,
			     palloc_bitmap_blkoff(p, palloc_group(p, c->ino)),
			     &block);

	if (ret < 0)
		return ret;
	if (ret) {
		allocated = palloc_bit(block, palloc_group_offset(p, c->ino));
		file_put(&to->ifile, block);
	}
	ret = file_block(&to->ifile, cx, palloc_entry_blkoff(p, c->ino),
			 &block);
	memset(inode, 0, sizeof(*inode));
	if (ret <= 0)
		return ret;
	memcpy(inode, (const char *)block + palloc_entry_offset(p, c->ino),
	       sizeof(*inode));
	file_put(&to->ifile, block);
	c->kind = inodelist_kind(to->vol, c->ino, inode, allocated);
	c->links = c->kind ? le16_get(inode->i_links_count) : 0;
	return 0;
}

/* Completes C: 1 if names or links depend on the difference, else 0. */
static int complete_finder(struct finder *f, struct context *cx,
			   struct inodelist *list, struct inodelist_change *c)
{
	struct inodelist_row row = inodelist_find(list, c->ino);
	struct nilfs_inode inode, old;
	uint16_t links = 0;
	int err = read_inode(f->to, cx, c, &inode);

	if (err)
		return err;
	if (row.chunk) {
		c->before = row.chunk->kind[row.at];
		links = row.chunk->links[row.at];
	}
	c->map = inodelist_is_dir(c->kind) != inodelist_is_dir(c->before);
	if (!c->map && inodelist_is_dir(c->kind)) {
		err = root_inode_bytes(f->from, cx, c->ino, &old);
		c->map = !inode_has_same_map(&old, &inode);
	}
	if (err < 0)
		return err;
	return c->map || c->kind != c->before || c->links != links;
}

static int complete_all(struct finder *f, struct context *cx,
			struct inodelist *list)
{
	struct ifilediff *d = f->diff;
	size_t n = 0, i;
	int ret = 0;

	for (i = 0; i < d->count && ret >= 0; i++) {
		ret = complete_finder(f, cx, list, &d->changes[i]);
		if (ret > 0)
			d->changes[n++] = d->changes[i];
	}
	d->count = n;
	return ret < 0 ? ret : 0;
}

int ifilediff_find(struct ifilediff *diff, struct context *cx, uint64_t bytes,
		   struct root *from, struct root *to, struct inodelist *list)
{
	struct finder f = {
		.diff = diff,
		.from = from,
		.to = to,
		.most = bytes / sizeof(*diff->changes),
		.sorted = true,
	};
	int err = mapdiff_run(cx, &from->ifile.map, &to->ifile.map,
			      compare_blocks, &f);

	if (!err && !f.sorted)
		sort_changes(diff);
	if (!err && !f.many)
		err = complete_all(&f, cx, list);
	if (err && damage_is_fatal(err))
		return err;
	if (err)
		fail_clear(cx);
	return !err && !f.many;
}

void ifilediff_fini(struct ifilediff *diff)
{
	free(diff->changes);
	*diff = (struct ifilediff){ .changes = NULL };
}
