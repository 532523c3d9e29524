// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The overlay.
 *
 * Written bytes are kept in pages, in the order in which they were first
 * written since the last mark.  A page that is written again before the next
 * mark changes in place; after a mark it gets a new version at the end, and
 * the old one stays for a rewind.
 *
 * Zones underneath have their rules here already: what the commit could not
 * write is refused at once, a zone that is reset reads as zeroes.
 *
 * Workers read, and write, at once: a lock lets many of them read, but none
 * that comes after one who waits to write.
 */
#include "config.h"

#include "dev/overlay.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "dev/pageout.h"
#include "dev/pages.h"
#include "dev/zonechanges.h"

_Static_assert(PAGES_BYTES == OVERLAY_PAGE_BYTES, "what callers know");

struct overlay {
	struct dev dev;
	pthread_rwlock_t lock;	/* of pages and zones */
	struct pages pages;
	struct zonechanges zones;
};

static struct overlay *to_overlay(struct dev *dev)
{
	return (struct overlay *)dev;
}

static size_t page_size(const struct overlay *overlay, uint64_t number)
{
	return pageout_size(&overlay->dev, overlay->pages.bytes, number);
}

/* Reads what the device underneath has; after its end are zeroes. */
static int read_there(struct overlay *overlay, struct context *cx,
		      uint64_t off, void *buf, size_t len)
{
	uint64_t size = overlay->dev.under->size;
	uint64_t there = off < size ? size - off : 0;

	if (there >= len)
		return dev_read(overlay->dev.under, cx, off, buf, len);
	memset((char *)buf + there, 0, len - there);
	return there ? dev_read(overlay->dev.under, cx, off, buf, there) : 0;
}

/* The page NUMBER as it was written last, unless that was emptied since. */
static bool find_page(const struct overlay *overlay, uint64_t number,
		      size_t *page)
{
	return pages_find(&overlay->pages, number, page) &&
	       !zonechanges_is_void(&overlay->zones, *page);
}

/* What a new version begins with: the old one, or the device underneath. */
static int fill_page(struct overlay *overlay, struct context *cx,
		     uint64_t number, unsigned char *data)
{
	size_t older;

	if (find_page(overlay, number, &older))
		return pages_read(&overlay->pages, cx, older, 0, data,
				  overlay->pages.bytes);
	return read_there(overlay, cx, number * overlay->pages.bytes, data,
			  page_size(overlay, number));
}

/* LEN bytes AT of page NUMBER: in its place, or as a new version. */
static int write_page(struct overlay *overlay, struct context *cx,
		      uint64_t number, size_t at, const unsigned char *buf,
		      size_t len)
{
	struct pages *pages = &overlay->pages;
	unsigned char data[PAGES_BYTES_MAX] = { 0 };
	size_t page;
	int err = 0;

	if (find_page(overlay, number, &page) && pages_is_current(pages, page))
		return pages_write(pages, cx, page, at, buf, len);
	if (len == pages->bytes)
		return pages_add(pages, cx, number, buf);
	if (len < page_size(overlay, number))
		err = fill_page(overlay, cx, number, data);
	if (err)
		return err;
	memcpy(data + at, buf, len);
	return pages_add(pages, cx, number, data);
}

static int write_locked(struct overlay *overlay, struct context *cx,
			uint64_t off, const unsigned char *p, size_t len)
{
	int ret = 0;

	while (len && !ret) {
		uint64_t number = off / overlay->pages.bytes;
		size_t at = off % overlay->pages.bytes;
		size_t n = page_size(overlay, number) - at;

		if (n > len)
			n = len;
		ret = write_page(overlay, cx, number, at, p, n);
		p += n;
		off += n;
		len -= n;
	}
	return ret;
}

