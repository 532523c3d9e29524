// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writing pages out.
 *
 * Either what was written is repeated: one walk from the first page to the
 * last, each version in its turn, a flush wherever the epoch changes.  Or only
 * the last state is wanted: the newest versions in one walk, and some few,
 * which make the others count, at the end.
 *
 * Pages that lie in a row, here and there, are one request.
 */
#include "dev/pageout.h"

#include <errno.h>
#include <stdlib.h>

struct pageout {
	const struct pages *pages;
	struct dev *to;
	unsigned char *row;	/* a chunk, for a row that is not in memory */
};

size_t pageout_size(const struct dev *to, uint64_t number)
{
	uint64_t left = to->size - number * PAGES_BYTES;

	return left < PAGES_BYTES ? (size_t)left : PAGES_BYTES;
}

static int begin(struct pageout *o, struct context *cx)
{
	o->row = malloc((size_t)PAGES_CHUNK * PAGES_BYTES);
	return o->row ? 0 : fail(cx, -ENOMEM, "%s: commit", o->to->name);
}

/* Bytes of N pages from FIRST on. */
static size_t row_size(const struct pages *p, const struct dev *to,
		       size_t first, size_t n)
{
	return (n - 1) * PAGES_BYTES +
	       pageout_size(to, p->list[first].number + n - 1);
}

static int write_row(struct pageout *o, struct context *cx, size_t first,
		     size_t n)
{
	const unsigned char *data;
	int ret = pages_row(o->pages, cx, first, n, o->row, &data);

	if (ret)
		return ret;
	return dev_write(o->to, cx, o->pages->list[first].number * PAGES_BYTES,
			 data, row_size(o->pages, o->to, first, n));
}

/* How many pages from FIRST on can be written in one request. */
static size_t joined_pages(const struct pages *p, size_t first)
{
	size_t n = 1;

	while (pages_go_on(p, first + n - 1) &&
	       p->list[first + n].epoch == p->list[first].epoch)
		n++;
	return n;
}

static int write_versions(struct pageout *o, struct context *cx)
{
	const struct pages *p = o->pages;
	size_t i, n;
	int ret = 0;

	for (i = 0; i < p->count && !ret; i += n) {
		if (i && p->list[i].epoch != p->list[i - 1].epoch)
			ret = dev_flush(o->to, cx);
		n = joined_pages(p, i);
		if (!ret)
			ret = write_row(o, cx, i, n);
	}
	return ret;
}

int pageout_all(const struct pages *p, struct context *cx, struct dev *to)
{
	struct pageout o = { .pages = p, .to = to };
	int ret = begin(&o, cx);

	if (!ret)
		ret = write_versions(&o, cx);
	if (!ret)
		ret = dev_flush(to, cx);
	free(o.row);
	return ret;
}

/* The newest version of its page, and not one of those that are late. */
static bool is_due(const struct pages *p, size_t page,
		   const struct pageout_late *late)
{
	unsigned int i;

	for (i = 0; i < late->n; i++)
		if (late->bytes[i] / PAGES_BYTES == p->list[page].number)
			return false;
	return pages_is_newest(p, page);
}

/* How many pages from FIRST on are due and can be written in one request. */
static size_t due_pages(const struct pages *p, size_t first,
			const struct pageout_late *late)
{
	size_t count = 0;

	while (is_due(p, first + count, late)) {
		count++;
		if (!pages_go_on(p, first + count - 1))
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
		count = due_pages(o->pages, i, late);
		if (count)
			ret = write_row(o, cx, i, count);
	}
	return ret ? ret : dev_flush(o->to, cx);
}

static int write_late(struct pageout *o, struct context *cx, uint64_t byte)
{
	size_t page;
	int ret;

	if (!pages_find(o->pages, byte / PAGES_BYTES, &page))
		return 0;
	ret = write_row(o, cx, page, 1);
	return ret ? ret : dev_flush(o->to, cx);
}

int pageout_last(const struct pages *p, struct context *cx, struct dev *to,
		 const struct pageout_late *late)
{
	struct pageout o = { .pages = p, .to = to };
	unsigned int i;
	int ret = begin(&o, cx);

	if (!ret)
		ret = write_due(&o, cx, late);
	for (i = 0; i < late->n && !ret; i++)
		ret = write_late(&o, cx, late->bytes[i]);
	free(o.row);
	return ret;
}

bool pageout_next_range(const struct pages *p, const struct dev *to,
			size_t *cursor, uint64_t *off, size_t *len)
{
	const struct pageout_late none = { NULL, 0 };
	size_t count;

	while (*cursor < p->count && !is_due(p, *cursor, &none))
		++*cursor;
	if (*cursor == p->count)
		return false;
	count = due_pages(p, *cursor, &none);
	*off = p->list[*cursor].number * PAGES_BYTES;
	*len = row_size(p, to, *cursor, count);
	*cursor += count;
	return true;
}
