// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Directories whose entries differ between two checkpoints.
 *
 * The maps of the two ifiles are walked in parallel, and only blocks that they
 * do not share are read.  A directory has the same entries in both checkpoints
 * if its size and the root of its map are the same, because NILFS2 does not
 * change blocks in place.
 */
#include "dump/past/dirchange.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "disk/inode.h"
#include "disk/palloc.h"
#include "vol/mapdiff.h"
#include "vol/translate.h"
#include "vol/volume.h"

struct comparison {
	struct volume *vol;
	dirchange_visit *visit;
	void *arg;
};

bool dirchange_is_same_map(const struct nilfs_inode *a,
			   const struct nilfs_inode *b)
{
	return le64_get(a->i_size) == le64_get(b->i_size) &&
	       !memcmp(a->i_bmap, b->i_bmap, sizeof(a->i_bmap));
}

/* Borrows the block of an ifile at PTR; NULL for none. */
static int borrow_inodes(struct volume *vol, struct context *cx, uint64_t ptr,
			 const void **data)
{
	uint64_t blocknr;
	int err;

	*data = NULL;
	if (!ptr)
		return 0;
	err = translate_vblock(vol, cx, ptr, &blocknr);
	return err ? err : cache_get(vol->cache, cx, blocknr, data);
}

/* Inode I of a block, if it is a directory. */
static const struct nilfs_inode *directory_at(const struct volume *vol,
					      const void *data, uint64_t ino,
					      size_t i)
{
	const struct nilfs_inode *inode;

	if (!data || inode_is_private(ino))
		return NULL;
	inode = (const void *)((const char *)data + i * vol->geo.inode_size);
	if (!le16_get(inode->i_links_count) ||
	    !S_ISDIR(le16_get(inode->i_mode)))
		return NULL;
	return inode;
}

static int compare_inodes(const struct comparison *c, struct context *cx,
			  const struct palloc_block *where,
			  const void *const data[2])
{
	int err = context_cancelled(cx);
	size_t i;

	for (i = 0; i < where->count && !err; i++) {
		uint64_t ino = where->first + i;
		const struct dirchange change = {
			.ino = ino,
			.a = directory_at(c->vol, data[0], ino, i),
			.b = directory_at(c->vol, data[1], ino, i),
		};

		if (!change.a && !change.b)
			continue;
		if (change.a && change.b &&
		    dirchange_is_same_map(change.a, change.b))
			continue;
		err = c->visit(c->arg, cx, &change);
	}
	return err;
}

static int compare_ifile_block(void *arg, struct context *cx,
			       const struct mapdiff_item *item)
{
	const struct comparison *c = arg;
	const void *data[2] = { NULL, NULL };
	struct palloc_block where;
	int err;

	if (!palloc_has_block(&c->vol->ifile_palloc, item->key))
		return fail(cx, -EUCLEAN, "ifile: block %llu past the end",
			    (unsigned long long)item->key);
	palloc_locate(&c->vol->ifile_palloc, item->key, &where);
	if (where.kind != PALLOC_ENTRIES)
		return 0;
	err = borrow_inodes(c->vol, cx, item->a, &data[0]);
	if (!err)
		err = borrow_inodes(c->vol, cx, item->b, &data[1]);
	if (!err)
		err = compare_inodes(c, cx, &where, data);
	cache_put(c->vol->cache, data[0]);
	cache_put(c->vol->cache, data[1]);
	return err;
}

int dirchange_run(struct context *cx, struct root *a, struct root *b,
		  dirchange_visit *visit, void *arg)
{
	struct comparison c = { .vol = b->vol, .visit = visit, .arg = arg };

	return mapdiff_run(cx, a ? &a->ifile.map : NULL, &b->ifile.map,
			   compare_ifile_block, &c);
}
