// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Versions of pages.
 *
 * The data of pages lies in chunks, in the order of creation, so that data that was
 * written in one large request can be written to the device in large requests
 * without another copy.  A hash chain leads from the newest version of a page to
 * older ones; the last page of all is the first one of its chain, so the last pages
 * can be dropped.  There are at least half as many chains as pages, so that
 * searching a large overlay is as fast as a small one.
 *
 * Chunks beyond the budget are in a temporary file, in the same order, and are never
 * read back to memory: written data is rarely read again, and then the page cache
 * has it.  The list and the chains, at most 16 bytes per page, are not part of the
 * budget.
 */
#include "dev/pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/tempfile.h"

#define BUCKET_BITS_MIN 10u

void pages_init(struct pages *p, const char *name, size_t bytes,
		uint64_t bytes_max)
{
	uint64_t chunks = bytes_max / (PAGES_CHUNK * bytes);

	memset(p, 0, sizeof(*p));
	p->name = name;
	p->bytes = bytes;
	p->chunks_max = chunks > SIZE_MAX ? SIZE_MAX : (size_t)chunks;
	p->scratch = -1;
}

static uint32_t *bucket_of(const struct pages *p, uint64_t number)
{
	return &p->buckets[number * UINT64_C(0x9e3779b97f4a7c15) >>
			   (64 - p->bucket_bits)];
}

bool pages_find(const struct pages *p, uint64_t number, size_t *page)
{
	size_t link = p->count ? *bucket_of(p, number) : 0;

	while (link && p->list[link - 1].number != number)
		link = p->list[link - 1].next;
	*page = link - 1;
	return link;
}

unsigned char *pages_data(const struct pages *p, size_t page)
{
	return page / PAGES_CHUNK >= p->chunks_max ? NULL :
	       p->chunks[page / PAGES_CHUNK] + page % PAGES_CHUNK * p->bytes;
}

int pages_read(const struct pages *p, struct context *cx, size_t page,
	       size_t at, void *buf, size_t len)
{
	const unsigned char *data = pages_data(p, page);
	size_t before = p->chunks_max * PAGES_CHUNK;	/* pages in memory */

	if (!data)
		return tempfile_read(cx, p->scratch,
				     (page - before) * (uint64_t)p->bytes + at,
				     buf, len);
	memcpy(buf, data + at, len);
	return 0;
}

int pages_write(struct pages *p, struct context *cx, size_t page, size_t at,
		const void *buf, size_t len)
{
	unsigned char *data = pages_data(p, page);
	size_t before = p->chunks_max * PAGES_CHUNK;

	if (!data)
		return tempfile_write(cx, p->scratch,
				      (page - before) * (uint64_t)p->bytes + at,
				      buf, len);
	memcpy(data + at, buf, len);
	return 0;
}

int pages_add(struct pages *p, struct context *cx, uint64_t number,
	      const void *data)
{
	unsigned int bits = p->bucket_bits ? p->bucket_bits + 1 :
					     BUCKET_BITS_MIN;
	uint32_t *buckets, *bucket;
	size_t page = p->count;
	int err = 0;

	if (p->count == UINT32_MAX)
		goto no_memory;
	if (array_reserve(cx, &p->list, &p->room, p->count + 1))
		return -ENOMEM;
	if (p->count / PAGES_CHUNK >= p->chunks_max) {
		err = p->scratch < 0 ? tempfile_open(cx, &p->scratch) : 0;
	} else if (p->count == p->nchunks * PAGES_CHUNK) {
		if (array_reserve(cx, &p->chunks, &p->chunk_room,
				  p->nchunks + 1))
			return -ENOMEM;
		p->chunks[p->nchunks] = malloc(PAGES_CHUNK * p->bytes);
		if (!p->chunks[p->nchunks])
			goto no_memory;
		p->nchunks++;
	}
	if (!err)
		err = pages_write(p, cx, p->count, 0, data, p->bytes);
	if (err)
		return err;
	/* Chain the new page or, in a larger table, all pages. */
	if (!p->buckets || p->count / 2 >> p->bucket_bits) {
		buckets = calloc((size_t)1 << bits, sizeof(*buckets));
		if (!buckets)
			goto no_memory;
		free(p->buckets);
		p->buckets = buckets;
		p->bucket_bits = bits;
		page = 0;
	}
	p->list[p->count++].number = number;
	for (; page < p->count; page++) {
		bucket = bucket_of(p, p->list[page].number);
		p->list[page].next = *bucket;
		*bucket = (uint32_t)page + 1;
	}
	return 0;
no_memory:
	return fail(cx, -ENOMEM, "%s: buffered changes", p->name);
}

void pages_rewind(struct pages *p, size_t count)
{
	const struct page *page;

	while (p->count > count) {
		page = &p->list[--p->count];
		*bucket_of(p, page->number) = page->next;
	}
	if (p->marked > count)
		p->marked = count;
}

bool pages_go_on(const struct pages *p, size_t page)
{
	return page + 1 < p->count && (page + 1) % PAGES_CHUNK &&
	       p->list[page + 1].number == p->list[page].number + 1;
}

void pages_fini(struct pages *p)
{
	size_t chunks_max = p->chunks_max;

	while (p->nchunks)
		free(p->chunks[--p->nchunks]);
	free(p->chunks);
	free(p->list);
	free(p->buckets);
	if (p->scratch >= 0)
		close(p->scratch);
	pages_init(p, p->name, p->bytes, 0);
	p->chunks_max = chunks_max;
}