static int overlay_write(struct dev *dev, struct context *cx, uint64_t off,
			 const void *buf, size_t len)
{
	struct overlay *overlay = to_overlay(dev);
	int ret;

	pthread_rwlock_wrlock(&overlay->lock);
	ret = zonechanges_check(&overlay->zones, cx, off, len);
	if (!ret)
		ret = write_locked(overlay, cx, off, buf, len);
	if (!ret)
		ret = zonechanges_wrote(&overlay->zones, cx, off, len);
	pthread_rwlock_unlock(&overlay->lock);
	return ret;
}

/* How many of LEN bytes at OFF come before the first page kept here. */
static size_t clean_run(struct overlay *overlay, uint64_t off, size_t len)
{
	const size_t bytes = overlay->pages.bytes;
	uint64_t number = off / bytes;
	size_t page;

	while (number * bytes < off + len) {
		if (find_page(overlay, number, &page))
			return number * bytes <= off ?
				       0 : (size_t)(number * bytes - off);
		number++;
	}
	return len;
}

/*
 * Up to *LEN bytes of the page at OFF, which is kept here, and of those that
 * follow it here as on the device: in *LEN how many.
 */
static int read_pages(struct overlay *overlay, struct context *cx,
		      uint64_t off, unsigned char *buf, size_t *len)
{
	const struct pages *pages = &overlay->pages;
	uint64_t number = off / pages->bytes;
	size_t at = off % pages->bytes, page, last, next;
	size_t room = pages->bytes - at;

	if (!find_page(overlay, number, &page))
		return *len = 0;
	for (last = page; room < *len && pages_go_on(pages, last) &&
			  find_page(overlay, ++number, &next) &&
			  next == last + 1;
	     last = next)
		room += pages->bytes;
	*len = room < *len ? room : *len;
	return pages_read(pages, cx, page, at, buf, *len);
}

static bool is_reset(const struct overlay *overlay, uint64_t n)
{
	const struct zonechange *change = zonechanges_of(&overlay->zones, n);

	return change && change->reset;
}

/* Without a page: zones that are reset read as zeros. */
static int read_under(struct overlay *overlay, struct context *cx,
		      uint64_t off, unsigned char *p, size_t len)
{
	const struct zones *zones = overlay->dev.under->zones;
	int ret = 0;

	if (!overlay->zones.resets)
		return read_there(overlay, cx, off, p, len);
	while (len && !ret) {
		uint64_t left = zones->size - off % zones->size;
		size_t n = left < len ? (size_t)left : len;

		if (is_reset(overlay, zone_of(zones, off)))
			memset(p, 0, n);
		else
			ret = dev_read(overlay->dev.under, cx, off, p, n);
		p += n;
		off += n;
		len -= n;
	}
	return ret;
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
			ret = read_under(overlay, cx, off, p, n);
			continue;
		}
		n = len;
		ret = read_pages(overlay, cx, off, p, &n);
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

/* Whether a page of the range was ever written. */
static bool has_page(const struct overlay *overlay, uint64_t off, uint64_t len)
{
	const struct pages *pages = &overlay->pages;
	uint64_t first = off / pages->bytes;
	uint64_t last = (off + len - 1) / pages->bytes;
	size_t i, page;

	if (pages->count < last - first) {
		for (i = 0; i < pages->count; i++)
			if (pages->list[i].number - first <= last - first)
				return true;
		return false;
	}
	while (first <= last && !pages_find(pages, first, &page))
		first++;
	return first <= last;
}

static bool overlay_is_hole(struct dev *dev, uint64_t off, uint64_t len)
{
	struct overlay *overlay = to_overlay(dev);
	bool empty;

	pthread_rwlock_rdlock(&overlay->lock);
	empty = !overlay->zones.resets && dev_is_hole(dev->under, off, len) &&
		!has_page(overlay, off, len);
	pthread_rwlock_unlock(&overlay->lock);
	return empty;
}

static bool overlay_hides(struct dev *dev, uint64_t off, uint64_t len)
{
	struct overlay *overlay = to_overlay(dev);
	bool hides;

	pthread_rwlock_rdlock(&overlay->lock);
	hides = overlay->zones.resets || has_page(overlay, off, len);
	pthread_rwlock_unlock(&overlay->lock);
	return hides;
}

