// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Blocks of files, many at a time.
 *
 * The blocks of small directories lie scattered, those of an ifile in short
 * runs.  They are collected until a buffer is full that stays in the
 * processor's caches, and read in the order of the disk: what lies between two
 * that are near is read as well and dropped, which is cheaper than a request.
 * Where a request fails its blocks are read one by one, so that only those are
 * lost that are bad.
 */
#include "fsck/names/blockbatch.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/uio.h>

#include "vol/ahead.h"

#define BATCH_BYTES (512u << 10)
#define GAP_BYTES (32u << 10) /* read and dropped between two blocks, at most */

/* One request: blocks on the disk and where they go. */
struct request {
	struct iovec iov[DEV_IOV_MAX];
	int niov;
	uint64_t first, end; /* blocks */
};

int blockbatch_open(struct blockbatch *b, struct context *cx,
		    struct volume *vol, blockbatch_take *take, void *arg)
{
	b->vol = vol;
	b->take = take;
	b->arg = arg;
	b->count = 0;
	b->room = BATCH_BYTES >> vol->geo.block_bits;
	b->buf = malloc(BATCH_BYTES + GAP_BYTES);
	b->items = calloc(b->room, sizeof(*b->items));
	b->order = calloc(b->room, sizeof(*b->order));
	b->errs = calloc(b->room, sizeof(*b->errs));
	if (!b->buf || !b->items || !b->order || !b->errs)
		return fail(cx, -ENOMEM, "buffer for blocks");
	return 0;
}

void blockbatch_close(struct blockbatch *b)
{
	free(b->buf);
	free(b->items);
	free(b->order);
	free(b->errs);
	b->buf = NULL;
	b->items = NULL;
	b->order = NULL;
	b->errs = NULL;
}

static char *data_of(const struct blockbatch *b, uint32_t i)
{
	return b->buf + ((size_t)i << b->vol->geo.block_bits);
}

/* Adds N bytes for TO to the request; false where it has no room. */
static bool extend(struct request *r, char *to, size_t n)
{
	struct iovec *last = r->niov ? &r->iov[r->niov - 1] : NULL;

	if (last && (char *)last->iov_base + last->iov_len == to) {
		last->iov_len += n;
		return true;
	}
	if (r->niov == DEV_IOV_MAX)
		return false;
	r->iov[r->niov++] = (struct iovec){ to, n };
	return true;
}

/* Adds item I, which lies behind the others; false where it lies too far. */
static bool join(const struct blockbatch *b, struct request *r, uint32_t i)
{
	uint64_t blocknr = b->items[i].blocknr;
	unsigned int bits = b->vol->geo.block_bits;
	size_t gap;

	if (!r->niov) {
		r->first = r->end = blocknr;
	} else if (blocknr < r->end ||
		   blocknr - r->end > GAP_BYTES >> bits ||
		   r->niov > DEV_IOV_MAX - 2) {
		return false;
	}
	gap = (size_t)(blocknr - r->end) << bits;
	if (gap)
		extend(r, b->buf + BATCH_BYTES, gap);
	extend(r, data_of(b, i), (size_t)1 << bits);
	r->end = blocknr + 1;
	return true;
}

static int read_request(const struct blockbatch *b, struct context *cx,
			struct request *r)
{
	struct volume *vol = b->vol;

	if (r->end > vol->geo.nblocks)
		return -EIO;
	return dev_readv(vol->dev, cx, r->first << vol->geo.block_bits,
			 r->iov, r->niov);
}

/* Reads the items from number K of the order on that go together: how many. */
static uint32_t read_near(struct blockbatch *b, struct context *cx, uint32_t k)
{
	struct request r = { .niov = 0 };
	uint32_t n = 0, i;
	int err;

	while (k + n < b->count && join(b, &r, b->order[k + n]))
		n++;
	err = read_request(b, cx, &r);
	for (i = k; i < k + n; i++) {
		uint32_t item = b->order[i];

		b->errs[item] = 0;
		if (err)
			b->errs[item] = volume_read_blocks(
				b->vol, cx, b->items[item].blocknr, 1,
				data_of(b, item));
	}
	if (err)
		fail_clear(cx);
	return n;
}

/* Sorts the few that are not in order yet: mostly they ascend. */
static void put_in_order(struct blockbatch *b)
{
	uint32_t i, at;

	for (i = 0; i < b->count; i++) {
		for (at = i; at && b->items[b->order[at - 1]].blocknr >
					   b->items[i].blocknr; at--)
			b->order[at] = b->order[at - 1];
		b->order[at] = i;
	}
}

/* So that the disk has all requests before the first is waited for. */
static void read_ahead(const struct blockbatch *b)
{
	struct ahead ahead = ahead_of(b->vol);
	uint32_t i;

	for (i = 0; i < b->count; i++)
		ahead_add(&ahead, b->items[b->order[i]].blocknr, 1);
	ahead_end(&ahead);
}

static int take(const struct blockbatch *b, struct context *cx, uint32_t i)
{
	const struct blockbatch_item *item = &b->items[i];

	if (!b->errs[i])
		return b->take(b->arg, cx, item, data_of(b, i), 0);
	fail(cx, b->errs[i], "block %llu of the device",
	     (unsigned long long)item->blocknr);
	return b->take(b->arg, cx, item, NULL, b->errs[i]);
}

int blockbatch_flush(struct blockbatch *b, struct context *cx)
{
	int ret = context_cancelled(cx);
	uint32_t i;

	put_in_order(b);
	read_ahead(b);
	for (i = 0; i < b->count && !ret;)
		i += read_near(b, cx, i);
	for (i = 0; i < b->count && !ret; i++)
		ret = take(b, cx, i);
	b->count = 0;
	return ret;
}

int blockbatch_add(struct blockbatch *b, struct context *cx,
		   const struct blockbatch_item *item)
{
	int ret = b->count == b->room ? blockbatch_flush(b, cx) : 0;

	if (!ret)
		b->items[b->count++] = *item;
	return ret;
}
