// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The overlay.
 *
 * Written bytes are kept in pages of 1 KiB, the least block of the format, in
 * the order in which they were first written since the last flush.  A page
 * that is written again before the next flush changes in place; after a flush
 * it gets a new version at the end, and the old one stays for the commit to
 * write in its turn.  The commit is then one walk from the first page to the
 * last with a flush wherever the epoch changes.
 *
 * Pages lie in chunks, so that a large sequential write is committed in large
 * writes without another copy.  A chain per hash value finds the newest
 * version of a page.
 *
 * Workers read, and write, at once: a lock lets many of them read.
 */
#include "dev/overlay.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define PAGE_BYTES OVERLAY_PAGE_BYTES
#define CHUNK_PAGES 256u
#define BUCKETS 4096u

struct page {
	uint64_t number; /* place on the device in pages */
	uint64_t epoch;	 /* flushes before it */
	size_t next;	 /* chain, towards older ones: page + 1, or 0 */
};

struct overlay {
	struct dev dev;
	struct dev *under;
	pthread_rwlock_t lock;	/* of all that follows */
	struct page *pages;
	size_t count, room;
	unsigned char **chunks;
	size_t chunk_count, chunk_room;
	uint64_t epoch;
	uint64_t bytes_max;
	size_t buckets[BUCKETS]; /* newest page of a chain + 1, or 0 */
};

static struct overlay *to_overlay(struct dev *dev)
{
	return (struct overlay *)dev;
}

static size_t *bucket(struct overlay *overlay, uint64_t number)
{
	uint64_t hash = number * UINT64_C(0x9e3779b97f4a7c15);

	return &overlay->buckets[hash >> 52];
}

static unsigned char *data_of(const struct overlay *overlay, size_t page)
{
	return overlay->chunks[page / CHUNK_PAGES] +
	       page % CHUNK_PAGES * PAGE_BYTES;
}

/* The newest version of a page in *PAGE, or false. */
static bool find(struct overlay *overlay, uint64_t number, size_t *page)
{
	size_t link = *bucket(overlay, number);

	while (link && overlay->pages[link - 1].number != number)
		link = overlay->pages[link - 1].next;
	*page = link - 1;
	return link;
}

/* The last page of a device may be short. */
static size_t page_size(const struct overlay *overlay, uint64_t number)
{
	uint64_t left = overlay->dev.size - number * PAGE_BYTES;

	return left < PAGE_BYTES ? (size_t)left : PAGE_BYTES;
}

static int make_room(struct overlay *overlay, struct context *cx)
{
	unsigned char **chunks;
	struct page *pages;

	if (overlay->count >= overlay->bytes_max / PAGE_BYTES)
		return fail(cx, -ENOMEM,
			    "%s: changes kept aside pass the memory budget",
			    overlay->dev.name);
	pages = array_grow(cx, overlay->pages, &overlay->room,
			   overlay->count + 1, sizeof(*pages));
	if (!pages)
		return -ENOMEM;
	overlay->pages = pages;
	if (overlay->count < overlay->chunk_count * CHUNK_PAGES)
		return 0;
	chunks = array_grow(cx, overlay->chunks, &overlay->chunk_room,
			    overlay->chunk_count + 1, sizeof(*chunks));
	if (!chunks)
		return -ENOMEM;
	overlay->chunks = chunks;
	chunks[overlay->chunk_count] = malloc(CHUNK_PAGES * PAGE_BYTES);
	if (!chunks[overlay->chunk_count])
		return fail(cx, -ENOMEM, "%s: changes kept aside",
			    overlay->dev.name);
	overlay->chunk_count++;
	return 0;
}

/* Fills a new version: from the old one, or from the device underneath. */
static int fill(struct overlay *overlay, struct context *cx, uint64_t number,
		unsigned char *data)
{
	size_t older;

	if (find(overlay, number, &older)) {
		memcpy(data, data_of(overlay, older), PAGE_BYTES);
		return 0;
	}
	return dev_read(overlay->under, cx, number * PAGE_BYTES, data,
			page_size(overlay, number));
}

/* A version of the page that may be changed; filled unless all is replaced. */
static int writable_page(struct overlay *overlay, struct context *cx,
			 uint64_t number, bool replaced, unsigned char **data)
{
	size_t *link = bucket(overlay, number), page;
	int ret;

	if (find(overlay, number, &page) &&
	    overlay->pages[page].epoch == overlay->epoch) {
		*data = data_of(overlay, page);
		return 0;
	}
	ret = make_room(overlay, cx);
	if (ret)
		return ret;
	*data = data_of(overlay, overlay->count);
	ret = replaced ? 0 : fill(overlay, cx, number, *data);
	if (ret)
		return ret;
	overlay->pages[overlay->count] = (struct page){
		.number = number,
		.epoch = overlay->epoch,
		.next = *link,
	};
	*link = ++overlay->count;
	return 0;
}

