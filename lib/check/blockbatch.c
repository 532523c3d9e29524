// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reading blocks of files in batches.
 *
 * The blocks of small directories are scattered; those of an ifile form short
 * runs.  They are collected until a buffer that fits the processor's caches is
 * full, and read in the order of the disk.  Small gaps between them are read
 * and discarded, because that is cheaper than another request.  If a request
 * fails, its blocks are read one by one, so that only bad blocks are lost.
 *
 * There are two such buffers; the second is allocated when the first is full.
 * While a worker reads one, the caller's thread processes the other, in the
 * order in which blocks were added.
 */
#include "check/blockbatch.h"

#include <errno.h>
#include <stdlib.h>

#include "check/damage.h"
#include "dev/gather.h"
#include "vol/ahead.h"

#define HALF_BYTES (256u << 10)

static int open_half(struct blockbatch_half *h, struct context *cx,
		     struct volume *vol, uint32_t room)
{
	h->vol = vol;
	h->count = 0;
	h->buf_bytes = (size_t)room << vol->geo.block_bits;
	h->buf = malloc(h->buf_bytes + GATHER_GAP);
	h->items = calloc(room, sizeof(*h->items));
	if (!h->buf || !h->items)
		return fail(cx, -ENOMEM, "buffer for blocks");
	return 0;
}

int blockbatch_open(struct blockbatch *b, struct context *cx,
		    struct volume *vol, blockbatch_take *take, void *arg)
{
	*b = (struct blockbatch){
		.take = take,
		.arg = arg,
		.room = HALF_BYTES >> vol->geo.block_bits,
	};
	return open_half(&b->halves[0], cx, vol, b->room);
}

void blockbatch_close(struct blockbatch *b)
{
	struct blockbatch_half *h;

	pool_close(b->pool);
	b->pool = NULL;
	for (h = b->halves; h < b->halves + 2; h++) {
		free(h->buf);
		free(h->items);
		*h = (struct blockbatch_half){ .vol = NULL };
	}
}

static char *item_data(const struct blockbatch_half *h, uint32_t i)
{
	return h->buf + ((size_t)i << h->vol->geo.block_bits);
}

/* Reads one half, on any thread.  Failures are stored in its items. */
static int read_half(struct context *cx, void *arg, unsigned int worker,
		     bool skip)
{
	struct blockbatch_half *h = arg;
	struct blockbatch_item *items = h->items;
	struct ahead ahead = ahead_of(h->vol);
	unsigned int bits = h->vol->geo.block_bits;
	struct gather g;
	uint32_t i, at, n, item;
	int err;

	(void)worker;
	if (skip)
		return 0;
	/* Insertion sort: the items are nearly in ascending order. */
	for (i = 0; i < h->count; i++) {
		for (at = i; at && items[items[at - 1].order].blocknr >
					   items[i].blocknr; at--)
			items[at].order = items[at - 1].order;
		items[at].order = i;
	}
	/* Announces all requests to the device before the first read. */
	for (i = 0; i < h->count; i++)
		ahead_add(&ahead, items[items[i].order].blocknr, 1);
	ahead_end(&ahead);
	for (i = 0; i < h->count; i += n ? n : 1) {
		/* Stops at a block that is too far away or not on the volume. */
		g.niov = 0;
		for (n = 0; i + n < h->count; n++) {
			item = items[i + n].order;
			if (items[item].blocknr >= h->vol->geo.nblocks ||
			    !gather_add(&g, items[item].blocknr << bits,
					(size_t)1 << bits, item_data(h, item),
					h->buf + h->buf_bytes))
				break;
		}
		err = n ? dev_readv(h->vol->dev, cx, g.start, g.iov, g.niov) :
			  -EIO;
		for (at = i; at < i + (n ? n : 1); at++) {
			item = items[at].order;
			items[item].err =
				!err ? 0
				     : volume_read_blocks(
					       h->vol, cx, items[item].blocknr,
					       1, item_data(h, item));
		}
		if (err)
			fail_clear(cx);
	}
	return 0;
}

/* Processes the blocks of a half that was read. */
static int take_half(struct blockbatch *b, struct context *cx,
		     struct blockbatch_half *h)
{
	uint32_t i;
	int ret = context_cancelled(cx);

	for (i = 0; i < h->count && !ret; i++) {
		const struct blockbatch_item *item = &h->items[i];

		if (item->err)
			fail(cx, item->err, "block %llu of the device",
			     (unsigned long long)item->blocknr);
		ret = b->take(b->arg, cx, item,
			      item->err ? NULL : item_data(h, i), item->err);
	}
	h->count = 0;
	return ret;
}

int blockbatch_flush(struct blockbatch *b, struct context *cx)
{
	struct blockbatch_half *last = &b->halves[b->filling];
	int ret = b->pool ? pool_wait(b->pool, cx, &b->reading) : 0;

	if (!ret)
		ret = take_half(b, cx, &b->halves[!b->filling]) ?:
		      read_half(cx, last, 0, false);
	return ret ? ret : take_half(b, cx, last);
}

int blockbatch_add(struct blockbatch *b, struct context *cx,
		   const struct blockbatch_item *item)
{
	struct blockbatch_half *h = &b->halves[b->filling];
	int ret = 0;

	if (h->count < b->room) {
		h->items[h->count++] = *item;
		return 0;
	}
	/*
	 * A worker reads this half while this thread processes the other one,
	 * which is empty afterwards.  One additional thread is enough.
	 */
	if (!b->pool) {
		ret = open_half(&b->halves[1], cx, h->vol, b->room);
		if (ret)
			return ret;
		ret = pool_open(&b->pool, cx, pool_workers(cx, 2), 1);
		if (ret)
			return ret;
	}
	ret = pool_wait(b->pool, cx, &b->reading) ?:
	      pool_give(b->pool, cx, read_half, h, &b->reading);
	if (ret)
		return ret;
	b->filling = !b->filling;
	h = &b->halves[b->filling];
	ret = take_half(b, cx, h);
	if (!ret)
		h->items[h->count++] = *item;
	return ret;
}

int blockbatch_add_map(struct blockbatch *b, struct context *cx,
		       const struct blockmap *map, uint64_t owner,
		       uint64_t end, struct blockbatch_map *found)
{
	struct blockbatch_item block = { .owner = owner };
	struct blockmap_cursor cur;
	struct blockmap_item item;
	int ret = blockmap_cursor_open(&cur, cx, map, 0, false), err = 0;

	*found = (struct blockbatch_map){ 0 };
	while (!ret && !err &&
	       (ret = blockmap_cursor_next(&cur, cx, &item)) > 0) {
		ret = 0;
		found->more = item.key >= end;
		if (found->more)
			break;
		found->found++;
		found->end = item.key + 1;
		block.blkoff = item.key;
		block.vblocknr = item.ptr;
		err = blockmap_resolve(map, cx, item.ptr, &block.blocknr);
		if (!err) {
			err = blockbatch_add(b, cx, &block);
			continue;
		}
		/* A block without a place on the disk breaks the map. */
		found->broken = true;
		err = damage_is_fatal(err) ? err : 0;
	}
	blockmap_cursor_close(&cur);
	found->broken |= ret < 0;
	return err ? err : damage_is_fatal(ret) ? ret : 0;
}
