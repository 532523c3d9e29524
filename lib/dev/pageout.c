// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writing pages out.
 *
 * Only the last state is written: the newest versions in one walk, and a few
 * pages, which make the others take effect, at the end.
 *
 * Adjacent pages are one request.  In a sequential zone only one version of
 * each page is written, from the write pointer on, in whole sectors.
 */
#include "dev/pageout.h"

#include <errno.h>
#include <stdlib.h>

#define ZONE_PAGES 1024u	/* most of a row in a zone */

struct pageout {
	const struct zonechanges *zones;
	const struct pages *pages;
	struct dev *to;
	unsigned char *row;	/* for one that is not in memory in a row */
};

static struct pageout pageout_of(const struct zonechanges *z)
{
	return (struct pageout){ z, z->pages, z->under, NULL };
}

size_t pageout_size(const struct dev *to, size_t bytes, uint64_t number)
{
	uint64_t left = to->size - number * bytes;

	return left < bytes ? (size_t)left : bytes;
}

static int begin(struct pageout *o, struct context *cx)
{
	o->row = malloc(o->pages->bytes *
			(o->to->zones ? ZONE_PAGES : PAGES_CHUNK));
	return o->row ? 0 : fail(cx, -ENOMEM, "%s: commit", o->to->name);
}

static bool is_sequential(const struct pageout *o, size_t page)
{
	const struct zones *zones = o->to->zones;
	uint64_t off = o->pages->list[page].number * o->pages->bytes;

	return zones && zones->kinds[zone_of(zones, off)] == ZONE_SEQUENTIAL;
}

/* Whether the page after PAGE, the last of a row of COUNT, continues it. */
static bool goes_on(const struct pageout *o, size_t page, size_t count)
{
	const struct zones *zones = o->to->zones;
	const struct pages *p = o->pages;
	uint64_t next = p->list[page].number + 1;

	if (page + 1 == p->count || p->list[page + 1].number != next ||
	    (zones && next * p->bytes % zones->size == 0))
		return false;
	return is_sequential(o, page) ? count < ZONE_PAGES :
					pages_go_on(p, page);
}

/* Bytes of N pages from FIRST on. */
static size_t row_size(const struct pageout *o, size_t first, size_t n)
{
	return (n - 1) * o->pages->bytes +
	       pageout_size(o->to, o->pages->bytes,
			    o->pages->list[first].number + n - 1);
}

/* N pages from FIRST on, wherever they are, into the row. */
static int gather(struct pageout *o, struct context *cx, size_t first,
		  size_t n)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < n && !ret; i++)
		ret = pages_read(o->pages, cx, first + i, 0,
				 o->row + i * o->pages->bytes,
				 o->pages->bytes);
	return ret;
}

static int write_row(struct pageout *o, struct context *cx, size_t first,
		     size_t n)
{
	const unsigned char *data = o->row;
	int ret = first / PAGES_CHUNK != (first + n - 1) / PAGES_CHUNK ?
			  gather(o, cx, first, n) :
			  pages_row(o->pages, cx, first, n, o->row, &data);

	if (ret)
		return ret;
	return dev_write(o->to, cx,
			 o->pages->list[first].number * o->pages->bytes, data,
			 row_size(o, first, n));
}

/* The newest version of its page, and not one of those that are late. */
static bool is_due(const struct pageout *o, size_t page,
		   const struct pageout_late *late)
{
	const struct pages *p = o->pages;
	unsigned int i;

	for (i = 0; i < late->n; i++)
		if (late->bytes[i] / p->bytes == p->list[page].number)
			return false;
	return pages_is_newest(p, page) &&
	       !zonechanges_is_void(o->zones, page);
}

/* How many pages from FIRST on are due and can be written in one request. */
static size_t due_pages(const struct pageout *o, size_t first,
			const struct pageout_late *late)
{
	size_t count = 0;

	while (is_due(o, first + count, late)) {
		count++;
		if (!goes_on(o, first + count - 1, count))
			break;
	}
	return count;
}

static int write_due(struct pageout *o, struct context *cx,
		     const struct pageout_late *late)
{
	size_t i, count;
	int ret = 0;

	for (i = 0; i < o->pages->count && !ret; i += count ? count : 1) {
		count = due_pages(o, i, late);
		if (count)
			ret = write_row(o, cx, i, count);
	}
	return ret ? ret : dev_flush(o->to, cx);
}

static int write_late(struct pageout *o, struct context *cx, uint64_t byte)
{
	size_t page;
	int ret;

	if (!pages_find(o->pages, byte / o->pages->bytes, &page))
		return 0;
	ret = write_row(o, cx, page, 1);
	return ret ? ret : dev_flush(o->to, cx);
}

int pageout_last(const struct zonechanges *z, struct context *cx,
		 const struct pageout_late *late)
{
	struct pageout o = pageout_of(z);
	unsigned int i;
	int ret = begin(&o, cx);

	if (!ret)
		ret = write_due(&o, cx, late);
	for (i = 0; i < late->n && !ret; i++)
		ret = write_late(&o, cx, late->bytes[i]);
	free(o.row);
	return ret;
}

bool pageout_next_range(const struct zonechanges *z, size_t *cursor,
			uint64_t *off, size_t *len)
{
	const struct pageout_late none = { NULL, 0 };
	const struct pageout o = pageout_of(z);
	size_t count;

	while (*cursor < o.pages->count && !is_due(&o, *cursor, &none))
		++*cursor;
	if (*cursor == o.pages->count)
		return false;
	count = due_pages(&o, *cursor, &none);
	*off = o.pages->list[*cursor].number * o.pages->bytes;
	*len = row_size(&o, *cursor, count);
	*cursor += count;
	return true;
}
