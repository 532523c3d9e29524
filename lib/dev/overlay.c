// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The overlay.
 *
 * Written bytes are kept in pages, in the order in which they were first
 * written since the last flush.  A page that is written again before the next
 * flush changes in place; after a flush it gets a new version at the end, and
 * the old one stays for the commit to write in its turn.  The commit is then
 * one walk from the first page to the last with a flush wherever the epoch
 * changes.
 *
 * Workers read, and write, at once: a lock lets many of them read.
 */
#include "dev/overlay.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "dev/pages.h"

_Static_assert(PAGES_BYTES == OVERLAY_PAGE_BYTES, "what callers know");

struct overlay {
	struct dev dev;
	struct dev *under;
	pthread_rwlock_t lock;	/* of the pages */
	struct pages pages;
};

static struct overlay *to_overlay(struct dev *dev)
{
	return (struct overlay *)dev;
}

/* The last page of a device may be short. */
static size_t page_size(const struct overlay *overlay, uint64_t number)
{
	uint64_t left = overlay->dev.size - number * PAGES_BYTES;

	return left < PAGES_BYTES ? (size_t)left : PAGES_BYTES;
}

/* Fills a new version: from the old one, or from the device underneath. */
static int fill(struct overlay *overlay, struct context *cx, uint64_t number,
		unsigned char *data)
{
	size_t older;

	if (pages_find(&overlay->pages, number, &older)) {
		memcpy(data, pages_data(&overlay->pages, older), PAGES_BYTES);
		return 0;
	}
	return dev_read(overlay->under, cx, number * PAGES_BYTES, data,
			page_size(overlay, number));
}

/* A version of the page that may be changed; filled unless all is replaced. */
static int writable_page(struct overlay *overlay, struct context *cx,
			 uint64_t number, bool replaced, unsigned char **data)
{
	struct pages *pages = &overlay->pages;
	size_t page;
	int err;

	if (pages_find(pages, number, &page) && pages_is_current(pages, page)) {
		*data = pages_data(pages, page);
		return 0;
	}
	err = pages_reserve(pages, cx, data);
	if (!err && !replaced)
		err = fill(overlay, cx, number, *data);
	if (!err)
		pages_add(pages, number);
	return err;
}

static int overlay_write(struct dev *dev, struct context *cx, uint64_t off,
			 const void *buf, size_t len)
{
	struct overlay *overlay = to_overlay(dev);
	const unsigned char *p = buf;
	int ret = 0;

	pthread_rwlock_wrlock(&overlay->lock);
	while (len && !ret) {
		uint64_t number = off / PAGES_BYTES;
		size_t at = off % PAGES_BYTES;
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
	uint64_t number = off / PAGES_BYTES;
	size_t page;

	while (number * PAGES_BYTES < off + len) {
		if (pages_find(&overlay->pages, number, &page))
			return number * PAGES_BYTES <= off
				       ? 0
				       : (size_t)(number * PAGES_BYTES - off);
		number++;
	}
	return len;
}

static size_t read_page(struct overlay *overlay, uint64_t off,
			unsigned char *buf, size_t len)
{
	size_t at = off % PAGES_BYTES, n = PAGES_BYTES - at, page;

	if (n > len)
		n = len;
	if (pages_find(&overlay->pages, off / PAGES_BYTES, &page))
		memcpy(buf, pages_data(&overlay->pages, page) + at, n);
	return n;
}

static int read_locked(struct overlay *overlay, struct context *cx,
		       uint64_t off, void *buf, size_t len)
{
	unsigned char *p = buf;

	while (len) {
		size_t n = overlay->pages.count ? clean_run(overlay, off, len) : len;
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
	clean = !overlay->pages.count;
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
	overlay->pages.epoch++;
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
	pages_fini(&to_overlay(dev)->pages);
}

/* Nothing that is there changes any more. */
size_t overlay_mark(struct dev *dev)
{
	struct pages *pages = &to_overlay(dev)->pages;

	pages->epoch++;
	return pages->count;
}

void overlay_rewind(struct dev *dev, size_t mark)
{
	pages_rewind(&to_overlay(dev)->pages, mark);
}

/* How many pages from FIRST on can be written in one request. */
static size_t joined_pages(const struct pages *pages, size_t first)
{
	size_t n = 1;

	while (pages_go_on(pages, first + n - 1) &&
	       pages->list[first + n].epoch == pages->list[first].epoch)
		n++;
	return n;
}

static int write_pages(struct overlay *overlay, struct context *cx,
		       size_t first, size_t n)
{
	uint64_t number = overlay->pages.list[first].number;

	return dev_write(overlay->under, cx, number * PAGES_BYTES,
			 pages_data(&overlay->pages, first),
			 (n - 1) * PAGES_BYTES +
				 page_size(overlay, number + n - 1));
}

int overlay_commit(struct dev *dev, struct context *cx)
{
	struct overlay *overlay = to_overlay(dev);
	const struct pages *pages = &overlay->pages;
	size_t i, n;
	int ret = 0;

	if (!pages->count)
		return 0;
	for (i = 0; i < pages->count; i += n) {
		if (i && pages->list[i].epoch != pages->list[i - 1].epoch)
			ret = dev_flush(overlay->under, cx);
		n = joined_pages(pages, i);
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
static bool is_due(const struct pages *pages, size_t page,
		   const uint64_t *late, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (late[i] / PAGES_BYTES == pages->list[page].number)
			return false;
	return pages_is_newest(pages, page);
}

/* How many pages from FIRST on are due and can be written in one request. */
static size_t due_pages(const struct pages *pages, size_t first,
			const uint64_t *late, unsigned int n)
{
	size_t count = 0;

	while (is_due(pages, first + count, late, n)) {
		count++;
		if (!pages_go_on(pages, first + count - 1))
			break;
	}
	return count;
}

static int write_late(struct overlay *overlay, struct context *cx,
		      uint64_t off)
{
	size_t page;
	int ret;

	if (!pages_find(&overlay->pages, off / PAGES_BYTES, &page))
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

	for (i = 0; i < overlay->pages.count && !ret; i += count ? count : 1) {
		count = due_pages(&overlay->pages, i, late, n);
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
	const struct overlay *overlay = to_overlay(dev);
	const struct pages *pages = &overlay->pages;
	uint64_t number;
	size_t count;

	while (*cursor < pages->count && !is_due(pages, *cursor, NULL, 0))
		++*cursor;
	if (*cursor == pages->count)
		return false;
	count = due_pages(pages, *cursor, NULL, 0);
	number = pages->list[*cursor].number;
	*off = number * PAGES_BYTES;
	*len = (count - 1) * PAGES_BYTES +
	       page_size(overlay, number + count - 1);
	*cursor += count;
	return true;
}

uint64_t overlay_bytes(const struct dev *dev)
{
	return ((const struct overlay *)dev)->pages.count *
	       (uint64_t)PAGES_BYTES;
}

static void overlay_close(struct dev *dev)
{
	struct overlay *overlay = to_overlay(dev);

	overlay_drop(dev);
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
	pages_init(&overlay->pages, under->name, cx->max_memory);
	pthread_rwlock_init(&overlay->lock, NULL);
	*devp = &overlay->dev;
	return 0;
}
