// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The content of files that only logs have.
 *
 * The map of a file contains virtual block numbers, which the DAT may have given to
 * other blocks since.  Logs list each block with its file, its checkpoint and, for
 * data, its offset, and all of these must match.  For nodes no offset is listed; a
 * node must have the level and the keys that its parent requires.  The checksum
 * over all blocks of the log must be right, so that damaged content is not used.
 *
 * The listed blocks of the files are collected and sorted, and the maps are walked
 * by means of them.  Blocks that exceed the memory budget are left to another pass:
 * first the files of the greater numbers, then the later blocks of a file.
 */
#include "dump/history/logfiles.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/checked.h"
#include "base/search.h"
#include "base/sort.h"
#include "check/damage.h"
#include "disk/inode.h"
#include "vol/translate.h"

#define FIRST_CUT 4096u

struct logblock {
	uint64_t ino;
	uint64_t number;	/* virtual block */
	uint64_t blkoff;	/* of data */
	uint64_t cno, seq;
	uint64_t blocknr;
	uint32_t index;		/* from the beginning of its log */
	bool is_node;
};

struct gather {
	struct volume *vol;
	struct logfiles *files;
	logblocks_found *found;
	void *arg;

	/* The range collected: inodes from FIRST up to, not including, END; their
	   nodes, and data blocks from FROM up to, not including, TO. */
	uint64_t first, end, from, to;
	struct logblock *items;
	size_t count, room;
	size_t cut, most;
	uint64_t ino;		/* the last inode looked up; 0: none */
	bool is_wanted;

	struct extent *extents;
	size_t nextents, extents_room;
};

static int compare_place(const struct logblock *x, const struct logblock *y)
{
	return sort_order(x->ino, y->ino) ?:
	       sort_order(y->is_node, x->is_node) ?:
	       sort_order(x->blkoff, y->blkoff) ?:
	       sort_order(x->number, y->number);
}

/* By place in the file, then the newest first. */
static int logblock_compare(const void *a, const void *b)
{
	const struct logblock *x = a, *y = b;

	return compare_place(x, y) ?:
	       sort_order(y->cno, x->cno) ?:
	       sort_order(y->seq, x->seq) ?:
	       sort_order(y->blocknr, x->blocknr);
}

/* Keeps the last copy of each block that was written with one checkpoint. */
static void merge_blocks(struct gather *g)
{
	const struct logblock *last;
	size_t i, kept = 0;

	sort_in_place(g->items, g->count, sizeof(*g->items), logblock_compare);
	for (i = 0; i < g->count; i++) {
		last = kept ? &g->items[kept - 1] : NULL;
		if (!last || compare_place(last, &g->items[i]) ||
		    last->cno != g->items[i].cno)
			g->items[kept++] = g->items[i];
	}
	g->count = kept;
}

static bool is_in_range(const struct gather *g, uint64_t ino, bool is_node,
			uint64_t blkoff)
{
	return ino >= g->first && ino < g->end &&
	       (is_node || (blkoff >= g->from && blkoff < g->to));
}

/* Merges the blocks collected, and leaves those beyond the budget to another pass. */
static int shrink_list(struct gather *g, struct context *cx)
{
	struct logblock middle;
	size_t i, kept = 0;

	merge_blocks(g);
	if (g->count >= g->most / 4 * 3) {
		middle = g->items[g->most / 2];
		if (middle.ino > g->first) {
			g->end = middle.ino;
		} else if (!middle.is_node && middle.blkoff > g->from) {
			g->end = middle.ino + 1;
			g->to = middle.blkoff;
		} else {
			return fail(cx, -ENOMEM,
				    "inode %llu: its blocks in logs",
				    (unsigned long long)middle.ino);
		}
		for (i = 0; i < g->count; i++)
			if (is_in_range(g, g->items[i].ino, g->items[i].is_node,
					g->items[i].blkoff))
				g->items[kept++] = g->items[i];
		g->count = kept;
		g->ino = 0;
	}
	g->cut = g->count < FIRST_CUT / 2 ? FIRST_CUT : 2 * g->count;
	if (g->cut > g->most)
		g->cut = g->most;
	return 0;
}

