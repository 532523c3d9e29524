// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Inodes that may differ between two checkpoints.
 *
 * The maps of the two ifiles are walked in parallel, and only blocks that they
 * do not share are read.
 */
#include "dump/files/inodechange.h"

#include <errno.h>
#include <sys/stat.h>

#include "disk/inode.h"
#include "disk/palloc.h"
#include "vol/mapdiff.h"
#include "vol/volume.h"

struct comparison {
	const struct root *root;
	bool dirs; /* directories only */
	inodechange_visit *visit;
	void *arg;
};

/* INODE, or NULL if it is not a directory. */
static const struct nilfs_inode *
inodechange_directory(const struct nilfs_inode *inode, uint64_t ino)
{
	return inode && !inode_is_private(ino) &&
			       le16_get(inode->i_links_count) &&
			       S_ISDIR(le16_get(inode->i_mode))
		       ? inode
		       : NULL;
}

static int inodechange_compare(void *arg, struct context *cx,
			       const struct mapdiff_item *item)
{
	const struct comparison *c = arg;
	const struct blockmap *map = &c->root->ifile.map;
	struct volume *vol = c->root->vol;
	const size_t size = vol->geo.inode_size;
	const void *a = NULL, *b = NULL;
	struct inodechange change;
	struct palloc_block where;
	size_t i;
	int err;

	if (!palloc_has_block(&vol->ifile_palloc, item->key))
		return fail(cx, -EUCLEAN, "ifile: block %llu past the end",
			    (unsigned long long)item->key);
	palloc_locate(&vol->ifile_palloc, item->key, &where);
	if (where.kind != PALLOC_ENTRIES)
		return 0;
	err = blockmap_borrow(map, cx, item->a, &a);
	if (!err)
		err = blockmap_borrow(map, cx, item->b, &b);
	if (!err)
		err = context_cancelled(cx);
	for (i = 0; i < where.count && !err; i++) {
		change = (struct inodechange){
			.ino = where.first + i,
			.a = a ? (const void *)((const char *)a + i * size)
			       : NULL,
			.b = b ? (const void *)((const char *)b + i * size)
			       : NULL,
		};
		if (c->dirs) {
			change.a = inodechange_directory(change.a, change.ino);
			change.b = inodechange_directory(change.b, change.ino);
			if (!change.a && !change.b)
				continue;
			if (change.a && change.b &&
			    inode_has_same_map(change.a, change.b))
				continue;
		}
		err = c->visit(c->arg, cx, &change);
	}
	cache_put(vol->cache, a);
	cache_put(vol->cache, b);
	return err;
}

int inodechange_run(struct context *cx, struct root *a, struct root *b,
		    inodechange_visit *visit, void *arg)
{
	struct comparison c = { .root = b, .visit = visit, .arg = arg };

	return mapdiff_run(cx, a ? &a->ifile.map : NULL, &b->ifile.map,
			   inodechange_compare, &c);
}

int inodechange_run_dirs(struct context *cx, struct root *a, struct root *b,
			 inodechange_visit *visit, void *arg)
{
	struct comparison c = {
		.root = b, .dirs = true, .visit = visit, .arg = arg,
	};

	return mapdiff_run(cx, a ? &a->ifile.map : NULL, &b->ifile.map,
			   inodechange_compare, &c);
}
