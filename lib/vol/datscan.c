// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * One streaming pass over the whole DAT.
 *
 * The calling thread walks the map of the DAT, which is a hundredth of its size, and
 * splits the file into groups of the allocator: one bitmap and its entries.  Workers
 * get batches of groups, which they read in large parts into their own buffers,
 * bypassing the cache.  Groups are visited in any order.
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

#define BUFFER_BYTES (128u << 10)
#define BATCH_EXTENTS 4096u

struct worker {
	char *buf;
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
	struct worker *workers;	/* one for each of cx->threads */
};

/* State of one worker for a group. */
struct group_walk {
	struct scan *scan;
	unsigned int worker;
	bool have_bitmap;
};

/* Visits N blocks in DATA that are adjacent in the file and belong to one group. */
static int visit_blocks(struct group_walk *w, struct context *cx,
		       uint64_t blkoff, const char *data, uint32_t n)
{
	const struct nilfs_geometry *geo = &w->scan->vol->geo;
	const struct datscan_visitor *v = w->scan->visitor;
	const struct palloc *p = &w->scan->vol->dat_palloc;
	uint8_t *bitmap = w->scan->workers[w->worker].bitmap;
	bool filled = p->entries_per_block * p->entry_size == p->block_size;
	struct datscan_block block = {
		.stride = p->entry_size,
		.bitmap = bitmap,
	};
	const struct nilfs_dat_entry *de;
	struct palloc_block what;
	uint32_t i, k, joined;
	int err = 0;

	for (i = 0; i < n && !err; i += joined) {
		palloc_locate(p, blkoff + i, &what);
		joined = 1;
		block.entries = data + ((size_t)i << geo->block_bits);
		if (what.kind == PALLOC_BITMAP) {
			memcpy(bitmap, block.entries, geo->block_size);
			w->have_bitmap = true;
		}
		if (what.kind != PALLOC_ENTRIES)
			continue;
		/* Merge all entries up to the end of the group, if there are no gaps. */
		if (filled)
			joined = n - i;
		if (!w->have_bitmap)
			continue;
		block.first = what.first;
		block.count = (uint32_t)what.count * joined;
		block.bit = (uint32_t)(what.first % p->entries_per_group);
		if (v->entries) {
			err = v->entries(v->arg, cx, w->worker, &block);
			continue;
		}
		for (k = datscan_next_used(&block, 0); k < block.count && !err;
		     k = datscan_next_used(&block, k + 1)) {
			de = datscan_entry(&block, k);
			err = v->block ? v->block(v->arg, cx,
						  le64_get(de->de_blocknr),
						  block.first + k, de, NULL) :
					 v->used(v->arg, cx, w->worker,
						 block.first + k, de);
		}
	}
	return err;
}

/* Reads the blocks of a group in large parts. */
static int visit_group(struct context *cx, void *arg, unsigned int worker,
		       uint64_t job)
{
	struct scan *scan = arg;
	const struct datscan_visitor *v = scan->visitor;
	struct volume *vol = scan->vol;
	const struct group *g = &scan->batch->groups[job];
	const struct extent *e = &scan->batch->extents[g->first];
	const struct extent *end = e + g->count;
	uint32_t most = BUFFER_BYTES >> vol->geo.block_bits, n, i;
	char *buf = scan->workers[worker].buf;
	struct group_walk w = {
		.scan = scan,
		.worker = worker,
	};
	uint64_t done;
	int err = 0;

	for (; e < end && !err; e++) {
		for (done = 0; done < e->count && !err; done += n) {
			n = e->count - done < most ?
				    (uint32_t)(e->count - done) : most;
			err = volume_read_blocks(vol, cx, e->blocknr + done, n,
						 buf);
			if (!err) {
				err = visit_blocks(&w, cx, e->blkoff + done,
						   buf, n);
				continue;
			}
			if (err != -EIO || !v->unreadable)
				break;
			/* A part of the range cannot be read: read each block
			   separately. */
			err = 0;
			for (i = 0; i < n && !err; i++) {
				err = volume_read_blocks(
					vol, cx, e->blocknr + done + i, 1, buf);
				if (!err)
					err = visit_blocks(
						&w, cx, e->blkoff + done + i,
						buf, 1);
				else if (err == -EIO)
					err = v->unreadable(
						v->arg, cx,
						e->blkoff + done + i);
			}
		}
	}
	return err;
}

