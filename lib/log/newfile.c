// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Placing files as a whole.
 *
 * Data blocks get virtual numbers and positions at once; the map is built on
 * the way, and its nodes are collected: their numbers are needed now, their
 * positions are not.
 */
#include "log/newfile.h"

#include <errno.h>
#include <stdlib.h>

#include "disk/bmap.h"
#include "disk/inode.h"
#include "log/writer_parts.h"

#define SECTOR 512u
#define MOST_UNUSED 64	/* of a segment, one of so many parts */

/* A file on its way: what the nodes of its map need to know. */
struct placing {
	struct writer *w;
	uint64_t ino;
	struct payload *payload;	/* of newfile_place(); borrowed */
	uint64_t at;			/* blocks of it already placed */
};

uint64_t newfile_room(const struct writer *w)
{
	uint64_t room = appender_room(&w->appender);
	uint64_t behind = appender_room_behind(&w->appender);

	return room > behind ? room : behind;
}

bool newfile_fits(const struct writer *w, uint64_t nblocks)
{
	uint64_t room = newfile_room(w);

	return !room || nblocks <= room ||
	       nblocks > appender_capacity(&w->appender);
}

bool newfile_skip_wastes(const struct writer *w)
{
	return newfile_room(w) > w->collected.nblocks +
				 w->g.blocks_per_segment / MOST_UNUSED;
}

int newfile_skip(struct writer *w, struct context *cx)
{
	int ret = flush_here(w, cx);

	return ret ? ret : appender_leave_segment(&w->appender, cx);
}

static int collect_node(void *arg, struct context *cx, unsigned int level,
			uint64_t key, const void *block, uint64_t *ptr)
{
	struct placing *p = arg;
	struct loglayout_run run = {
		.ino = p->ino,
		.cno = p->w->cno,
		.kind = LOGLAYOUT_NODE,
		.count = 1,
	};
	uint32_t count;
	int ret = dattable_take(&p->w->dat, cx, 1, ptr, &count);

	(void)level;
	(void)key;
	run.vblocknr = *ptr;
	return ret ? ret : collected_add(&p->w->collected, cx, &run, block,
					 p->w->g.block_size);
}

/* Numbers COUNT blocks from BLKOFF on, or fewer, and enters them in the map. */
static int number_run(struct placing *p, struct context *cx, uint64_t blkoff,
		      uint32_t count, struct bmapbuild_run *run)
{
	uint32_t got;
	int ret = dattable_take(&p->w->dat, cx, count, &run->ptr, &got);

	if (ret)
		return ret;
	run->blkoff = blkoff;
	run->count = got;
	return bmapbuild_add(p->w->maps, cx, run, collect_node, p);
}

/*
 * Lists LISTED; where a log ends in it, collected nodes begin the next.  Not
 * before the first block of a file, which may fit there only without them.
 */
static int list_run(struct placing *p, struct context *cx,
		    struct loglayout_run *listed)
{
	struct appender *a = &p->w->appender;
	uint32_t done;
	int ret = 0;

	while (listed->count && !ret) {
		ret = appender_list(a, cx, listed, p->payload, p->at, &done);
		if (ret)
			return ret;
		listed->vblocknr += done;
		listed->blkoff += done;
		listed->count -= done;
		p->at += done;
		if (done)
			continue;
		ret = appender_end_log(a, cx);
		if (!ret && p->at)
			ret = flush_if_due(p->w, cx);
	}
	return ret;
}

static int place_run(struct placing *p, struct context *cx,
		     const struct newfile_run *run)
{
	struct loglayout_run listed = {
		.ino = p->ino, .cno = p->w->cno, .kind = LOGLAYOUT_DATA,
	};
	struct bmapbuild_run numbered;
	uint64_t done;
	int ret = 0;

	for (done = 0; done < run->count && !ret; done += numbered.count) {
		uint64_t left = run->count - done;

		ret = number_run(p, cx, run->blkoff + done,
				 left < UINT32_MAX ? (uint32_t)left :
						     UINT32_MAX,
				 &numbered);
		if (ret)
			return ret;
		listed.vblocknr = numbered.ptr;
		listed.blkoff = numbered.blkoff;
		listed.count = (uint32_t)numbered.count;
		ret = list_run(p, cx, &listed);
	}
	return ret;
}

