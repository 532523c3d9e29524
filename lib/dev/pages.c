// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Pages in versions.
 *
 * Pages lie in chunks, in the order in which they were made, so that what was
 * written in one large piece can be written on in large pieces without another
 * copy.  A chain per hash value leads from the newest version of a page to
 * older ones; the last page of all is the first one of its chain, so the last
 * ones can be forgotten again.
 */
#include "dev/pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void pages_init(struct pages *p, const char *name, uint64_t bytes_max)
{
	memset(p, 0, sizeof(*p));
	p->name = name;
	p->bytes_max = bytes_max;
}

static size_t bucket_of(uint64_t number)
{
	return number * UINT64_C(0x9e3779b97f4a7c15) >> 52;
}

unsigned char *pages_data(const struct pages *p, size_t page)
{
	return p->chunks[page / PAGES_CHUNK] +
	       page % PAGES_CHUNK * PAGES_BYTES;
}

bool pages_find(const struct pages *p, uint64_t number, size_t *page)
{
	size_t link = p->buckets[bucket_of(number)];

	while (link && p->list[link - 1].number != number)
		link = p->list[link - 1].next;
	*page = link - 1;
	return link;
}

static int add_chunk(struct pages *p, struct context *cx)
{
	unsigned char **chunks = array_grow(cx, p->chunks, &p->chunk_room,
					    p->nchunks + 1, sizeof(*chunks));

	if (!chunks)
		return -ENOMEM;
	p->chunks = chunks;
	chunks[p->nchunks] = malloc(PAGES_CHUNK * PAGES_BYTES);
	if (!chunks[p->nchunks])
		return fail(cx, -ENOMEM, "%s: changes kept aside", p->name);
	p->nchunks++;
	return 0;
}

int pages_reserve(struct pages *p, struct context *cx, unsigned char **data)
{
	struct page *list;
	int err = 0;

	if (p->count >= p->bytes_max / PAGES_BYTES)
		return fail(cx, -ENOMEM,
			    "%s: changes kept aside pass the memory budget",
			    p->name);
	list = array_grow(cx, p->list, &p->room, p->count + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	p->list = list;
	if (p->count == p->nchunks * PAGES_CHUNK)
		err = add_chunk(p, cx);
	if (!err)
		*data = pages_data(p, p->count);
	return err;
}

void pages_add(struct pages *p, uint64_t number)
{
	size_t *link = &p->buckets[bucket_of(number)];

	p->list[p->count] = (struct page){
		.number = number,
		.epoch = p->epoch,
		.next = *link,
	};
	*link = ++p->count;
}

void pages_rewind(struct pages *p, size_t count)
{
	const struct page *page;

	while (p->count > count) {
		page = &p->list[--p->count];
		p->buckets[bucket_of(page->number)] = page->next;
	}
}

bool pages_is_newest(const struct pages *p, size_t page)
{
	size_t newest;

	return pages_find(p, p->list[page].number, &newest) && newest == page;
}

bool pages_go_on(const struct pages *p, size_t page)
{
	return page + 1 < p->count && (page + 1) % PAGES_CHUNK &&
	       p->list[page + 1].number == p->list[page].number + 1;
}

void pages_fini(struct pages *p)
{
	while (p->nchunks)
		free(p->chunks[--p->nchunks]);
	free(p->chunks);
	free(p->list);
	pages_init(p, p->name, p->bytes_max);
}
