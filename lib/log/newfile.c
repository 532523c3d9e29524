// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Placing files as a whole.
 *
 * Data blocks get virtual numbers and positions at once.  The map is built at
 * the same time, and its nodes are collected: their numbers are needed now,
 * their positions are not.
 */
#include "log/newfile.h"

#include <errno.h>
#include <stdlib.h>

#include "disk/bmap.h"
#include "disk/inode.h"
#include "log/writer_parts.h"

#define SECTOR 512u
#define MOST_UNUSED 64	/* skip at most this part of a segment */

uint64_t newfile_room(const struct writer *w)
{
	uint64_t room = appender_room(&w->appender, APPENDER_OPEN);
	uint64_t next = appender_room(&w->appender, APPENDER_NEXT);

	return room > next ? room : next;
}

bool newfile_fits(const struct writer *w, uint64_t nblocks)
{
	uint64_t room = newfile_room(w);

	return !room || nblocks <= room ||
	       nblocks > appender_room(&w->appender, APPENDER_SEGMENT);
}

bool newfile_skip_wastes(const struct writer *w)
{
	return newfile_room(w) > w->collected.nblocks +
				 w->g.blocks_per_segment / MOST_UNUSED;
}

int newfile_skip(struct writer *w, struct context *cx)
{
	int ret = flush_collected(w, cx, true);

	return ret ? ret : appender_leave_segment(&w->appender, cx);
}

/*
 * Allocates numbers for up to COUNT blocks from BLKOFF on and enters them in
 * the map.
 */
static int number_run(struct flush_file *f, struct context *cx,
		      uint64_t blkoff, uint64_t count,
		      struct bmapbuild_run *run)
{
	uint32_t want = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX, got;
	int ret = dattable_take(&f->w->dat, cx, want, &run->ptr, &got);

	if (ret)
		return ret;
	run->blkoff = blkoff;
	run->count = got;
	return bmapbuild_add(f->w->maps, cx, run, flush_add_node, f);
}

/*
 * Places RUN, blocks of PAYLOAD from *AT on.  If a log ends within it, the next
 * log begins with collected nodes, except before the first block of a file,
 * which may fit there only without them.
 */
static int place_run(struct flush_file *f, struct context *cx,
		     const struct newfile_run *run, struct payload *payload,
		     uint64_t *at)
{
	struct appender *a = &f->w->appender;
	struct loglayout_run listed = {
		.ino = f->ino, .cno = f->w->cno, .kind = LOGLAYOUT_DATA,
	};
	struct bmapbuild_run numbered;
	uint64_t left = run->count;
	uint32_t done;
	int ret = 0;

	while ((left || listed.count) && !ret) {
		if (!listed.count) {
			ret = number_run(f, cx, run->blkoff + run->count - left,
					 left, &numbered);
			if (ret)
				return ret;
			listed.vblocknr = numbered.ptr;
			listed.blkoff = numbered.blkoff;
			listed.count = (uint32_t)numbered.count;
			left -= numbered.count;
		}
		ret = appender_list(a, cx, &listed, payload, *at, false, &done);
		if (ret)
			return ret;
		listed.vblocknr += done;
		listed.blkoff += done;
		listed.count -= done;
		*at += done;
		if (done)
			continue;
		ret = appender_end_log(a, cx);
		if (!ret && *at)
			ret = flush_if_due(f->w, cx);
	}
	return ret;
}

/* Ends the map of a file of NBLOCKS data blocks. */
static int complete_file(struct flush_file *f, struct context *cx,
			 uint64_t nblocks, struct nilfs_inode *inode)
{
	struct writer *w = f->w;
	uint64_t nodes;
	int ret = bmapbuild_end(w->maps, cx, flush_add_node, f, inode->i_bmap,
				&nodes);

	if (ret)
		return ret;
	nblocks += nodes;
	inode->i_blocks = le64_make(nblocks * (w->g.block_size / SECTOR));
	w->blocks_count += nblocks;
	return flush_if_due(w, cx);
}

