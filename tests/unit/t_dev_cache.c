// SPDX-License-Identifier: GPL-2.0-or-later
/* The block cache: contents, pins, limit, read-ahead. */
#include "dev/cache.h"
#include "tests/testdev/memory.h"

#include <errno.h>
#include <stdlib.h>

#include "tap.h"

#define BLOCK 512u
#define BLOCKS 1000u

/* Each block's every byte depends on its number and place. */
static unsigned char *make_bytes(void)
{
	unsigned char *bytes = malloc(BLOCK * BLOCKS);
	uint32_t i, x = 1;

	for (i = 0; bytes && i < BLOCK * BLOCKS; i++) {
		x = x * 1103515245 + 12345;
		bytes[i] = (unsigned char)(x >> 16);
	}
	return bytes;
}

static void test_random(struct dev *dev, const unsigned char *bytes)
{
	const void *held[8] = {NULL};
	unsigned int nr[8] = {0}, i, n, wrong = 0;
	struct cache *cache;
	struct context cx;
	uint32_t x = 7;

	context_init(&cx);
	is_int(cache_open(&cache, &cx, dev, BLOCK, 64 * BLOCK), 0, "opens");
	for (i = 0; i < 200000; i++) {
		x = x * 1103515245 + 12345;
		n = x >> 8 & 7;
		if (held[n] && memcmp(held[n], bytes + nr[n] * BLOCK, BLOCK))
			wrong++;
		cache_put(cache, held[n]);
		held[n] = NULL;
		if ((x >> 11 & 15) == 0)
			cache_readahead(cache, &cx, (x >> 16) % BLOCKS,
					x >> 5 & 63);
		nr[n] = (x >> 16) % BLOCKS;
		if (cache_get(cache, &cx, nr[n], &held[n]))
			wrong++;
	}
	is_int(wrong, 0, "random access sees the device's contents");
	cache_close(cache);
}

static void test_pins(struct dev *dev, const unsigned char *bytes)
{
	const void *data[17];
	struct cache *cache;
	struct context cx;
	unsigned int i, wrong = 0;

	context_init(&cx);
	is_int(cache_open(&cache, &cx, dev, BLOCK, 1), 0, "the least cache");
	for (i = 0; i < 16; i++)
		wrong += cache_get(cache, &cx, i * 3, &data[i]) != 0;
	is_int(wrong, 0, "lends 16 blocks");
	is_int(cache_get(cache, &cx, 999, &data[16]), -ENOBUFS, "not 17");
	is_int(cache_get(cache, &cx, 3, &data[16]), 0,
	       "a lent block is lent twice");
	ok(data[16] == data[1], "from the same place");
	cache_put(cache, data[1]);
	is_int(cache_get(cache, &cx, 999, &data[1]), -ENOBUFS,
	       "one return of two frees nothing");
	cache_readahead(cache, &cx, 500, 8);
	cache_put(cache, data[16]);
	is_int(cache_get(cache, &cx, 999, &data[1]), 0,
	       "the second return does");
	for (i = 0; i < 16; i++)
		wrong += memcmp(data[i], bytes + (i == 1 ? 999 : i * 3) * BLOCK,
				BLOCK) != 0;
	is_int(wrong, 0, "and no lent block was touched");
	cache_put(cache, NULL);
	cache_close(cache);
	cache_close(NULL);
}

/* Read-ahead with fewer free frames than blocks asked for. */
static void test_crowded(struct dev *dev, const unsigned char *bytes)
{
	const void *data[12], *other;
	struct cache *cache;
	struct context cx;
	unsigned int i, wrong = 0;

	context_init(&cx);
	cache_open(&cache, &cx, dev, BLOCK, 1);
	for (i = 0; i < 12; i++)
		wrong += cache_get(cache, &cx, i, &data[i]) != 0;
	cache_readahead(cache, &cx, 500, 8);
	memset(&dev->stats, 0, sizeof(dev->stats));
	for (i = 500; i < 508; i++) {
		wrong += cache_get(cache, &cx, i, &other) != 0;
		wrong += memcmp(other, bytes + i * BLOCK, BLOCK) != 0;
		cache_put(cache, other);
	}
	is_int(wrong, 0, "a crowded read-ahead mixes nothing up");
	is_int(dev->stats.reads, 4, "and keeps what it had room for");
	for (i = 0; i < 12; i++)
		wrong += memcmp(data[i], bytes + i * BLOCK, BLOCK) != 0;
	is_int(wrong, 0, "nor touches what is lent");
	cache_close(cache);
}