/* A file that would be cut by the end of a log, but not by the next one's. */
static int make_room(struct writer *w, struct context *cx, uint64_t nblocks)
{
	const struct appender *a = &w->appender;

	if (a->log && nblocks > appender_room(a) &&
	    nblocks <= appender_room_behind(a))
		return appender_end_log(&w->appender, cx);
	return 0;
}

/* Ends the map of a file of NBLOCKS data blocks. */
static int complete_file(struct placing *p, struct context *cx,
			 uint64_t nblocks, struct nilfs_inode *inode)
{
	struct writer *w = p->w;
	uint64_t nodes;
	int ret = bmapbuild_end(w->maps, cx, collect_node, p, inode->i_bmap,
				&nodes);

	if (ret)
		return ret;
	nblocks += nodes;
	inode->i_blocks = le64_make(nblocks * (w->g.block_size / SECTOR));
	w->blocks_count += nblocks;
	return flush_if_due(w, cx);
}

static int place_blocks(struct placing *p, struct context *cx,
			struct nilfs_inode *inode,
			const struct newfile_run *runs, size_t nruns)
{
	uint64_t nblocks = 0;
	size_t i;
	int ret;

	for (i = 0; i < nruns; i++)
		nblocks += runs[i].count;
	ret = make_room(p->w, cx, nblocks);
	bmapbuild_begin(p->w->maps);
	for (i = 0; i < nruns && !ret; i++)
		ret = place_run(p, cx, &runs[i]);
	return ret ? ret : complete_file(p, cx, nblocks, inode);
}

int newfile_place(struct writer *w, struct context *cx, uint64_t ino,
		  struct nilfs_inode *inode, const struct newfile_run *runs,
		  size_t nruns, struct payload *payload)
{
	struct placing p = { .w = w, .ino = ino, .payload = payload };
	int ret = place_blocks(&p, cx, inode, runs, nruns);

	payload_put(payload);
	return ret;
}

int newfile_collect(struct writer *w, struct context *cx, uint64_t ino,
		    struct nilfs_inode *inode, const void *data,
		    uint64_t count)
{
	struct placing p = { .w = w, .ino = ino };
	struct loglayout_run run = {
		.ino = ino, .cno = w->cno, .kind = LOGLAYOUT_DATA, .count = 1,
	};
	struct bmapbuild_run numbered;
	uint64_t i;
	int ret = 0;

	bmapbuild_begin(w->maps);
	for (i = 0; i < count && !ret; i++) {
		ret = number_run(&p, cx, i, 1, &numbered);
		run.vblocknr = numbered.ptr;
		run.blkoff = i;
		if (!ret)
			ret = collected_add(&w->collected, cx, &run,
					    (const char *)data +
					    i * w->g.block_size,
					    w->g.block_size);
		if (!ret)
			ret = flush_if_due(w, cx);
	}
	return ret ? ret : complete_file(&p, cx, count, inode);
}

int newfile_settle(struct writer *w, struct context *cx)
{
	int ret = flush_collected(w, cx);

	return ret ? ret : appender_end_log(&w->appender, cx);
}

/* A node of a map that is being dropped, and what is below it. */
static int drop_node(struct writer *w, struct context *cx, uint64_t ptr,
		     unsigned int level);

/* Ends N pointers; those that follow each other in one go. */
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

static int drop_children(struct writer *w, struct context *cx,
			 const struct bmap_node *node)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; node->level > 1 && i < node->nchildren && !ret; i++)
		ret = drop_node(w, cx, bmap_node_ptr(node, i), node->level - 1);
	return ret ? ret : drop_ptrs(w, cx, node->ptrs, node->nchildren);
}

static int drop_node(struct writer *w, struct context *cx, uint64_t ptr,
		     unsigned int level)
{
	void *block = malloc(w->g.block_size);
	struct bmap_node node;
	int ret;

	if (!block)
		return fail(cx, -ENOMEM, "node of a map");
	ret = w->env.read(w, cx, METAFILE_MULTI, ptr, block);
	if (!ret) {
		bmap_node_read(w->g.block_size, block, &node);
		if (bmap_node_check(w->g.block_size, block) ||
		    node.level != level)
			ret = fail(cx, -EUCLEAN, "virtual block %llu: not a "
				   "node of level %u",
				   (unsigned long long)ptr, level);
	}
	if (!ret)
		ret = drop_children(w, cx, &node);
	free(block);
	return ret;
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
