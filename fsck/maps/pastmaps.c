// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Maps of files in snapshots of which a part is gone for good.
 *
 * A node that was overwritten, and that the logs that are left do not make
 * again (derive/derive_nodes.c), leads to nothing.  Its pointer is taken out of
 * the root, so that the file has a hole there, and the inode has as many blocks
 * as its map.  Where a node is broken that another one leads to, the map stays
 * as it is.
 */
#include "fsck/maps/pastmaps.h"

#include <inttypes.h>
#include <string.h>

#include "check/damage.h"
#include "disk/bmap.h"
#include "disk/inode.h"
#include "fsck/past/pastblocks.h"
#include "log/bmapnode.h"
#include "vol/file.h"
#include "vol/root.h"

#define SECTOR 512u

struct pastmaps {
	struct pastblocks past;
	struct volume *vol;
	uint64_t cno, ino;
};

/* Whether there is a node at BLOCKNR: 1, 0, or a failure. */
static int is_node(struct pastmaps *m, struct context *cx, uint64_t blocknr)
{
	const void *block;
	int ret = cache_get(m->vol->cache, cx, blocknr, &block);

	if (ret)
		return ret;
	ret = bmap_node_check(m->vol->geo.block_size, block) == RULE_OK;
	cache_put(m->vol->cache, block);
	return ret;
}

/* The root of FILE without the pointers to what is no node: *CUT of them. */
static int cut(struct pastmaps *m, struct context *cx, struct file *file,
	       le64 map[NILFS_INODE_BMAP_SIZE], uint32_t *cut)
{
	struct bmapnode to = bmapnode_root(map);
	struct bmap_node root;
	uint64_t blocknr;
	uint32_t i, n = 0;
	int ret = 1;

	bmap_root_read(file->inode.i_bmap, &root);
	bmapnode_init_root(&to, root.level);
	for (i = 0; i < root.nchildren && ret >= 0; i++) {
		uint64_t ptr = bmap_node_ptr(&root, i);

		ret = blockmap_resolve(&file->map, cx, ptr, &blocknr);
		ret = ret ? ret : is_node(m, cx, blocknr);
		if (ret > 0)
			bmapnode_insert(&to, n++, bmap_node_key(&root, i), ptr);
	}
	*cut = root.nchildren - n;
	if (!n)
		memset(map, 0, sizeof(file->inode.i_bmap));
	return ret < 0 ? ret : 0;
}

/* As many blocks as the map of INODE has. */
static int count(struct pastmaps *m, struct context *cx,
		 struct nilfs_inode *inode)
{
	uint64_t unit = m->vol->geo.block_size / SECTOR, n = 0;
	struct blockmap_cursor cur;
	struct blockmap_item item;
	struct file file;
	int ret = file_init(&file, cx, m->vol, m->ino, inode);

	if (ret)
		return ret;
	ret = blockmap_cursor_open(&cur, cx, &file.map, 0, true);
	while (!ret && (ret = blockmap_cursor_next(&cur, cx, &item)) > 0) {
		ret = 0;
		n++;
	}
	blockmap_cursor_close(&cur);
	if (!ret)
		inode->i_blocks = le64_make(n * unit);
	return ret;
}

/* Makes INODE what is left: 1, 0 where that is what it is. */
static int repair_inode(struct pastmaps *m, struct context *cx,
			struct nilfs_inode *inode)
{
	struct nilfs_inode left = *inode;
	struct file file;
	uint32_t lost = 0;
	int err;

	if (!inode_has_bmap(inode))
		return 0;
	err = file_init(&file, cx, m->vol, m->ino, inode);
	if (!err && bmap_is_btree(inode->i_bmap) &&
	    bmap_root_check(inode->i_bmap) == RULE_OK)
		err = cut(m, cx, &file, left.i_bmap, &lost);
	if (!err)
		err = count(m, cx, &left);
	if (err || !memcmp(inode, &left, sizeof(left)))
		return err;
	if (lost)
		fixers_tell(m->past.job, "checkpoint %" PRIu64 ": inode %"
			    PRIu64 ": what %" PRIu32 " of its nodes led to is "
			    "lost", m->cno, m->ino, lost);
	*inode = left;
	return 1;
}

/* The file at hand, in the block of the ifile that has its inode. */
static int repairwriter_file(struct pastmaps *m, struct context *cx)
{
	const struct palloc *p = &m->vol->ifile_palloc;
	struct pastblocks_block what = {
		.ino = NILFS_IFILE_INO, .key = palloc_entry_blkoff(p, m->ino),
	};
	struct pastblocks_block *b;
	bool changed = false;
	struct root root;
	int ret = root_open(&root, cx, m->vol, m->cno);

	if (!ret)
		ret = blockmap_lookup(&root.ifile.map, cx, what.key,
				      &what.vblocknr);
	if (ret > 0) {
		changed = pastblocks_find(&m->past, what.vblocknr);
		ret = pastblocks_change(&m->past, cx, &what, false, &b);
	}
	if (ret <= 0)
		return damage_forgive(cx, ret);
	ret = repair_inode(m, cx, (struct nilfs_inode *)(
		(char *)b->content + palloc_entry_offset(p, m->ino)));
	if (ret <= 0 && !changed)
		pastblocks_drop(&m->past, what.vblocknr);
	return ret < 0 ? damage_forgive(cx, ret) : 0;
}

int pastmaps_repair(struct fixer_job *job, struct context *cx,
		    const struct fix *fixes, size_t n)
{
	struct pastmaps m = { .past.job = job, .vol = job->vol };
	size_t i;
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		const struct place *place = &fixes[i].place;

		if (!place->cno || place->cno == job->vol->latest.cno ||
		    inode_is_metadata(place->ino) ||
		    (place->cno == m.cno && place->ino == m.ino))
			continue;
		m.cno = place->cno;
		m.ino = place->ino;
		err = repairwriter_file(&m, cx);
	}
	if (!err)
		err = pastblocks_write(&m.past, cx);
	pastblocks_fini(&m.past);
	return err;
}
