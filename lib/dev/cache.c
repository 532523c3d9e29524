// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The block cache.
 *
 * All blocks lie in one reserved range of addresses, block after block, so the
 * address of its data gives a frame's number, and cache_put() needs no lookup.  The
 * system gives memory to the range when frames are first used, so a small job does
 * not pay for a large limit.  A hash table finds the frame of a block; a clock hand
 * with one reference bit finds the frame to reuse.  Blocks read ahead enter
 * unreferenced, so a long scan does not evict blocks that are used repeatedly.
 *
 * The frame of a block that is released as spent is reused next: it stays in the
 * processor's caches, and no memory is needed.  Until then the block can still be
 * found.
 *
 * A failed request leaves its frames without a block; the hand finds them again.
 */
#include "config.h"

#include "dev/cache.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>

/*
 * Blocks that are not borrowed are poisoned for AddressSanitizer, so that it
 * detects reads past a block and after its return.
 */
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define SHOW(p, size) ASAN_UNPOISON_MEMORY_REGION(p, size)
#define HIDE(p, size) ASAN_POISON_MEMORY_REGION(p, size)
#else
#define SHOW(p, size) ((void)(p), (void)(size))
#define HIDE(p, size) ((void)(p), (void)(size))
#endif

#define MIN_FRAMES 16
#define NO_FRAME UINT32_MAX
#define SPENT_MAX 32
#define MEMORY_STEP (64u << 10)

struct frame {
	uint64_t blocknr;
	uint32_t next; /* chain: frame + 1, or 0 at the end */
	uint32_t pins;
	bool named; /* holds BLOCKNR and is on its chain */
	bool referenced;
	bool spent; /* reuse first, unless it is used again */
};

struct cache {
	struct dev *dev;
	unsigned char *arena;
	struct frame *frames;
	uint32_t *buckets; /* first frame + 1 of a chain, or 0 */
	unsigned int hash_shift;
	unsigned int block_shift;
	size_t block_size;
	uint32_t frames_max;
	uint32_t frames_used; /* frames that have ever held a block */
	uint32_t frames_there; /* frames that have memory */
	uint32_t hand;
	uint32_t spent[SPENT_MAX]; /* spent frames (may be outdated), latest last */
	unsigned int nspent;
};

/* Fibonacci hashing: adjacent numbers are distributed, strides do not collide. */
static inline uint32_t *bucket(const struct cache *cache, uint64_t blocknr)
{
	uint64_t hash = blocknr * UINT64_C(0x9e3779b97f4a7c15);

	return &cache->buckets[hash >> cache->hash_shift];
}

static inline uint32_t find_frame(const struct cache *cache, uint64_t blocknr)
{
	uint32_t link = *bucket(cache, blocknr);

	while (link && cache->frames[link - 1].blocknr != blocknr)
		link = cache->frames[link - 1].next;
	return link ? link - 1 : NO_FRAME;
}

static inline unsigned char *data_of(struct cache *cache, uint32_t frame)
{
	return cache->arena + ((size_t)frame << cache->block_shift);
}

static void enter_frame(struct cache *cache, uint32_t frame, uint64_t blocknr)
{
	struct frame *f = &cache->frames[frame];
	uint32_t *link = bucket(cache, blocknr);

	f->blocknr = blocknr;
	f->named = true;
	f->referenced = false;
	f->next = *link;
	*link = frame + 1;
}

static void forget_frame(struct cache *cache, uint32_t frame)
{
	struct frame *f = &cache->frames[frame];
	uint32_t *link;

	if (!f->named)
		return;
	link = bucket(cache, f->blocknr);
	while (*link != frame + 1)
		link = &cache->frames[*link - 1].next;
	*link = f->next;
	f->named = false;
	f->spent = false;
}

/*
 * Takes a frame to fill, without a block: the one spent last, a new one, or the one
 * that the hand finds; NO_FRAME if all are borrowed.
 */
static uint32_t take_frame(struct cache *cache)
{
	uint64_t steps = 2 * (uint64_t)cache->frames_max;
	uint32_t frame, n;
	struct frame *f;

	while (cache->nspent) {
		frame = cache->spent[--cache->nspent];
		f = &cache->frames[frame];
		if (!f->spent || f->pins)
			continue;
		forget_frame(cache, frame);
		return frame;
	}
	/*
	 * The next frames get memory in one request instead of a fault for each
	 * page.  If the system cannot do that they get it when they are first used.
	 */
	if (cache->frames_used < cache->frames_max &&
	    cache->frames_used >= cache->frames_there) {
		n = (uint32_t)(MEMORY_STEP >> cache->block_shift) + 1;
		if (n > cache->frames_max - cache->frames_there)
			n = cache->frames_max - cache->frames_there;
#ifdef MADV_POPULATE_WRITE
		madvise(data_of(cache, cache->frames_there),
			(size_t)n << cache->block_shift, MADV_POPULATE_WRITE);
#endif
		cache->frames_there += n;
	}
	if (cache->frames_used < cache->frames_max)
		return cache->frames_used++;
	while (steps--) {
		frame = cache->hand;
		f = &cache->frames[frame];
		cache->hand = frame + 1 < cache->frames_max ? frame + 1 : 0;
		if (f->pins)
			continue;
		if (!f->referenced) {
			forget_frame(cache, frame);
			return frame;
		}
		f->referenced = false;
	}
	return NO_FRAME;
}

