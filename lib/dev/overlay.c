// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The overlay.
 *
 * Written bytes are kept in pages, in the order in which they were first written
 * since the last mark.  A page that is written again before the next mark changes in
 * place; after a mark it gets a new version at the end, and the old one is kept for
 * a rewind.
 *
 * The rules of zones are checked at once: a write that the commit could not perform
 * fails, and a zone that was reset reads as zeros.  Many threads may read at once; a
 * waiting writer blocks later readers.
 *
 * A commit writes only the last state: the newest versions in one walk, and a few
 * pages that make the others effective at the end.  Adjacent pages are one request.
 * In a sequential zone only one version of each page is written, from the write
 * pointer on, in whole sectors.
 */
#include "config.h"

#include "dev/overlay.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "dev/pages.h"
#include "dev/zonechanges.h"

#define ZONE_PAGES 1024u	/* maximum of a request in a zone */

_Static_assert(PAGES_BYTES == OVERLAY_PAGE_BYTES, "as in the header");

struct overlay {
	struct dev dev;
	pthread_rwlock_t lock;	/* of pages and zones */
	struct pages pages;
	struct zonechanges zones;
};

static const struct dev_ops overlay_ops;

/* Bytes of N pages from NUMBER on; the last one of the device may be short. */
static size_t row_size(const struct overlay *overlay, uint64_t number, size_t n)
{
	size_t bytes = overlay->pages.bytes;
	uint64_t left = overlay->dev.size - number * bytes;

	return left < n * bytes ? (size_t)left : n * bytes;
}

/* Finds the newest version of page NUMBER, unless its zone was reset since. */
static bool find_page(const struct overlay *overlay, uint64_t number,
		      size_t *page)
{
	return pages_find(&overlay->pages, number, page) &&
	       !zonechanges_is_void(&overlay->zones, *page);
}

/* Reads the device underneath; bytes after its end and in reset zones are zeros. */
static int read_under(struct overlay *overlay, struct context *cx,
		      uint64_t off, unsigned char *p, size_t len)
{
	const struct zones *zones = overlay->dev.under->zones;
	const struct zonechange *change = NULL;
	uint64_t size = overlay->dev.under->size;
	size_t n;
	int ret = 0;

	for (; len && !ret; p += n, off += n, len -= n) {
		n = len;
		if (off < size && n > size - off)
			n = (size_t)(size - off);
		if (overlay->zones.resets) {
			uint64_t left = zones->size - off % zones->size;

			change = zonechanges_of(&overlay->zones,
						zone_of(zones, off));
			n = left < n ? (size_t)left : n;
		}
		if (off >= size || (change && change->reset))
			memset(p, 0, n);
		else
			ret = dev_read(overlay->dev.under, cx, off, p, n);
	}
	return ret;
}

static int overlay_write(struct dev *dev, struct context *cx, uint64_t off,
			 const void *buf, size_t len)
{
	struct overlay *overlay = (struct overlay *)dev;
	unsigned char data[PAGES_BYTES_MAX];
	struct pages *pages = &overlay->pages;
	const size_t bytes = pages->bytes;
	const unsigned char *p = buf;
	uint64_t pos = off, end = off + len, number;
	size_t n, at, size, page;
	bool found;
	int ret;

	pthread_rwlock_wrlock(&overlay->lock);
	ret = zonechanges_check(&overlay->zones, cx, off, len);
	for (; pos < end && !ret; p += n, pos += n) {
		number = pos / bytes;
		at = pos % bytes;
		size = row_size(overlay, number, 1);
		n = size - at < end - pos ? size - at : (size_t)(end - pos);
		/* In its place, or as a new version. */
		found = find_page(overlay, number, &page);
		if (found && page >= pages->marked) {
			ret = pages_write(pages, cx, page, at, p, n);
			continue;
		}
		if (n == bytes) {
			ret = pages_add(pages, cx, number, p);
			continue;
		}
		memset(data, 0, bytes);
		if (n < size && found)
			ret = pages_read(pages, cx, page, 0, data, bytes);
		else if (n < size)
			ret = read_under(overlay, cx, number * bytes, data, size);
		memcpy(data + at, p, n);
		if (!ret)
			ret = pages_add(pages, cx, number, data);
	}
	if (!ret)
		ret = zonechanges_wrote(&overlay->zones, cx, off, len);
	pthread_rwlock_unlock(&overlay->lock);
	return ret;
}

/* The number of the LEN bytes at OFF that precede the first buffered page. */
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

/* Reads a buffer that includes a buffered page, a reset zone, or bytes after the end of
   the device underneath. */