static int gather_block(struct gather *g, struct context *cx,
			const struct segsum_block *b)
{
	const struct logfiles *files = g->files;
	const struct logindex_log *log = &files->logs.at.log;
	size_t i;
	int err = 0;

	if (g->ino != b->ino) {
		g->ino = b->ino;
		g->is_wanted = false;
		for (i = logfiles_from(files, b->ino);
		     i < files->count && files->items[i].ino == b->ino; i++)
			g->is_wanted |= files->items[i].wanted;
	}
	if (!g->is_wanted || !is_in_range(g, b->ino, b->is_node, b->blkoff))
		return 0;
	if (g->count >= g->cut)
		err = shrink_list(g, cx);
	if (!err)
		err = array_reserve(cx, &g->items, &g->room, g->count + 1);
	if (err || !is_in_range(g, b->ino, b->is_node, b->blkoff))
		return err;
	g->items[g->count++] = (struct logblock){
		.ino = b->ino,
		.number = b->vblocknr,
		.blkoff = b->is_node ? 0 : b->blkoff,
		.cno = logitems_cno(&files->logs, b),
		.seq = log->seq,
		.blocknr = log->pseg + b->index,
		.index = b->index,
		.is_node = b->is_node,
	};
	return 0;
}

/* Collects the blocks of inodes from FIRST up to END, data from block FROM on. */
static int gather_blocks(struct gather *g, struct context *cx, uint64_t first,
			 uint64_t from, uint64_t end)
{
	struct segsum_block b;
	int ret, err = 0;

	g->first = first;
	g->end = end;
	g->from = from;
	g->to = UINT64_MAX;
	g->count = 0;
	g->ino = 0;
	g->cut = FIRST_CUT;
	logitems_rewind(&g->files->logs);
	while (!err && (ret = logitems_next(&g->files->logs, cx, &b)))
		err = ret < 0 ? ret : gather_block(g, cx, &b);
	merge_blocks(g);
	return err;
}

static bool logblock_is_before(const void *item, const void *key)
{
	return compare_place(item, key) < 0;
}

/* A walk through the map of a file. */
struct walk {
	struct gather *g;
	const struct logfile *file;
	uint64_t nblocks;	/* size of the file, in blocks */
	uint64_t lost;		/* blocks that were not found */
};

/*
 * Finds the block with virtual number PTR, data block KEY or a node, in its newest
 * copy that is not newer than the file, or in a rescue by the DAT: 1 and *BLOCKNR, 0 if
 * it is lost.
 */
static int logblocks_find(struct walk *w, struct context *cx, uint64_t ptr,
			  uint64_t key, bool is_node, uint64_t *blocknr)
{
	const struct gather *g = w->g;
	const struct logblock place = {
		.ino = w->file->ino,
		.number = ptr,
		.blkoff = is_node ? 0 : key,
		.is_node = is_node,
	};
	const struct logblock *b;
	struct context quiet;
	int ret = 0;
	size_t i = search_first(g->items, g->count, sizeof(*g->items),
				logblock_is_before, &place);

	*blocknr = 0;
	for (; i < g->count && !compare_place(&g->items[i], &place); i++) {
		b = &g->items[i];
		if (b->cno > w->file->last)
			continue;
		*blocknr = b->blocknr;
		ret = logitems_is_proven(&g->files->logs, cx,
					 b->blocknr - b->index);
		break;
	}
	if (ret || !g->files->rescue)
		return ret;
	context_child(cx, &quiet);
	ret = translate_vblock(g->vol, &quiet, ptr, blocknr);
	return ret && !damage_is(ret) ? ret : *blocknr != 0;
}