int cache_get(struct cache *cache, struct context *cx, uint64_t blocknr,
	      const void **data)
{
	uint32_t frame = find_frame(cache, blocknr);
	int ret;

	if (frame != NO_FRAME) {
		cache->frames[frame].referenced = true;
		cache->frames[frame].spent = false;
	} else {
		if (blocknr > UINT64_MAX >> cache->block_shift)
			return fail(cx, -EIO, "%s: block %" PRIu64
				    " is past the end", cache->dev->name,
				    blocknr);
		frame = take_frame(cache);
		if (frame == NO_FRAME)
			return fail(cx, -ENOBUFS, "%s: all %" PRIu32
				    " cached blocks are in use",
				    cache->dev->name, cache->frames_max);
		SHOW(data_of(cache, frame), cache->block_size);
		ret = dev_read(cache->dev, cx, blocknr << cache->block_shift,
			       data_of(cache, frame), cache->block_size);
		if (ret)
			return ret;
		enter_frame(cache, frame, blocknr);
	}
	cache->frames[frame].pins++;
	*data = data_of(cache, frame);
	SHOW(*data, cache->block_size);
	return 0;
}

bool cache_has(const struct cache *cache, uint64_t blocknr)
{
	return find_frame(cache, blocknr) != NO_FRAME;
}

void cache_put(struct cache *cache, const void *data)
{
	size_t at;

	if (!data)
		return;
	at = (size_t)((const unsigned char *)data - cache->arena);
	if (!--cache->frames[at >> cache->block_shift].pins)
		HIDE(data, cache->block_size);
}

void cache_put_spent(struct cache *cache, const void *data)
{
	struct frame *f;
	size_t at;

	cache_put(cache, data);
	if (!data)
		return;
	at = (size_t)((const unsigned char *)data - cache->arena);
	f = &cache->frames[at >> cache->block_shift];
	if (f->spent || cache->nspent == SPENT_MAX)
		return;
	f->spent = true;
	cache->spent[cache->nspent++] = (uint32_t)(at >> cache->block_shift);
}

void cache_readahead(struct cache *cache, struct context *cx, uint64_t blocknr,
		     unsigned int count)
{
	uint64_t blocks = cache->dev->size >> cache->block_shift;
	struct iovec iov[DEV_IOV_MAX];
	uint32_t frames[DEV_IOV_MAX];
	unsigned int i, n, missing;
	struct context quiet;
	int ret;

	if (blocknr >= blocks)
		return;
	if (count > blocks - blocknr)
		count = (unsigned int)(blocks - blocknr);
	/* A longer readahead would evict its own beginning before it is used. */
	if (count > cache->frames_max / 2)
		count = cache->frames_max / 2;

	context_child(cx, &quiet);
	for (; count; blocknr += n, count -= n) {
		for (missing = 0; missing < count && missing < DEV_IOV_MAX; missing++)
			if (find_frame(cache, blocknr + missing) != NO_FRAME)
				break;
		n = 1;
		if (!missing)
			continue;
		/* Pin the frames, so that the hand does not take one twice. */
		for (n = 0; n < missing; n++) {
			frames[n] = take_frame(cache);
			if (frames[n] == NO_FRAME)
				break;
			cache->frames[frames[n]].pins = 1;
			iov[n].iov_base = data_of(cache, frames[n]);
			iov[n].iov_len = cache->block_size;
			SHOW(iov[n].iov_base, iov[n].iov_len);
		}
		ret = dev_readv(cache->dev, &quiet, blocknr << cache->block_shift,
				iov, (int)n);
		for (i = 0; i < n; i++) {
			cache->frames[frames[i]].pins = 0;
			HIDE(data_of(cache, frames[i]), cache->block_size);
			if (!ret)
				enter_frame(cache, frames[i], blocknr + i);
		}
		/* No free frames: more readahead would evict the blocks just read. */
		if (ret || n < missing)
			return;
	}
}

int cache_open(struct cache **cachep, struct context *cx, struct dev *dev,
	       uint32_t block_size, size_t limit)
{
	unsigned int bits = 1;
	struct cache *cache;
	size_t frames;
	void *arena;

	if (!block_size || block_size & (block_size - 1))
		return fail(cx, -EINVAL, "cache of blocks of %" PRIu32 " bytes",
			    block_size);
	cache = calloc(1, sizeof(*cache));
	if (!cache)
		return fail(cx, -ENOMEM, "block cache");
	frames = limit / block_size;
	if (frames > dev->size / block_size)
		frames = (size_t)(dev->size / block_size);
	if (frames < MIN_FRAMES)
		frames = MIN_FRAMES;
	if (frames > INT32_MAX)
		frames = INT32_MAX;
	while (bits < 32 && UINT64_C(1) << bits < 2 * (uint64_t)frames)
		bits++;
	cache->dev = dev;
	cache->block_shift = (unsigned int)__builtin_ctz(block_size);
	cache->block_size = block_size;
	cache->frames_max = (uint32_t)frames;
	cache->hash_shift = 64 - bits;
	cache->buckets = calloc((size_t)1 << bits, sizeof(*cache->buckets));
	cache->frames = calloc(frames, sizeof(*cache->frames));
	arena = mmap(NULL, frames * block_size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (arena != MAP_FAILED) {
		cache->arena = arena;
		HIDE(arena, frames * block_size);
	}
	if (!cache->buckets || !cache->frames || !cache->arena) {
		cache_close(cache);
		return fail(cx, -ENOMEM, "block cache of %zu bytes", limit);
	}
	*cachep = cache;
	return 0;
}

uint64_t cache_bytes(const struct cache *cache)
{
	return (uint64_t)cache->frames_used << cache->block_shift;
}

void cache_close(struct cache *cache)
{
	if (!cache)
		return;
	if (cache->arena) {
		size_t size = cache->frames_max * cache->block_size;

		SHOW(cache->arena, size);
		munmap(cache->arena, size);
	}
	free(cache->frames);
	free(cache->buckets);
	free(cache);
}