static int read_mixed(struct overlay *overlay, struct context *cx,
		      uint64_t off, unsigned char *p, size_t len)
{
	const struct pages *pages = &overlay->pages;
	size_t n, page, last, next;
	int ret = 0;

	for (; len && !ret; p += n, off += n, len -= n) {
		uint64_t number = off / pages->bytes;
		size_t at = off % pages->bytes;

		n = pages->count ? clean_run(overlay, off, len) : len;
		if (n) {
			ret = read_under(overlay, cx, off, p, n);
			continue;
		}
		/* The page at OFF, and pages that follow it here and on the device. */
		find_page(overlay, number, &page);
		n = pages->bytes - at;
		for (last = page; n < len && pages_go_on(pages, last) &&
				  find_page(overlay, ++number, &next) &&
				  next == last + 1;
		     last = next)
			n += pages->bytes;
		n = n < len ? n : len;
		ret = pages_read(pages, cx, page, at, p, n);
	}
	return ret;
}

static int overlay_readv(struct dev *dev, struct context *cx, uint64_t off,
			 struct iovec *iov, int n)
{
	struct overlay *overlay = (struct overlay *)dev;
	uint64_t size = dev->under->size, end;
	size_t len;
	int i, clean, ret = 0;

	pthread_rwlock_rdlock(&overlay->lock);
	while (n && !ret) {
		/* Buffers that are read directly from the device underneath. */
		clean = 0;
		if (!overlay->zones.resets && off < size) {
			for (i = 0, len = 0; i < n; i++)
				len += iov[i].iov_len;
			if (len > size - off)
				len = (size_t)(size - off);
			if (overlay->pages.count)
				len = clean_run(overlay, off, len);
			for (; clean < n && iov[clean].iov_len <= len; clean++)
				len -= iov[clean].iov_len;
		}
		end = off;
		for (i = 0; i < (clean ? clean : 1); i++)
			end += iov[i].iov_len;
		if (clean)
			ret = dev_readv(dev->under, cx, off, iov, clean);
		else
			ret = read_mixed(overlay, cx, off, iov->iov_base,
					 iov->iov_len);
		off = end;
		iov += i;
		n -= i;
	}
	pthread_rwlock_unlock(&overlay->lock);
	return ret;
}

bool overlay_hides(struct dev *dev, uint64_t off, uint64_t len)
{
	struct overlay *overlay = (struct overlay *)dev;
	const struct pages *pages = &overlay->pages;
	uint64_t first, last;
	size_t i, page;
	bool hides;

	if (dev->ops != &overlay_ops)
		return false;
	pthread_rwlock_rdlock(&overlay->lock);
	first = off / pages->bytes;
	last = (off + len - 1) / pages->bytes;
	hides = overlay->zones.resets;
	/* Search the pages of the range or, if they are fewer, all buffered ones. */
	if (pages->count < last - first)
		for (i = 0; i < pages->count && !hides; i++)
			hides = pages->list[i].number - first <= last - first;
	else
		for (; first <= last && !hides; first++)
			hides = pages_find(pages, first, &page);
	pthread_rwlock_unlock(&overlay->lock);
	return hides;
}

static bool overlay_is_hole(struct dev *dev, uint64_t off, uint64_t len)
{
	return dev_is_hole(dev->under, off, len) && !overlay_hides(dev, off, len);
}

static int overlay_resize(struct dev *dev, struct context *cx, uint64_t size)
{
	const struct dev *under = dev->under;

	(void)cx;
	(void)size;
	while (under->ops->passes)
		under = under->under;
	return under->ops->resize ? 0 : -EOPNOTSUPP;
}

