// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The overlay.
 *
 * Written bytes are kept in pages, in the order in which they were first
 * written since the last flush.  A page that is written again before the next
 * flush changes in place; after a flush it gets a new version at the end, and
 * the old one stays for the commit to write in its turn.
 *
 * Workers read, and write, at once: a lock lets many of them read, but none that
 * comes after one who waits to write.
 */
#include "config.h"

#include "dev/overlay.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "dev/pageout.h"
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

static size_t page_size(const struct overlay *overlay, uint64_t number)
{
	return pageout_size(overlay->under, number);
}

/* What a new version begins with: the old one, or the device underneath. */
static int fill(struct overlay *overlay, struct context *cx, uint64_t number,
		unsigned char *data)
{
	size_t older;

	if (pages_find(&overlay->pages, number, &older))
		return pages_read(&overlay->pages, cx, older, 0, data,
				  PAGES_BYTES);
	return dev_read(overlay->under, cx, number * PAGES_BYTES, data,
			page_size(overlay, number));
}

/* LEN bytes AT of page NUMBER: in its place, or as a new version. */
static int write_page(struct overlay *overlay, struct context *cx,
		      uint64_t number, size_t at, const unsigned char *buf,
		      size_t len)
{
	struct pages *pages = &overlay->pages;
	unsigned char data[PAGES_BYTES] = { 0 };
	size_t page;
	int err = 0;

	if (pages_find(pages, number, &page) && pages_is_current(pages, page))
		return pages_write(pages, cx, page, at, buf, len);
	if (len == PAGES_BYTES)
		return pages_add(pages, cx, number, buf);
	if (len < page_size(overlay, number))
		err = fill(overlay, cx, number, data);
	if (err)
		return err;
	memcpy(data + at, buf, len);
	return pages_add(pages, cx, number, data);
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

		if (n > len)
			n = len;
		ret = write_page(overlay, cx, number, at, p, n);
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

/* Up to *LEN bytes of the page at OFF, which is kept here: in *LEN how many. */
static int read_page(struct overlay *overlay, struct context *cx, uint64_t off,
		     unsigned char *buf, size_t *len)
{
	size_t at = off % PAGES_BYTES, page;

	if (*len > PAGES_BYTES - at)
		*len = PAGES_BYTES - at;
	if (!pages_find(&overlay->pages, off / PAGES_BYTES, &page))
		return 0;
	return pages_read(&overlay->pages, cx, page, at, buf, *len);
}

static int read_locked(struct overlay *overlay, struct context *cx,
		       uint64_t off, void *buf, size_t len)
{
	unsigned char *p = buf;
	size_t n;
	int ret = 0;

	for (; len && !ret; p += n, off += n, len -= n) {
		n = overlay->pages.count ? clean_run(overlay, off, len) : len;
		if (n) {
			ret = dev_read(overlay->under, cx, off, p, n);
			continue;
		}
		n = len;
		ret = read_page(overlay, cx, off, p, &n);
	}
	return ret;
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

int overlay_commit(struct dev *dev, struct context *cx)
{
	struct overlay *overlay = to_overlay(dev);
	int ret = 0;

	if (overlay->pages.count)
		ret = pageout_all(&overlay->pages, cx, overlay->under);
	if (!ret)
		overlay_drop(dev);
	return ret;
}

int overlay_commit_last(struct dev *dev, struct context *cx,
			const uint64_t *late, unsigned int n)
{
	struct overlay *overlay = to_overlay(dev);
	const struct pageout_late last = { late, n };
	int ret = pageout_last(&overlay->pages, cx, overlay->under, &last);

	if (!ret)
		overlay_drop(dev);
	return ret;
}

bool overlay_next_range(struct dev *dev, size_t *cursor, uint64_t *off,
			size_t *len)
{
	const struct overlay *overlay = to_overlay(dev);

	return pageout_next_range(&overlay->pages, overlay->under, cursor,
				  off, len);
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

/* By default readers that take turns keep writers out for ever. */
static void init_lock(pthread_rwlock_t *lock)
{
	pthread_rwlockattr_t attr;

	pthread_rwlockattr_init(&attr);
#ifdef PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP
	pthread_rwlockattr_setkind_np(
		&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
#endif
	pthread_rwlock_init(lock, &attr);
	pthread_rwlockattr_destroy(&attr);
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
	init_lock(&overlay->lock);
	*devp = &overlay->dev;
	return 0;
}
