// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * One streaming pass over the whole DAT.
 *
 * The calling thread walks the map of the DAT, which is a hundredth of its
 * size, and splits the file into groups of the allocator: one bitmap and its
 * entries.  Batches of groups are passed to the workers, which read them in
 * large pieces into their own buffers, bypassing the cache.  Groups are visited
 * in any order.
 */
#include "vol/datscan.h"

#include <errno.h>
#include <stdlib.h>

#include "base/pool.h"
#include "base/sort.h"
#include "disk/palloc.h"
#include "vol/ahead.h"
#include "vol/extent.h"
#include "vol/volume.h"

#define PIECE_BYTES (128u << 10)
#define BATCH_EXTENTS 4096u

struct worker {
	char *piece;
	uint8_t *bitmap;
};

/* Consecutive extents of one group. */
struct group {
	uint64_t number;
	uint32_t first, count;		/* in the batch's extents */
};

struct batch {
	struct extent extents[BATCH_EXTENTS];
	struct extent sorted[BATCH_EXTENTS];	/* by place */
	struct group groups[BATCH_EXTENTS];
	uint32_t nextents, ngroups;
};

struct scan {
	struct volume *vol;
	const struct datscan_visitor *visitor;
	struct batch *batch;
	struct worker *workers;
	unsigned int nworkers;
};

/* State of one worker for a group. */
struct group_walk {
	struct scan *scan;
	unsigned int worker;
	bool have_bitmap;
};

/*
 * How many of N blocks that follow one another in a group can be shown as one:
 * entries after the first of them go on to the end of the group.
 */
static uint32_t joined(const struct palloc *p, const struct palloc_block *what,
		       uint32_t n)
{
	bool filled = p->entries_per_block * p->entry_size == p->block_size;

	return what->kind == PALLOC_ENTRIES && filled ? n : 1;
}

static int visit_entries(struct group_walk *w, struct context *cx,
			 const struct datscan_block *block)
{
	const struct datscan_visitor *v = w->scan->visitor;
	const struct nilfs_dat_entry *de;
	uint32_t i;
	int err = 0;

	if (v->entries)
		return v->entries(v->arg, cx, w->worker, block);
	for (i = datscan_next_used(block, 0); i < block->count && !err;
	     i = datscan_next_used(block, i + 1)) {
		de = datscan_entry(block, i);
		err = v->block ? v->block(v->arg, cx, le64_get(de->de_blocknr),
					  block->first + i, de, NULL) :
				 v->used(v->arg, cx, w->worker,
					 block->first + i, de);
	}
	return err;
}

/* Visits the first of N blocks in DATA and those joined, *DONE in all. */
static int visit_blocks(struct group_walk *w, struct context *cx,
			uint64_t blkoff, const char *data, uint32_t n,
			uint32_t *done)
{
	const struct palloc *palloc = &w->scan->vol->dat_palloc;
	struct worker *worker = &w->scan->workers[w->worker];
	struct datscan_block block = { .entries = data };
	struct palloc_block what;

	palloc_locate(palloc, blkoff, &what);
	*done = joined(palloc, &what, n);
	if (what.kind == PALLOC_BITMAP) {
		memcpy(worker->bitmap, data, w->scan->vol->geo.block_size);
		w->have_bitmap = true;
	}
	if (what.kind != PALLOC_ENTRIES || !w->have_bitmap)
		return 0;
	block.first = what.first;
	block.count = (uint32_t)what.count * *done;
	block.stride = palloc->entry_size;
	block.bitmap = worker->bitmap;
	block.bit = (uint32_t)(what.first % palloc->entries_per_group);
	return visit_entries(w, cx, &block);
}

static int visit_piece(struct group_walk *w, struct context *cx,
		       uint64_t blkoff, const char *data, uint32_t n)
{
	uint32_t i, done;
	int err = 0;

	for (i = 0; i < n && !err; i += done)
		err = visit_blocks(w, cx, blkoff + i, data + ((size_t)i <<
				   w->scan->vol->geo.block_bits), n - i,
				   &done);
	return err;
}