static int overlay_write(struct dev *dev, struct context *cx, uint64_t off,
			 const void *buf, size_t len)
{
	struct overlay *overlay = to_overlay(dev);
	const unsigned char *p = buf;
	int ret = 0;

	pthread_rwlock_wrlock(&overlay->lock);
	while (len && !ret) {
		uint64_t number = off / PAGE_BYTES;
		size_t at = off % PAGE_BYTES;
		size_t n = page_size(overlay, number) - at;
		unsigned char *data;

		if (n > len)
			n = len;
		ret = writable_page(overlay, cx, number,
				    n == page_size(overlay, number), &data);
		if (!ret)
			memcpy(data + at, p, n);
		p += n;
		off += n;
		len -= n;
	}
	pthread_rwlock_unlock(&overlay->lock);
	return ret;
}

/* How many of LEN bytes at OFF come before the first page kept here. */
static size_t clean_run(struct overlay *overlay, uint64_t off, size_t len)
{
	uint64_t number = off / PAGE_BYTES;
	size_t page;

	while (number * PAGE_BYTES < off + len) {
		if (find(overlay, number, &page))
			return number * PAGE_BYTES <= off
				       ? 0
				       : (size_t)(number * PAGE_BYTES - off);
		number++;
	}
	return len;
}

static size_t read_page(struct overlay *overlay, uint64_t off,
			unsigned char *buf, size_t len)
{
	size_t at = off % PAGE_BYTES, n = PAGE_BYTES - at, page;

	if (n > len)
		n = len;
	if (find(overlay, off / PAGE_BYTES, &page))
		memcpy(buf, data_of(overlay, page) + at, n);
	return n;
}

static int read_locked(struct overlay *overlay, struct context *cx,
		       uint64_t off, void *buf, size_t len)
{
	unsigned char *p = buf;

	while (len) {
		size_t n = overlay->count ? clean_run(overlay, off, len) : len;
		int ret = dev_read(overlay->under, cx, off, p, n);

		if (ret)
			return ret;
		if (!n)
			n = read_page(overlay, off, p, len);
		p += n;
		off += n;
		len -= n;
	}
	return 0;
}

static int overlay_read(struct dev *dev, struct context *cx, uint64_t off,
			void *buf, size_t len)
{
	struct overlay *overlay = to_overlay(dev);
	int ret;

	pthread_rwlock_rdlock(&overlay->lock);
	ret = read_locked(overlay, cx, off, buf, len);
	pthread_rwlock_unlock(&overlay->lock);
	return ret;
}

/* The common case is a check before anything was written. */
static int overlay_readv(struct dev *dev, struct context *cx, uint64_t off,
			 struct iovec *iov, int n)
{
	struct overlay *overlay = to_overlay(dev);
	bool clean;
	int i, ret = 0;

	pthread_rwlock_rdlock(&overlay->lock);
	clean = !overlay->count;
	if (clean)
		ret = dev_readv(overlay->under, cx, off, iov, n);
	for (i = 0; !clean && i < n && !ret; i++) {
		ret = read_locked(overlay, cx, off, iov[i].iov_base,
				  iov[i].iov_len);
		off += iov[i].iov_len;
	}
	pthread_rwlock_unlock(&overlay->lock);
	return ret;
}

static int overlay_flush(struct dev *dev, struct context *cx)
{
	struct overlay *overlay = to_overlay(dev);

	(void)cx;
	pthread_rwlock_wrlock(&overlay->lock);
	overlay->epoch++;
	pthread_rwlock_unlock(&overlay->lock);
	return 0;
}

static int overlay_discard(struct dev *dev, struct context *cx, uint64_t off,
			   uint64_t len)
{
	(void)dev;
	(void)cx;
	(void)off;
	(void)len;
	return -EOPNOTSUPP;
}

void overlay_drop(struct dev *dev)
{
	struct overlay *overlay = to_overlay(dev);

	while (overlay->chunk_count)
		free(overlay->chunks[--overlay->chunk_count]);
	overlay->count = 0;
	overlay->epoch = 0;
	memset(overlay->buckets, 0, sizeof(overlay->buckets));
}

/* Nothing that is there changes any more. */
size_t overlay_mark(struct dev *dev)
{
	to_overlay(dev)->epoch++;
	return to_overlay(dev)->count;
}

/* The last page is the first one of its chain. */
void overlay_rewind(struct dev *dev, size_t mark)
{
	struct overlay *overlay = to_overlay(dev);
	const struct page *page;

	while (overlay->count > mark) {
		page = &overlay->pages[--overlay->count];
		*bucket(overlay, page->number) = page->next;
	}
}

/* How many pages from FIRST on can be written in one request. */
static size_t joined_pages(const struct overlay *overlay, size_t first)
{
	const struct page *pages = overlay->pages;
	size_t n = 1;

	while (first + n < overlay->count && (first + n) % CHUNK_PAGES &&
	       pages[first + n].number == pages[first].number + n &&
	       pages[first + n].epoch == pages[first].epoch)
		n++;
	return n;
}