static int overlay_zone_report(struct dev *dev, struct context *cx,
			       uint64_t first, struct zone *zones, size_t n)
{
	struct overlay *overlay = (struct overlay *)dev;
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

static int overlay_zone_change(struct dev *dev, struct context *cx,
			       uint64_t off, uint64_t len, bool finish)
{
	struct overlay *overlay = (struct overlay *)dev;
	uint64_t n = zone_of(dev->zones, off);
	uint64_t end = zone_of(dev->zones, off + len - 1) + 1;
	int ret = 0;

	pthread_rwlock_wrlock(&overlay->lock);
	for (; n < end && !ret; n++)
		ret = zonechanges_add(&overlay->zones, cx, n, finish ?
				      ZONECHANGE_FINISH : ZONECHANGE_RESET);
	pthread_rwlock_unlock(&overlay->lock);
	return ret;
}

int overlay_reset_last(struct dev *dev, struct context *cx, uint64_t zone)
{
	struct overlay *overlay = (struct overlay *)dev;
	int ret;

	pthread_rwlock_wrlock(&overlay->lock);
	ret = zonechanges_add(&overlay->zones, cx, zone, ZONECHANGE_RESET_LAST);
	pthread_rwlock_unlock(&overlay->lock);
	return ret;
}

void overlay_drop(struct dev *dev)
{
	struct overlay *overlay = (struct overlay *)dev;
	struct zonechanges *z = &overlay->zones;

	pages_fini(&overlay->pages);
	free(z->list);
	free(z->latest);
	*z = (struct zonechanges){ .under = z->under, .pages = z->pages };
}

/* Existing pages do not change after this. */
size_t overlay_mark(struct dev *dev)
{
	struct overlay *overlay = (struct overlay *)dev;

	overlay->pages.marked = overlay->pages.count;
	overlay->zones.marked = overlay->zones.count;
	return overlay->pages.count + overlay->zones.count;
}

/* A change of zones is dropped if all pages after it are. */
void overlay_rewind(struct dev *dev, size_t mark)
{
	struct overlay *overlay = (struct overlay *)dev;
	struct zonechanges *z = &overlay->zones;
	const struct zonechange *last, *old;
	struct pages *pages = &overlay->pages;
	size_t keep;

	while (pages->count + z->count > mark) {
		keep = z->count ? z->list[z->count - 1].pages : 0;
		if (z->count && keep == pages->count) {
			last = &z->list[--z->count];
			z->latest[last->zone] = last->before;
			old = zonechanges_of(z, last->zone);
			z->resets -= last->reset && !(old && old->reset);
			if (z->marked > z->count)
				z->marked = z->count;
			continue;
		}
		if (keep + z->count < mark)
			keep = mark - z->count;
		pages_rewind(pages, keep);
	}
}

/*
 * The number of pages from FIRST on that are newest versions, have none of the N bytes
 * LATE, and are written in one request.
 */
static size_t due_pages(const struct overlay *overlay, size_t first,
			const uint64_t *late, unsigned int n)
{
	const struct zones *zones = overlay->dev.zones;
	const struct pages *p = &overlay->pages;
	size_t page = first, newest;
	unsigned int i;

	for (;; page++) {
		uint64_t number = p->list[page].number, next = number + 1;

		for (i = 0; i < n; i++)
			if (late[i] / p->bytes == number)
				return page - first;
		pages_find(p, number, &newest);
		if (newest != page ||
		    zonechanges_is_void(&overlay->zones, page))
			return page - first;
		if (page + 1 == p->count || p->list[page + 1].number != next ||
		    (zones && next * p->bytes % zones->size == 0))
			break;
		if (zones && zones->kinds[zone_of(zones, number * p->bytes)] ==
				     ZONE_SEQUENTIAL ?
			    page - first + 1 >= ZONE_PAGES :
			    !pages_go_on(p, page))
			break;
	}
	return page - first + 1;
}

/* Writes N pages from FIRST on to the device; ROW is a buffer for pages that are not
   contiguous in memory. */
static int write_row(const struct overlay *overlay, struct context *cx,
		     unsigned char *row, size_t first, size_t n)
{
	const struct pages *pages = &overlay->pages;
	const unsigned char *data = pages_data(pages, first);
	uint64_t number = pages->list[first].number;
	size_t bytes = pages->bytes, i;
	int ret = 0;

	if (!data)
		ret = pages_read(pages, cx, first, 0, row, n * bytes);
	else if (first / PAGES_CHUNK != (first + n - 1) / PAGES_CHUNK)
		for (i = 0; i < n && !ret; i++)
			ret = pages_read(pages, cx, first + i, 0,
					 row + i * bytes, bytes);
	else
		row = NULL;
	return ret ? ret : dev_write(overlay->dev.under, cx,
				     number * bytes, row ? row : data,
				     row_size(overlay, number, n));
}

int overlay_commit_last(struct dev *dev, struct context *cx,
			const uint64_t *late, unsigned int n)
{
	struct overlay *overlay = (struct overlay *)dev;
	struct pages *pages = &overlay->pages;
	struct dev *under = dev->under;
	unsigned char *row;
	size_t page, count;
	unsigned int i;
	int ret;

	if (dev->size != under->size)
		return fail(cx, -EOPNOTSUPP, "%s: has another size underneath",
			    under->name);
	if (pages->bytes != PAGES_BYTES)
		return fail(cx, -EOPNOTSUPP, "%s: changes of a trial",
			    under->name);
	ret = zonechanges_commit(&overlay->zones, cx, false);
	if (ret)
		return ret;
	row = malloc(pages->bytes * (dev->zones ? ZONE_PAGES : PAGES_CHUNK));
	if (!row)
		return fail(cx, -ENOMEM, "%s: commit", under->name);
	for (page = 0; page < pages->count && !ret; page += count ? count : 1) {
		count = due_pages(overlay, page, late, n);
		if (count)
			ret = write_row(overlay, cx, row, page, count);
	}
	if (!ret)
		ret = dev_flush(under, cx);
	for (i = 0; i < n && !ret; i++) {
		if (!pages_find(pages, late[i] / pages->bytes, &page))
			continue;
		ret = write_row(overlay, cx, row, page, 1);
		if (!ret)
			ret = dev_flush(under, cx);
	}
	free(row);
	if (!ret)
		ret = zonechanges_commit(&overlay->zones, cx, true);
	if (!ret)
		overlay_drop(dev);
	return ret;
}

bool overlay_next_range(struct dev *dev, size_t *cursor, uint64_t *off,
			size_t *len)
{
	const struct overlay *overlay = (const struct overlay *)dev;
	const struct pages *pages = &overlay->pages;
	uint64_t number;
	size_t count = 0;

	while (*cursor < pages->count &&
	       !(count = due_pages(overlay, *cursor, NULL, 0)))
		++*cursor;
	if (!count)
		return false;
	number = pages->list[*cursor].number;
	*off = number * pages->bytes;
	*len = row_size(overlay, number, count);
	*cursor += count;
	return true;
}

int overlay_digest(struct dev *dev, struct context *cx, uint64_t *digest)
{
	struct overlay *overlay = (struct overlay *)dev;
	const struct pages *pages = &overlay->pages;
	const struct zonechanges *z = &overlay->zones;
	uint64_t words[PAGES_BYTES_MAX / sizeof(uint64_t)];
	size_t i, newest;
	int err = 0;

	*digest = 0;
	pthread_rwlock_rdlock(&overlay->lock);
	for (i = 0; i < pages->count && !err; i++) {
		uint64_t number = pages->list[i].number;

		if (!find_page(overlay, number, &newest) || newest != i)
			continue;
		err = pages_read(pages, cx, i, 0, words, pages->bytes);
		if (!err)
			*digest += text_hash_words(number, words,
						   pages->bytes /
							   sizeof(*words));
	}
	for (i = 0; i < z->count; i++) {
		const struct zonechange *c = &z->list[i];
		const uint64_t state[] = {
			c->pointer, c->reset, c->early, c->finished,
		};

		if (zonechanges_of(z, c->zone) == c)
			*digest += text_hash_words(~c->zone, state, 4);
	}
	pthread_rwlock_unlock(&overlay->lock);
	return err;
}

bool overlay_is_changed(const struct dev *dev)
{
	const struct overlay *overlay = (const struct overlay *)dev;

	return overlay->pages.count || overlay->zones.count;
}

static void overlay_close(struct dev *dev)
{
	struct overlay *overlay = (struct overlay *)dev;

	overlay_drop(dev);
	pthread_rwlock_destroy(&overlay->lock);
	free(overlay);
}

static const struct dev_ops overlay_ops = {
	.stops = true,
	.readv = overlay_readv,
	.is_hole = overlay_is_hole,
	.write = overlay_write,
	.resize = overlay_resize,
	.zone_report = overlay_zone_report,
	.zone_change = overlay_zone_change,
	.close = overlay_close,
};

int overlay_open(struct dev **devp, struct context *cx, struct dev *under,
		 bool trial)
{
	struct overlay *overlay = calloc(1, sizeof(*overlay));
	pthread_rwlockattr_t attr;

	if (!overlay)
		return fail(cx, -ENOMEM, "%s: overlay", under->name);
	dev_init_over(&overlay->dev, &overlay_ops, under);
	overlay->dev.writable = true;
	pages_init(&overlay->pages, under->name,
		   trial && !under->zones ? PAGES_BYTES_MAX : PAGES_BYTES,
		   cx->max_memory / (trial ? OVERLAY_TRIAL_SHARE : OVERLAY_SHARE));
	overlay->zones.under = under;
	overlay->zones.pages = &overlay->pages;
	pthread_rwlockattr_init(&attr);
#ifdef PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP
	/* By default a continuous stream of readers would block writers. */
	pthread_rwlockattr_setkind_np(
		&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
#endif
	pthread_rwlock_init(&overlay->lock, &attr);
	pthread_rwlockattr_destroy(&attr);
	*devp = &overlay->dev;
	return 0;
}