int newfile_place(struct writer *w, struct context *cx, uint64_t ino,
		  struct nilfs_inode *inode, const struct newfile_run *runs,
		  size_t nruns, struct payload *payload)
{
	struct appender *a = &w->appender;
	struct flush_file f = { w, ino };
	uint64_t nblocks = 0, at = 0;
	size_t i;
	int ret = 0;

	for (i = 0; i < nruns; i++)
		nblocks += runs[i].count;
	/*
	 * The file would be cut by the end of this log, but fits the next one.
	 */
	if (a->log && nblocks > appender_room(a, APPENDER_OPEN) &&
	    nblocks <= appender_room(a, APPENDER_NEXT))
		ret = appender_end_log(a, cx);
	bmapbuild_begin(w->maps);
	for (i = 0; i < nruns && !ret; i++)
		ret = place_run(&f, cx, &runs[i], payload, &at);
	if (!ret)
		ret = complete_file(&f, cx, nblocks, inode);
	payload_put(payload);
	return ret;
}

int newfile_collect(struct writer *w, struct context *cx, uint64_t ino,
		    struct nilfs_inode *inode, const void *data,
		    uint64_t count)
{
	struct flush_file f = { w, ino };
	struct loglayout_run run = {
		.ino = ino, .cno = w->cno, .kind = LOGLAYOUT_DATA, .count = 1,
	};
	struct bmapbuild_run numbered;
	const char *block = data;
	int ret = 0;

	bmapbuild_begin(w->maps);
	for (; run.blkoff < count && !ret; run.blkoff++) {
		ret = number_run(&f, cx, run.blkoff, 1, &numbered);
		run.vblocknr = numbered.ptr;
		if (!ret)
			ret = flush_add(w, cx, &run, block);
		if (!ret)
			ret = flush_if_due(w, cx);
		block += w->g.block_size;
	}
	return ret ? ret : complete_file(&f, cx, count, inode);
}

int newfile_settle(struct writer *w, struct context *cx)
{
	int ret = flush_collected(w, cx, false);

	return ret ? ret : appender_end_log(&w->appender, cx);
}

/* Ends N pointers; consecutive ones with one call. */
static int drop_ptrs(struct writer *w, struct context *cx, const le64 *ptrs,
		     uint32_t n)
{
	uint32_t i, count;
	int ret = 0;

	for (i = 0; i < n && !ret; i += count) {
		uint64_t first = le64_get(ptrs[i]);

		for (count = 1; i + count < n; count++) {
			if (le64_get(ptrs[i + count]) != first + count)
				break;
		}
		if (first)
			ret = dattable_end(&w->dat, cx, first, count,
					   METAFILE_MULTI);
		if (first)
			w->blocks_count -= count;
	}
	return ret;
}

/* Ends all blocks below NODE of the map of a file. */
static int drop_children(struct writer *w, struct context *cx,
			 const struct bmap_node *node)
{
	uint32_t i, n = node->level > 1 ? node->nchildren : 0;
	void *block = n ? malloc(w->g.block_size) : NULL;
	struct bmap_node child;
	uint64_t ptr;
	int ret = n && !block ? fail(cx, -ENOMEM, "node of a map") : 0;

	for (i = 0; i < n && !ret; i++) {
		ptr = bmap_node_ptr(node, i);
		ret = w->env.read(w, cx, METAFILE_MULTI, ptr, block);
		if (ret)
			break;
		bmap_node_read(w->g.block_size, block, &child);
		if (bmap_node_check(w->g.block_size, block) ||
		    child.level != node->level - 1)
			ret = fail(cx, -EUCLEAN, "virtual block %llu: not a "
				   "node of level %u",
				   (unsigned long long)ptr, node->level - 1);
		else
			ret = drop_children(w, cx, &child);
	}
	free(block);
	return ret ? ret : drop_ptrs(w, cx, node->ptrs, node->nchildren);
}

int newfile_drop(struct writer *w, struct context *cx, uint64_t ino,
		 const struct nilfs_inode *inode)
{
	struct bmap_node root;

	if (!inode_has_bmap(inode))
		return 0;
	if (!bmap_is_btree(inode->i_bmap))
		return drop_ptrs(w, cx, inode->i_bmap + 1,
				 NILFS_DIRECT_NBLOCKS);
	if (bmap_root_check(inode->i_bmap))
		return fail(cx, -EUCLEAN, "inode %llu: its map is broken",
			    (unsigned long long)ino);
	bmap_root_read(inode->i_bmap, &root);
	return drop_children(w, cx, &root);
}