static int write_pages(struct overlay *overlay, struct context *cx,
		       size_t first, size_t n)
{
	uint64_t number = overlay->pages[first].number;

	return dev_write(overlay->under, cx, number * PAGE_BYTES,
			 data_of(overlay, first),
			 (n - 1) * PAGE_BYTES +
				 page_size(overlay, number + n - 1));
}

int overlay_commit(struct dev *dev, struct context *cx)
{
	struct overlay *overlay = to_overlay(dev);
	size_t i, n;
	int ret = 0;

	if (!overlay->count)
		return 0;
	for (i = 0; i < overlay->count; i += n) {
		if (i && overlay->pages[i].epoch != overlay->pages[i - 1].epoch)
			ret = dev_flush(overlay->under, cx);
		n = joined_pages(overlay, i);
		if (!ret)
			ret = write_pages(overlay, cx, i, n);
		if (ret)
			return ret;
	}
	ret = dev_flush(overlay->under, cx);
	if (!ret)
		overlay_drop(dev);
	return ret;
}

/* The last version of its page, and not one of those that are written late. */
static bool is_due(struct overlay *overlay, size_t page, const uint64_t *late,
		   unsigned int n)
{
	uint64_t number = overlay->pages[page].number;
	unsigned int i;
	size_t newest;

	for (i = 0; i < n; i++)
		if (late[i] / PAGE_BYTES == number)
			return false;
	return find(overlay, number, &newest) && newest == page;
}

/* How many pages from FIRST on are due and can be written in one request. */
static size_t due_pages(struct overlay *overlay, size_t first,
			const uint64_t *late, unsigned int n)
{
	const struct page *pages = overlay->pages;
	size_t count = 0;

	while (first + count < overlay->count &&
	       (!count || (first + count) % CHUNK_PAGES) &&
	       pages[first + count].number == pages[first].number + count &&
	       is_due(overlay, first + count, late, n))
		count++;
	return count;
}

static int write_late(struct overlay *overlay, struct context *cx,
		      uint64_t off)
{
	size_t page;
	int ret;

	if (!find(overlay, off / PAGE_BYTES, &page))
		return 0;
	ret = write_pages(overlay, cx, page, 1);
	return ret ? ret : dev_flush(overlay->under, cx);
}

int overlay_commit_last(struct dev *dev, struct context *cx,
			const uint64_t *late, unsigned int n)
{
	struct overlay *overlay = to_overlay(dev);
	size_t i, count;
	unsigned int j;
	int ret = 0;

	for (i = 0; i < overlay->count && !ret; i += count ? count : 1) {
		count = due_pages(overlay, i, late, n);
		if (count)
			ret = write_pages(overlay, cx, i, count);
	}
	if (!ret)
		ret = dev_flush(overlay->under, cx);
	for (j = 0; j < n && !ret; j++)
		ret = write_late(overlay, cx, late[j]);
	if (!ret)
		overlay_drop(dev);
	return ret;
}

bool overlay_next_range(struct dev *dev, size_t *cursor, uint64_t *off,
			size_t *len)
{
	struct overlay *overlay = to_overlay(dev);
	uint64_t number;
	size_t count;

	while (*cursor < overlay->count &&
	       !is_due(overlay, *cursor, NULL, 0))
		++*cursor;
	if (*cursor == overlay->count)
		return false;
	count = due_pages(overlay, *cursor, NULL, 0);
	number = overlay->pages[*cursor].number;
	*off = number * PAGE_BYTES;
	*len = (count - 1) * PAGE_BYTES + page_size(overlay, number + count - 1);
	*cursor += count;
	return true;
}

uint64_t overlay_bytes(const struct dev *dev)
{
	return ((const struct overlay *)dev)->count * (uint64_t)PAGE_BYTES;
}

static void overlay_close(struct dev *dev)
{
	struct overlay *overlay = to_overlay(dev);

	overlay_drop(dev);
	free(overlay->chunks);
	free(overlay->pages);
	pthread_rwlock_destroy(&overlay->lock);
	free(overlay);
}

static const struct dev_ops overlay_ops = {
	.read = overlay_read,
	.readv = overlay_readv,
	.write = overlay_write,
	.flush = overlay_flush,
	.discard = overlay_discard,
	.close = overlay_close,
};

const struct zones *overlay_zones(const struct dev *dev)
{
	return ((const struct overlay *)dev)->under->zones;
}

int overlay_open(struct dev **devp, struct context *cx, struct dev *under)
{
	struct overlay *overlay = calloc(1, sizeof(*overlay));

	if (!overlay)
		return fail(cx, -ENOMEM, "%s: overlay", under->name);
	overlay->dev = *under;
	overlay->dev.zones = NULL;
	overlay->dev.ops = &overlay_ops;
	overlay->dev.writable = true;
	memset(&overlay->dev.stats, 0, sizeof(overlay->dev.stats));
	overlay->under = under;
	overlay->bytes_max = cx->max_memory;
	pthread_rwlock_init(&overlay->lock, NULL);
	*devp = &overlay->dev;
	return 0;
}