/* Counts those of blocks [KEY, END) as lost that belong to this pass. */
static void lose_blocks(struct walk *w, uint64_t key, uint64_t end)
{
	if (key < w->g->from)
		key = w->g->from;
	if (end > w->g->to)
		end = w->g->to;
	if (end > w->nblocks)
		end = w->nblocks;
	if (key < end)
		w->lost += end - key;
}

static int put_block(struct gather *g, struct context *cx, uint64_t key,
		     uint64_t blocknr)
{
	struct extent *last =
		g->nextents ? &g->extents[g->nextents - 1] : NULL;

	if (last && last->blkoff + last->count == key &&
	    last->blocknr + last->count == blocknr) {
		last->count++;
		return 0;
	}
	if (array_reserve(cx, &g->extents, &g->extents_room, g->nextents + 1))
		return -ENOMEM;
	g->extents[g->nextents++] = (struct extent){ key, blocknr, 1 };
	return 0;
}

static int walk_data(struct walk *w, struct context *cx, uint64_t key,
		     uint64_t ptr)
{
	uint64_t blocknr;
	int ret = logblocks_find(w, cx, ptr, key, false, &blocknr);

	if (!ret)
		lose_blocks(w, key, key + 1);
	return ret <= 0 ? ret : put_block(w->g, cx, key, blocknr);
}

static int logblocks_walk_children(struct walk *w, struct context *cx,
				   const struct bmap_node *node, uint64_t end);

/* Walks the node PTR of LEVEL, which has the blocks [KEY, END). */
static int logblocks_walk_node(struct walk *w, struct context *cx, uint64_t ptr,
			       unsigned int level, uint64_t key, uint64_t end)
{
	struct volume *vol = w->g->vol;
	const void *block = NULL;
	struct bmap_node node;
	uint64_t blocknr;
	bool fits = false;
	int ret = logblocks_find(w, cx, ptr, key, true, &blocknr);

	if (ret > 0) {
		ret = cache_get(vol->cache, cx, blocknr, &block);
		ret = ret ? damage_forgive(cx, ret) : 1;
	}
	if (ret > 0 && block) {
		bmap_node_read(vol->geo.block_size, block, &node);
		fits = bmap_node_check(vol->geo.block_size, block) == RULE_OK &&
		       node.level == level && node.nchildren &&
		       bmap_node_key(&node, 0) >= key;
	}
	if (fits)
		ret = logblocks_walk_children(w, cx, &node, end);
	else
		lose_blocks(w, key, end);
	cache_put(vol->cache, block);
	return ret < 0 ? ret : 0;
}

/* Walks the children of NODE, whose keys are below END. */
static int logblocks_walk_children(struct walk *w, struct context *cx,
				   const struct bmap_node *node, uint64_t end)
{
	uint64_t key, next;
	uint32_t i;
	int err = context_cancelled(cx);

	for (i = 0; i < node->nchildren && !err; i++) {
		key = bmap_node_key(node, i);
		next = i + 1u < node->nchildren ? bmap_node_key(node, i + 1)
						: end;
		if (key >= next || next > end) {
			lose_blocks(w, key, end);
			return 0;
		}
		if (key >= w->g->to || key >= w->nblocks)
			break;
		if (node->level == 1 && key >= w->g->from)
			err = walk_data(w, cx, key, bmap_node_ptr(node, i));
		else if (node->level > 1 && next > w->g->from)
			err = logblocks_walk_node(w, cx, bmap_node_ptr(node, i),
						  node->level - 1u, key, next);
	}
	return err;
}

static int logblocks_walk_map(struct walk *w, struct context *cx,
			      const struct nilfs_inode *inode)
{
	struct bmap_node root;
	uint64_t key, ptr;
	int err = 0;

	if (bmap_is_btree(inode->i_bmap)) {
		if (bmap_root_check(inode->i_bmap) != RULE_OK) {
			lose_blocks(w, 0, UINT64_MAX);
			return 0;
		}
		bmap_root_read(inode->i_bmap, &root);
		return logblocks_walk_children(w, cx, &root, UINT64_MAX);
	}
	for (key = 0; key < NILFS_DIRECT_NBLOCKS && !err; key++) {
		ptr = bmap_direct_ptr(inode->i_bmap, key);
		if (ptr && key < w->nblocks && key >= w->g->from &&
		    key < w->g->to)
			err = walk_data(w, cx, key, ptr);
	}
	return err;
}

