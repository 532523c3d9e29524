// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Inodes that may differ between two checkpoints.
 *
 * The maps of the two ifiles are walked in parallel, and only blocks that they
 * do not share are read: for two checkpoints with few changes between them, a few
 * blocks of an ifile of any size.
 */
#include "vol/inodediff.h"

#include <errno.h>
#include <sys/stat.h>

#include "disk/inode.h"
#include "disk/palloc.h"
#include "vol/mapdiff.h"
#include "vol/volume.h"

struct comparison {
	const struct root *root;
	enum inodediff_what what;
	inodediff_visit *visit;
	void *arg;
};

/* INODE, or NULL where it is no directory. */
static const struct nilfs_inode *directory(const struct nilfs_inode *inode,
					   uint64_t ino)
{
	return inode && !inode_is_private(ino) &&
			       le16_get(inode->i_links_count) &&
			       S_ISDIR(le16_get(inode->i_mode))
		       ? inode
		       : NULL;
}

/* Compares a block that the ifiles do not share. */
static int inodediff_visit_block(void *arg, struct context *cx,
				 const struct mapdiff_item *block)
{
	const struct comparison *c = arg;
	const struct blockmap *map = &c->root->ifile.map;
	struct volume *vol = c->root->vol;
	const struct palloc *p = &vol->ifile_palloc;
	struct inodediff_item item = { .a = NULL };
	const void *a = NULL, *b = NULL;
	struct palloc_block what;
	uint64_t word, i;
	int err;

	if (!palloc_has_block(p, block->key))
		return fail(cx, -EUCLEAN, "ifile: block %llu past the end",
			    (unsigned long long)block->key);
	palloc_locate(p, block->key, &what);
	if (what.kind == PALLOC_DESC ||
	    (what.kind == PALLOC_BITMAP && c->what != INODEDIFF_BITS))
		return 0;
	err = blockmap_borrow(map, cx, block->a, &a);
	if (!err)
		err = blockmap_borrow(map, cx, block->b, &b);
	if (!err)
		err = context_cancelled(cx);
	for (i = 0; what.kind == PALLOC_BITMAP &&
		    i < p->entries_per_group / 64 && !err; i++) {
		const le64 *x = a, *y = b;

		word = (x ? le64_get(x[i]) : 0) ^ (y ? le64_get(y[i]) : 0);
		for (; word && !err; word &= word - 1) {
			item.ino = what.group * p->entries_per_group + i * 64 +
				   (unsigned int)__builtin_ctzll(word);
			err = c->visit(c->arg, cx, &item);
		}
	}
	for (i = 0; what.kind == PALLOC_ENTRIES && i < what.count && !err; i++) {
		const char *x = a, *y = b;
		size_t at = i * p->entry_size;

		item.ino = what.first + i;
		item.a = x ? (const void *)(x + at) : NULL;
		item.b = y ? (const void *)(y + at) : NULL;
		if (c->what == INODEDIFF_DIRS) {
			item.a = directory(item.a, item.ino);
			item.b = directory(item.b, item.ino);
			if (item.a && item.b ?
				    inode_has_same_map(item.a, item.b) :
				    !item.a && !item.b)
				continue;
		}
		err = c->visit(c->arg, cx, &item);
	}
	cache_put(vol->cache, a);
	cache_put(vol->cache, b);
	return err;
}

int inodediff_run(struct context *cx, const struct root *a,
		  const struct root *b, enum inodediff_what what,
		  inodediff_visit *visit, void *arg)
{
	struct comparison c = {
		.root = b,
		.what = what,
		.visit = visit,
		.arg = arg,
	};

	return mapdiff_run(cx, a ? &a->ifile.map : NULL, &b->ifile.map,
			   inodediff_visit_block, &c);
}
