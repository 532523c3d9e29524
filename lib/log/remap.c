// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rebuilding maps over existing blocks.
 *
 * The map is built from the bottom up, as for a new file; only the source of
 * pointers differs.  A kept block keeps its number, a new one gets a number and
 * is collected after the waiting nodes and directories, since there are too few
 * new blocks to deserve an extent of their own.
 *
 * The caller guarantees that kept blocks are live and belong to this file.
 */
#include "log/remap.h"

#include <errno.h>
#include <stdlib.h>

#include "base/checked.h"
#include "log/writer_parts.h"

#define SECTOR 512u

struct remap {
	struct writer *w;
	struct bmapbuild *map;	/* the writer's own is for whole files */
	uint64_t ino;
	uint64_t nblocks;	/* data, kept and new */
};

int remap_open(struct remap **rp, struct context *cx, struct writer *w,
	       uint64_t ino)
{
	struct remap *r = calloc(1, sizeof(*r));
	int ret;

	*rp = NULL;
	if (!r)
		return fail(cx, -ENOMEM, "map of inode %llu",
			    (unsigned long long)ino);
	r->w = w;
	r->ino = ino;
	ret = bmapbuild_open(&r->map, cx, w->g.block_size);
	if (ret) {
		free(r);
		return ret;
	}
	bmapbuild_begin(r->map);
	*rp = r;
	return 0;
}

/* Collects BLOCK, new and of KIND, under a new number. */
static int collect(struct remap *r, struct context *cx,
		   enum loglayout_kind kind, uint64_t blkoff,
		   const void *block, uint64_t *vblocknr)
{
	struct writer *w = r->w;
	struct loglayout_run run = {
		.ino = r->ino,
		.cno = w->cno,
		.kind = kind,
		.blkoff = blkoff,
		.count = 1,
	};
	uint32_t count;
	int ret = dattable_take(&w->dat, cx, 1, vblocknr, &count);

	run.vblocknr = *vblocknr;
	return ret ? ret : collected_add(&w->collected, cx, &run, block,
					 w->g.block_size);
}

static int collect_node(void *arg, struct context *cx, unsigned int level,
			uint64_t key, const void *block, uint64_t *ptr)
{
	(void)level;
	(void)key;
	return collect(arg, cx, LOGLAYOUT_NODE, 0, block, ptr);
}

/* Enters block BLKOFF in the map. */
static int enter_block(struct remap *r, struct context *cx, uint64_t blkoff,
		       uint64_t vblocknr)
{
	const struct bmapbuild_run run = {
		.blkoff = blkoff, .ptr = vblocknr, .count = 1,
	};
	int ret = bmapbuild_add(r->map, cx, &run, collect_node, r);

	if (!ret)
		r->nblocks++;
	return ret ? ret : flush_if_due(r->w, cx);
}

int remap_keep(struct remap *r, struct context *cx, uint64_t blkoff,
	       uint64_t vblocknr)
{
	if (!vblocknr)
		return fail(cx, -EUCLEAN, "inode %llu: no virtual block for "
			    "block %llu", (unsigned long long)r->ino,
			    (unsigned long long)blkoff);
	return enter_block(r, cx, blkoff, vblocknr);
}

int remap_put(struct remap *r, struct context *cx, uint64_t blkoff,
	      const void *data)
{
	uint64_t vblocknr;
	int ret = collect(r, cx, LOGLAYOUT_DATA, blkoff, data, &vblocknr);

	return ret ? ret : enter_block(r, cx, blkoff, vblocknr);
}

/*
 * nilfs_inode_add_blocks(), nilfs_inode_sub_blocks().  The one block of a root
 * that mkfs.nilfs2 of nilfs-utils counted as 1 is one.
 */
static void count_blocks(struct remap *r, uint64_t nblocks,
			 struct nilfs_inode *inode)
{
	uint32_t unit = r->w->g.block_size / SECTOR;

	r->w->blocks_count += nblocks;
	r->w->blocks_count -= div_round_up(le64_get(inode->i_blocks), unit);
	inode->i_blocks = le64_make(nblocks * unit);
}

int remap_finish(struct remap *r, struct context *cx,
		 struct nilfs_inode *inode)
{
	uint64_t nodes;
	int ret = bmapbuild_end(r->map, cx, collect_node, r, inode->i_bmap,
				&nodes);

	if (ret)
		return ret;
	count_blocks(r, r->nblocks + nodes, inode);
	return flush_if_due(r->w, cx);
}

void remap_close(struct remap *r)
{
	if (!r)
		return;
	bmapbuild_close(r->map);
	free(r);
}