/*
 * How many of N buffers from OFF on are read from the device underneath as they
 * are: they hold no page, no zone that was reset, and nothing after its end.
 */
static int clean_buffers(struct overlay *overlay, uint64_t off,
			 const struct iovec *iov, int n)
{
	uint64_t size = overlay->dev.under->size;
	size_t len = 0;
	int i;

	if (overlay->zones.resets || off >= size)
		return 0;
	for (i = 0; i < n; i++)
		len += iov[i].iov_len;
	if (len > size - off)
		len = (size_t)(size - off);
	if (overlay->pages.count)
		len = clean_run(overlay, off, len);
	for (i = 0; i < n && iov[i].iov_len <= len; i++)
		len -= iov[i].iov_len;
	return i;
}

static int overlay_readv(struct dev *dev, struct context *cx, uint64_t off,
			 struct iovec *iov, int n)
{
	struct overlay *overlay = to_overlay(dev);
	uint64_t end;
	int i, ret = 0;

	pthread_rwlock_rdlock(&overlay->lock);
	while (n && !ret) {
		int clean = clean_buffers(overlay, off, iov, n);

		end = off;
		for (i = 0; i < (clean ? clean : 1); i++)
			end += iov[i].iov_len;
		if (clean)
			ret = dev_readv(overlay->dev.under, cx, off, iov, clean);
		else
			ret = read_locked(overlay, cx, off, iov->iov_base,
					  iov->iov_len);
		off = end;
		iov += i;
		n -= i;
	}
	pthread_rwlock_unlock(&overlay->lock);
	return ret;
}