/* Block for block, because some of a piece cannot be read. */
static int visit_damaged(struct group_walk *w, struct context *cx,
			 uint64_t blkoff, uint64_t blocknr, uint32_t n)
{
	const struct datscan_visitor *v = w->scan->visitor;
	char *buf = w->scan->workers[w->worker].piece;
	uint32_t i;
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		err = volume_read_blocks(w->scan->vol, cx, blocknr + i, 1, buf);
		if (!err)
			err = visit_piece(w, cx, blkoff + i, buf, 1);
		else if (err == -EIO)
			err = v->unreadable(v->arg, cx, blkoff + i);
	}
	return err;
}

static int visit_extent(struct group_walk *w, struct context *cx,
			const struct extent *e)
{
	struct volume *vol = w->scan->vol;
	uint32_t piece = PIECE_BYTES >> vol->geo.block_bits, n;
	char *buf = w->scan->workers[w->worker].piece;
	uint64_t done;
	int err = 0;

	for (done = 0; done < e->count && !err; done += n) {
		n = e->count - done < piece ? (uint32_t)(e->count - done) :
			piece;
		err = volume_read_blocks(vol, cx, e->blocknr + done, n, buf);
		if (!err)
			err = visit_piece(w, cx, e->blkoff + done, buf, n);
		else if (err == -EIO && w->scan->visitor->unreadable)
			err = visit_damaged(w, cx, e->blkoff + done,
					    e->blocknr + done, n);
	}
	return err;
}

static int visit_group(struct context *cx, void *arg, unsigned int worker,
		       uint64_t job)
{
	struct scan *scan = arg;
	const struct group *g = &scan->batch->groups[job];
	struct group_walk w = {
		.scan = scan,
		.worker = worker,
	};
	uint32_t i;
	int err = 0;

	for (i = 0; i < g->count && !err; i++)
		err = visit_extent(&w, cx,
				   &scan->batch->extents[g->first + i]);
	return err;
}

static int compare_places(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;

	return x->blocknr < y->blocknr ? -1 : x->blocknr > y->blocknr;
}

/* Announces the N extents of the batch to the device. */
static void read_ahead(const struct scan *scan, uint32_t n)
{
	struct ahead ahead = ahead_of(scan->vol);
	struct extent *sorted = scan->batch->sorted;
	uint32_t i;

	memcpy(sorted, scan->batch->extents, n * sizeof(*sorted));
	sort_in_place(sorted, n, sizeof(*sorted), compare_places);
	for (i = 0; i < n; i++)
		ahead_add(&ahead, sorted[i].blocknr, sorted[i].count);
	ahead_end(&ahead);
}

/* Works off all groups of the batch but KEEP, which becomes its first. */
static int run_batch(struct scan *scan, struct context *cx, bool keep_last)
{
	struct batch *b = scan->batch;
	uint32_t njobs = b->ngroups - (keep_last && b->ngroups > 1);
	struct group last;
	int err;

	if (!b->ngroups)
		return 0;
	last = b->groups[b->ngroups - 1];
	read_ahead(scan, b->nextents);
	err = pool_run(cx, njobs, visit_group, scan);
	if (njobs == b->ngroups) {
		b->ngroups = b->nextents = 0;
		return err;
	}
	memmove(b->extents, b->extents + last.first,
		last.count * sizeof(*b->extents));
	b->nextents = last.count;
	last.first = 0;
	b->groups[0] = last;
	b->ngroups = 1;
	return err;
}

static bool extends(const struct extent *e, uint64_t blkoff, uint64_t blocknr)
{
	return e->blkoff + e->count == blkoff &&
	       e->blocknr + e->count == blocknr;
}

/* Adds a block of the DAT to the batch, which has room. */
static void add_block(struct scan *scan, uint64_t blkoff, uint64_t blocknr)
{
	struct batch *b = scan->batch;
	struct group *g = b->ngroups ? &b->groups[b->ngroups - 1] : NULL;
	struct palloc_block what;

	palloc_locate(&scan->vol->dat_palloc, blkoff, &what);
	if (g && g->number == what.group &&
	    extends(&b->extents[b->nextents - 1], blkoff, blocknr)) {
		b->extents[b->nextents - 1].count++;
		return;
	}
	b->extents[b->nextents++] = (struct extent){ blkoff, blocknr, 1 };
	if (g && g->number == what.group) {
		g->count++;
		return;
	}
	b->groups[b->ngroups++] = (struct group){
		.number = what.group,
		.first = b->nextents - 1,
		.count = 1,
	};
}

