// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rebuilding maps over existing blocks, for repairs.
 *
 * The map is built from the bottom up, as for a new file; only the source of
 * pointers differs.  A kept block keeps its number.  A new one gets a number
 * and is collected after the waiting nodes and directories, since the few new
 * blocks do not need an extent of their own.
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
	struct flush_file file;
	struct bmapbuild *map;	/* not the writer's, which is for whole files */
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
	r->file = (struct flush_file){ w, ino };
	ret = bmapbuild_open(&r->map, cx, w->g.block_size);
	if (ret) {
		free(r);
		return ret;
	}
	bmapbuild_begin(r->map);
	*rp = r;
	return 0;
}

/* Enters block BLKOFF in the map. */
static int enter_block(struct remap *r, struct context *cx, uint64_t blkoff,
		       uint64_t vblocknr)
{
	const struct bmapbuild_run run = {
		.blkoff = blkoff, .ptr = vblocknr, .count = 1,
	};
	int ret = bmapbuild_add(r->map, cx, &run, flush_add_node, &r->file);

	if (!ret)
		r->nblocks++;
	return ret ? ret : flush_if_due(r->file.w, cx);
}

int remap_keep(struct remap *r, struct context *cx, uint64_t blkoff,
	       uint64_t vblocknr)
{
	if (!vblocknr)
		return fail(cx, -EUCLEAN, "inode %llu: no virtual block for "
			    "block %llu", (unsigned long long)r->file.ino,
			    (unsigned long long)blkoff);
	return enter_block(r, cx, blkoff, vblocknr);
}

int remap_put(struct remap *r, struct context *cx, uint64_t blkoff,
	      const void *data)
{
	uint64_t vblocknr;
	int ret = flush_add_new(&r->file, cx, LOGLAYOUT_DATA, blkoff, data,
				&vblocknr);

	return ret ? ret : enter_block(r, cx, blkoff, vblocknr);
}

int remap_finish(struct remap *r, struct context *cx,
		 struct nilfs_inode *inode)
{
	struct writer *w = r->file.w;
	uint32_t unit = w->g.block_size / SECTOR;
	uint64_t nodes, nblocks;
	int ret = bmapbuild_end(r->map, cx, flush_add_node, &r->file,
				inode->i_bmap, &nodes);

	if (ret)
		return ret;
	/*
	 * nilfs_inode_add_blocks(), nilfs_inode_sub_blocks().  mkfs.nilfs2 of
	 * nilfs-utils sets i_blocks of the root directory to 1 sector; that is
	 * one block.
	 */
	nblocks = r->nblocks + nodes;
	w->blocks_count += nblocks;
	w->blocks_count -= div_round_up(le64_get(inode->i_blocks), unit);
	inode->i_blocks = le64_make(nblocks * unit);
	return flush_if_due(w, cx);
}

void remap_close(struct remap *r)
{
	if (!r)
		return;
	bmapbuild_close(r->map);
	free(r);
}