static int overlay_flush(struct dev *dev, struct context *cx)
{
	(void)dev;
	(void)cx;
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

static int overlay_resize(struct dev *dev, struct context *cx, uint64_t size)
{
	const struct dev *under = dev->under;

	(void)cx;
	(void)size;
	return under->is_block_device || !under->ops->resize ? -EOPNOTSUPP :
							       0;
}

static int overlay_zone_report(struct dev *dev, struct context *cx,
			       uint64_t first, struct zone *zones, size_t n)
{
	struct overlay *overlay = to_overlay(dev);
	const struct zonechange *change;
	size_t i;
	int ret = dev_zone_report(overlay->dev.under, cx, first, zones, n);

	pthread_rwlock_rdlock(&overlay->lock);
	for (i = 0; i < n && !ret; i++) {
		change = zonechanges_of(&overlay->zones, first + i);
		if (change)
			zones[i].pointer = change->pointer;
	}
	pthread_rwlock_unlock(&overlay->lock);
	return ret;
}

enum zone_change { RESET, RESET_LAST, FINISH };

static int change_zones(struct dev *dev, struct context *cx, uint64_t off,
			uint64_t len, enum zone_change what)
{
	struct overlay *overlay = to_overlay(dev);
	struct zonechanges *z = &overlay->zones;
	uint64_t n, end = zone_of(dev->zones, off + len - 1) + 1;
	int ret = 0;

	pthread_rwlock_wrlock(&overlay->lock);
	for (n = zone_of(dev->zones, off); n < end && !ret; n++)
		ret = what == FINISH ?
			      zonechanges_finish(z, cx, n) :
			      zonechanges_reset(z, cx, n, what == RESET);
	pthread_rwlock_unlock(&overlay->lock);
	return ret;
}

static int overlay_zone_reset(struct dev *dev, struct context *cx,
			      uint64_t off, uint64_t len)
{
	return change_zones(dev, cx, off, len, RESET);
}

static int overlay_zone_finish(struct dev *dev, struct context *cx,
			       uint64_t off, uint64_t len)
{
	return change_zones(dev, cx, off, len, FINISH);
}

int overlay_reset_last(struct dev *dev, struct context *cx, uint64_t zone)
{
	return change_zones(dev, cx, zone * dev->zones->size, 1, RESET_LAST);
}

void overlay_drop(struct dev *dev)
{
	struct overlay *overlay = to_overlay(dev);

	pages_fini(&overlay->pages);
	zonechanges_fini(&overlay->zones);
}

/* Existing pages do not change any more. */
size_t overlay_mark(struct dev *dev)
{
	struct overlay *overlay = to_overlay(dev);

	overlay->pages.marked = overlay->pages.count;
	overlay->zones.marked = overlay->zones.count;
	return overlay->pages.count + overlay->zones.count;
}

/* A change of zones is forgotten once all pages after it are. */
void overlay_rewind(struct dev *dev, size_t mark)
{
	struct overlay *overlay = to_overlay(dev);
	struct zonechanges *z = &overlay->zones;
	struct pages *pages = &overlay->pages;
	size_t keep;

	while (pages->count + z->count > mark) {
		keep = z->count ? z->list[z->count - 1].pages : 0;
		if (z->count && keep == pages->count) {
			zonechanges_pop(z);
			continue;
		}
		if (keep + z->count < mark)
			keep = mark - z->count;
		pages_rewind(pages, keep);
	}
}

static int check_commit(const struct overlay *overlay, struct context *cx)
{
	const struct dev *under = overlay->dev.under;

	if (overlay->dev.size != under->size)
		return fail(cx, -EOPNOTSUPP, "%s: has another size underneath",
			    under->name);
	if (overlay->pages.bytes != PAGES_BYTES)
		return fail(cx, -EOPNOTSUPP, "%s: changes of a trial",
			    under->name);
	return 0;
}

int overlay_commit_last(struct dev *dev, struct context *cx,
			const uint64_t *late, unsigned int n)
{
	struct overlay *overlay = to_overlay(dev);
	const struct pageout_late last = { late, n };
	int ret = check_commit(overlay, cx);

	if (!ret)
		ret = zonechanges_commit_first(&overlay->zones, cx);
	if (!ret)
		ret = pageout_last(&overlay->zones, cx, &last);
	if (!ret)
		ret = zonechanges_commit_last(&overlay->zones, cx);
	if (!ret)
		overlay_drop(dev);
	return ret;
}

bool overlay_next_range(struct dev *dev, size_t *cursor, uint64_t *off,
			size_t *len)
{
	return pageout_next_range(&to_overlay(dev)->zones, cursor, off, len);
}

bool overlay_is_changed(const struct dev *dev)
{
	const struct overlay *overlay = (const struct overlay *)dev;

	return overlay->pages.count || overlay->zones.count;
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
	.is_hole = overlay_is_hole,
	.hides = overlay_hides,
	.write = overlay_write,
	.flush = overlay_flush,
	.discard = overlay_discard,
	.resize = overlay_resize,
	.zone_report = overlay_zone_report,
	.zone_reset = overlay_zone_reset,
	.zone_finish = overlay_zone_finish,
	.close = overlay_close,
};

/* By default continuous readers would starve writers. */
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

static int open_with_pages(struct dev **devp, struct context *cx,
			   struct dev *under, size_t bytes, unsigned int share)
{
	struct overlay *overlay = calloc(1, sizeof(*overlay));

	if (!overlay)
		return fail(cx, -ENOMEM, "%s: overlay", under->name);
	dev_init_over(&overlay->dev, &overlay_ops, under);
	overlay->dev.writable = true;
	pages_init(&overlay->pages, under->name, bytes,
		   cx->max_memory / share);
	zonechanges_init(&overlay->zones, under, &overlay->pages);
	init_lock(&overlay->lock);
	*devp = &overlay->dev;
	return 0;
}

int overlay_open(struct dev **devp, struct context *cx, struct dev *under)
{
	return open_with_pages(devp, cx, under, PAGES_BYTES, OVERLAY_SHARE);
}

int overlay_open_trial(struct dev **devp, struct context *cx,
		       struct dev *under)
{
	return open_with_pages(devp, cx, under,
			       under->zones ? PAGES_BYTES : PAGES_BYTES_MAX,
			       OVERLAY_TRIAL_SHARE);
}