static int compare_places(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;

	return sort_order(x->blocknr, y->blocknr);
}

/* Processes the groups of the batch; with KEEP_LAST the last one becomes the first. */
static int run_batch(struct scan *scan, struct context *cx, bool keep_last)
{
	struct batch *b = scan->batch;
	uint32_t njobs = b->ngroups - (keep_last && b->ngroups > 1), i;
	struct ahead ahead = ahead_of(scan->vol);
	struct group last;
	int err;

	if (!b->ngroups)
		return 0;
	last = b->groups[b->ngroups - 1];
	/* Announce all extents to the device in its order. */
	memcpy(b->sorted, b->extents, b->nextents * sizeof(*b->sorted));
	sort_in_place(b->sorted, b->nextents, sizeof(*b->sorted),
		      compare_places);
	for (i = 0; i < b->nextents; i++)
		ahead_add(&ahead, b->sorted[i].blocknr, b->sorted[i].count);
	ahead_end(&ahead);
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

/* Walks the map, and runs a batch whenever it is full. */
static int walk_blocks(struct scan *scan, struct context *cx)
{
	const struct datscan_visitor *v = scan->visitor;
	const struct blockmap *map = &scan->vol->dat.map;
	struct batch *b = scan->batch;
	struct blockmap_cursor cur;
	struct blockmap_item item;
	struct palloc_block what;
	struct extent *last;
	struct group *g;
	uint64_t blocknr;
	int ret;

	ret = blockmap_cursor_open(&cur, cx, map, 0, true);
	while (!ret && (ret = blockmap_cursor_next(&cur, cx, &item)) > 0) {
		ret = context_cancelled(cx);
		if (!ret)
			ret = blockmap_resolve(map, cx, item.ptr, &blocknr);
		if (!ret && v->own_block)
			ret = v->own_block(v->arg, cx, &item);
		if (!ret && v->block)
			ret = v->block(v->arg, cx, item.ptr, 0, NULL, &item);
		if (ret || item.level)
			continue;
		if (b->nextents == BATCH_EXTENTS)
			ret = run_batch(scan, cx, true);
		if (ret)
			continue;
		/* Adds the block to the batch. */
		palloc_locate(&scan->vol->dat_palloc, item.key, &what);
		g = b->ngroups ? &b->groups[b->ngroups - 1] : NULL;
		if (g && g->number == what.group) {
			last = &b->extents[b->nextents - 1];
			if (last->blkoff + last->count == item.key &&
			    last->blocknr + last->count == blocknr) {
				last->count++;
				continue;
			}
			g->count++;
		} else {
			b->groups[b->ngroups++] = (struct group){
				.number = what.group,
				.first = b->nextents,
				.count = 1,
			};
		}
		b->extents[b->nextents++] =
			(struct extent){ item.key, blocknr, 1 };
	}
	blockmap_cursor_close(&cur);
	return ret ? ret : run_batch(scan, cx, false);
}

int datscan_run(struct volume *vol, struct context *cx,
		const struct datscan_visitor *visitor)
{
	struct scan scan = { .vol = vol, .visitor = visitor };
	struct worker *workers = calloc(cx->threads, sizeof(*workers));
	unsigned int i, n = workers ? cx->threads : 0;
	bool complete = workers;
	int err;

	scan.workers = workers;
	scan.batch = malloc(sizeof(*scan.batch));
	for (i = 0; i < n; i++) {
		workers[i].buf = malloc(BUFFER_BYTES);
		workers[i].bitmap = malloc(vol->geo.block_size);
		complete &= workers[i].buf && workers[i].bitmap;
	}
	if (complete && scan.batch) {
		scan.batch->nextents = scan.batch->ngroups = 0;
		err = walk_blocks(&scan, cx);
	} else {
		err = fail(cx, -ENOMEM, "buffers for the DAT");
	}
	for (i = 0; i < n; i++) {
		free(workers[i].buf);
		free(workers[i].bitmap);
	}
	free(workers);
	free(scan.batch);
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