static void test_requests(struct dev *dev)
{
	const void *data;
	struct cache *cache;
	struct context cx;
	unsigned int i;

	context_init(&cx);
	cache_open(&cache, &cx, dev, BLOCK, 256 * BLOCK);
	memset(&dev->stats, 0, sizeof(dev->stats));
	ok(!cache_has(cache, 100), "an empty cache has nothing");
	cache_readahead(cache, &cx, 100, 100);
	ok(cache_has(cache, 100) && !cache_has(cache, 99),
	   "but what was read ahead");
	is_int(dev->stats.reads, 1, "100 blocks are read ahead in one request");
	for (i = 100; i < 200; i++) {
		cache_get(cache, &cx, i, &data);
		cache_put(cache, data);
	}
	is_int(dev->stats.reads, 1, "and then found");
	cache_readahead(cache, &cx, 90, 20);
	is_int(dev->stats.read_bytes, 110 * BLOCK,
	       "only what is missing is read ahead");
	cache_readahead(cache, &cx, BLOCKS - 5, 100);
	is_int(dev->stats.read_bytes, 115 * BLOCK,
	       "read-ahead stops at the end of the device");
	cache_readahead(cache, &cx, UINT64_MAX, 100);
	is_int(dev->stats.read_bytes, 115 * BLOCK, "or does not begin");
	is_str(cx.failure, "", "and leaves no failure text");
	cache_close(cache);
}

/* What is used again stays while a scan of everything else goes by. */
static void test_scan(struct dev *dev)
{
	const void *data;
	struct cache *cache;
	struct context cx;
	unsigned int i;

	context_init(&cx);
	cache_open(&cache, &cx, dev, BLOCK, 64 * BLOCK);
	memset(&dev->stats, 0, sizeof(dev->stats));
	for (i = 0; i < BLOCKS; i++) {
		cache_get(cache, &cx, 5, &data);
		cache_put(cache, data);
		cache_get(cache, &cx, i, &data);
		cache_put(cache, data);
	}
	is_int(dev->stats.reads, BLOCKS, "a block in use outlives a scan");
	cache_close(cache);
}

/* A scan that gives its blocks back as spent pushes nothing out. */
static void test_spent(struct dev *dev, const unsigned char *bytes)
{
	const void *data;
	struct cache *cache;
	struct context cx;
	unsigned int i, wrong = 0;

	context_init(&cx);
	cache_open(&cache, &cx, dev, BLOCK, 64 * BLOCK);
	for (i = 0; i < 60; i++) {
		cache_get(cache, &cx, i, &data);
		cache_put(cache, data);
	}
	for (i = 100; i < 400; i++) {
		wrong += cache_get(cache, &cx, i, &data) != 0;
		wrong += memcmp(data, bytes + i * BLOCK, BLOCK) != 0;
		cache_put_spent(cache, data);
	}
	is_int(wrong, 0, "spent blocks make room for others");
	memset(&dev->stats, 0, sizeof(dev->stats));
	cache_get(cache, &cx, 399, &data);
	cache_put(cache, data);
	is_int(dev->stats.reads, 0, "the last one is still found");
	for (i = 400; i < 402; i++) {
		cache_get(cache, &cx, i, &data);
		cache_put(cache, data);
	}
	cache_get(cache, &cx, 399, &data);
	is_int(dev->stats.reads, 2, "and stays, since it was");
	cache_put_spent(cache, data);
	for (i = 0; i < 60; i++) {
		cache_get(cache, &cx, i, &data);
		cache_put(cache, data);
	}
	is_int(dev->stats.reads, 2, "a scan of spent blocks drives out none");
	cache_put_spent(cache, NULL);
	cache_close(cache);
}

static void test_failures(struct dev *dev)
{
	const void *data;
	struct cache *cache;
	struct context cx;
	unsigned int i, wrong = 0;

	context_init(&cx);
	is_int(cache_open(&cache, &cx, dev, 1000, 1 << 20), -EINVAL,
	       "a block size that is no power of two");
	is_int(cache_open(&cache, &cx, dev, BLOCK, SIZE_MAX), 0,
	       "no limit means the device's size");
	cache_close(cache);
	cache_open(&cache, &cx, dev, BLOCK, 1);
	for (i = 0; i < 100; i++)
		wrong += cache_get(cache, &cx, BLOCKS, &data) != -EIO;
	wrong += cache_get(cache, &cx, UINT64_MAX, &data) != -EIO;
	wrong += cache_get(cache, &cx, UINT64_MAX / BLOCK + 1, &data) != -EIO;
	is_int(wrong, 0, "blocks past the end fail, each time");
	is_int(cache_get(cache, &cx, 1, &data), 0, "and cost no frame");
	cache_close(cache);
}

int main(void)
{
	unsigned char *bytes = make_bytes();
	struct context cx;
	struct dev *dev;

	context_init(&cx);
	if (!bytes || memory_open(&dev, &cx, bytes, BLOCK * BLOCKS))
		return 1;
	test_random(dev, bytes);
	test_pins(dev, bytes);
	test_crowded(dev, bytes);
	test_requests(dev);
	test_scan(dev);
	test_spent(dev, bytes);
	test_failures(dev);
	dev_close(dev);
	free(bytes);
	return tap_done();
}