/*
 * Takes the blocks of a file whose map is lost: of each offset the newest that the DAT
 * does not deny.
 */
static int list_blocks(struct walk *w, struct context *cx)
{
	struct gather *g = w->g;
	const struct logblock first = { .ino = w->file->ino };
	const struct logblock *b, *best = NULL;
	const struct logblock *const end = g->items + g->count;
	int err = 0;

	b = g->items + search_first(g->items, g->count, sizeof(*g->items),
				    logblock_is_before, &first);
	for (; !err && b < end && b->ino == first.ino; b++) {
		if (best && best->blkoff != b->blkoff) {
			err = put_block(g, cx, best->blkoff, best->blocknr);
			best = NULL;
		}
		if (b->cno <= w->file->last &&
		    (!best || b->cno > best->cno ||
		     (b->cno == best->cno && b->seq > best->seq)) &&
		    logitems_may_have(g->vol, cx, b->number, b->blocknr,
				      w->file->last))
			best = b;
	}
	return err || !best ? err : put_block(g, cx, best->blkoff, best->blocknr);
}

/* Finds the content of FILE.  PARTIAL: this pass does not have all its blocks, and
   further passes are made. */
static int find_content(struct gather *g, struct context *cx,
			const struct logfile *file, bool partial)
{
	struct logblocks_file found = { .file = file };
	struct walk w = { .g = g, .file = file };
	int err = logfiles_inode(cx, g->vol, file, &found.inode);
	uint64_t size = le64_get(found.inode.i_size), lost;

	if (err)
		return damage_forgive(cx, err);
	if (inode_has_bmap(&found.inode))
		w.nblocks = div_round_up(size, g->vol->geo.block_size);
	g->nextents = 0;
	err = array_reserve(cx, &g->extents, &g->extents_room, 1);
	if (!err && partial)
		err = gather_blocks(g, cx, file->ino, 0, file->ino + 1);
	if (file->guessed)
		w.nblocks = UINT64_MAX;
	while (!err) {
		err = file->guessed ? list_blocks(&w, cx) :
				      logblocks_walk_map(&w, cx, &found.inode);
		if (err || g->to >= w.nblocks)
			break;
		err = gather_blocks(g, cx, file->ino, g->to, file->ino + 1);
	}
	if (err)
		return err;
	found.extents = g->extents;
	found.count = g->nextents;
	if (file->guessed && g->nextents) {
		size = (g->extents[g->nextents - 1].blkoff +
			g->extents[g->nextents - 1].count)
		       << g->vol->geo.block_bits;
		found.inode.i_size = le64_make(size);
	}
	lost = w.lost << g->vol->geo.block_bits;
	found.whole = lost < size ? size - lost : 0;
	return g->found(g->arg, cx, &found);
}

int logblocks_run(struct volume *vol, struct context *cx,
		  struct logfiles *files, logblocks_found *found, void *arg)
{
	struct gather g = {
		.vol = vol,
		.files = files,
		.found = found,
		.arg = arg,
		.most = cx->max_memory / 4 / sizeof(struct logblock),
	};
	const struct logfile *file = files->items;
	const struct logfile *const last = file + files->count;
	uint64_t end = 0;
	bool partial = false;
	int err = 0;

	if (g.most < 2 * FIRST_CUT)
		g.most = 2 * FIRST_CUT;
	for (; file < last && !err; file++) {
		if (!file->wanted)
			continue;
		if (file->ino >= end) {
			err = gather_blocks(&g, cx, file->ino, 0, UINT64_MAX);
			end = g.end;
			partial = g.to != UINT64_MAX;
		}
		if (!err)
			err = find_content(&g, cx, file, partial);
	}
	free(g.items);
	free(g.extents);
	return err;
}