static int take_item(struct scan *scan, struct context *cx,
		     const struct blockmap_item *item)
{
	const struct datscan_visitor *v = scan->visitor;
	uint64_t blocknr;
	int err;

	err = blockmap_resolve(&scan->vol->dat.map, cx, item->ptr, &blocknr);
	if (!err && v->own_block)
		err = v->own_block(v->arg, cx, item);
	if (!err && v->block)
		err = v->block(v->arg, cx, item->ptr, 0, NULL, item);
	if (err || item->level)
		return err;
	if (scan->batch->nextents == BATCH_EXTENTS) {
		err = run_batch(scan, cx, true);
		if (err)
			return err;
	}
	add_block(scan, item->key, blocknr);
	return 0;
}

static int walk_blocks(struct scan *scan, struct context *cx)
{
	struct blockmap_cursor cur;
	struct blockmap_item item;
	int ret;

	ret = blockmap_cursor_open(&cur, cx, &scan->vol->dat.map, 0, true);
	while (!ret && (ret = blockmap_cursor_next(&cur, cx, &item)) > 0) {
		ret = context_cancelled(cx);
		if (!ret)
			ret = take_item(scan, cx, &item);
	}
	blockmap_cursor_close(&cur);
	return ret ? ret : run_batch(scan, cx, false);
}

static int make_workers(struct scan *scan, struct context *cx)
{
	unsigned int i;

	scan->workers = calloc(cx->threads, sizeof(*scan->workers));
	scan->batch = malloc(sizeof(*scan->batch));
	if (!scan->workers || !scan->batch)
		return fail(cx, -ENOMEM, "buffers for the DAT");
	scan->batch->nextents = scan->batch->ngroups = 0;
	scan->nworkers = cx->threads;
	for (i = 0; i < scan->nworkers; i++) {
		scan->workers[i].piece = malloc(PIECE_BYTES);
		scan->workers[i].bitmap = malloc(scan->vol->geo.block_size);
		if (!scan->workers[i].piece || !scan->workers[i].bitmap)
			return fail(cx, -ENOMEM, "buffers for the DAT");
	}
	return 0;
}

static void free_workers(struct scan *scan)
{
	unsigned int i;

	for (i = 0; i < scan->nworkers; i++) {
		free(scan->workers[i].piece);
		free(scan->workers[i].bitmap);
	}
	free(scan->workers);
	free(scan->batch);
}

int datscan_run(struct volume *vol, struct context *cx,
		const struct datscan_visitor *visitor)
{
	struct scan scan = { .vol = vol, .visitor = visitor };
	int err;

	err = make_workers(&scan, cx);
	if (!err)
		err = walk_blocks(&scan, cx);
	free_workers(&scan);
	return err;
}

/* Searches a set bit of the bitmap or, with FLIP all ones, of its inverse. */
static uint32_t next_bit(const struct datscan_block *block, uint32_t i,
			 uint64_t flip)
{
	const le64 *words = (const void *)block->bitmap;
	uint32_t bit = block->bit + i, end = block->bit + block->count;

	while (bit < end) {
		uint64_t word = (le64_get(words[bit / 64]) ^ flip) >> bit % 64;

		if (word) {
			bit += (uint32_t)__builtin_ctzll(word);
			break;
		}
		bit = (bit | 63) + 1;
	}
	return (bit < end ? bit : end) - block->bit;
}

uint32_t datscan_next_used(const struct datscan_block *block, uint32_t i)
{
	return next_bit(block, i, 0);
}

uint32_t datscan_next_free(const struct datscan_block *block, uint32_t i)
{
	return next_bit(block, i, UINT64_MAX);
}

int datscan_run_alone(struct volume *vol, struct context *cx,
		      const struct datscan_visitor *visitor)
{
	struct context alone;
	int err;

	context_child(cx, &alone);
	alone.threads = 1;
	err = datscan_run(vol, &alone, visitor);
	if (err)
		context_adopt(cx, &alone);
	return err;
}
