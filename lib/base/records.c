// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Records beyond the memory budget.
 *
 * The first records stay in memory.  The others are collected in pages, which are
 * written to a temporary file when they are full and read back on demand.  Recently
 * read pages are cached, in the slot given by the page number modulo the number of
 * slots, so that a walk reads each page once, and a bisection reads few pages.
 */
#include "base/records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/tempfile.h"

#define PAGE_BYTES 4096u
#define PAGES 32u

struct records_page {
	uint64_t number;	/* of the page, from 1 on; 0: none */
	char bytes[PAGE_BYTES];
};

void records_init(struct records *r, size_t size, size_t bytes)
{
	*r = (struct records){
		.size = size,
		.per_page = PAGE_BYTES / size,
		.most = bytes / size,
		.fd = -1,
	};
}

int records_add(struct records *r, struct context *cx, const void *item)
{
	uint64_t page;
	char *items;
	size_t at;
	int err = 0;

	if (r->n < r->most) {
		items = array_grow(cx, r->items, &r->room, (size_t)r->n + 1,
				   r->size);
		if (!items)
			return -ENOMEM;
		r->items = items;
		memcpy(items + (size_t)r->n * r->size, item, r->size);
		r->n++;
		return 0;
	}
	if (!r->pages)
		r->pages = calloc(PAGES, sizeof(*r->pages));
	if (!r->tail)
		r->tail = calloc(1, PAGE_BYTES);
	if (!r->pages || !r->tail)
		return fail(cx, -ENOMEM, "records");
	if (r->fd < 0)
		err = tempfile_open(cx, &r->fd);
	if (err)
		return err;
	/* The last page is written when it is full. */
	page = (r->n - r->most) / r->per_page;
	at = (size_t)((r->n - r->most) % r->per_page);
	memcpy(r->tail + at * r->size, item, r->size);
	if (at == r->per_page - 1)
		err = tempfile_write(cx, r->fd, page * PAGE_BYTES, r->tail,
				     PAGE_BYTES);
	r->n += !err;
	return err;
}

int records_get(struct records *r, struct context *cx, uint64_t i, void *item)
{
	struct records_page *page;
	const char *bytes;
	uint64_t number;
	int err;

	if (i < r->most) {
		memcpy(item, r->items + (size_t)i * r->size, r->size);
		return 0;
	}
	i -= r->most;
	number = i / r->per_page;
	bytes = r->tail;
	if ((number + 1) * r->per_page <= r->n - r->most) {
		page = &r->pages[number % PAGES];
		if (page->number != number + 1) {
			page->number = 0;
			err = tempfile_read(cx, r->fd, number * PAGE_BYTES,
					    page->bytes, PAGE_BYTES);
			if (err)
				return err;
			page->number = number + 1;
		}
		bytes = page->bytes;
	}
	memcpy(item, bytes + (size_t)(i % r->per_page) * r->size, r->size);
	return 0;
}

void records_fini(struct records *r)
{
	free(r->items);
	free(r->tail);
	free(r->pages);
	if (r->size && r->fd >= 0)
		close(r->fd);
	memset(r, 0, sizeof(*r));
}
