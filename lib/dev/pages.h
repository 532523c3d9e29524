/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Buffered pages of a device, in versions: the data of an overlay.
 */
#ifndef NILFS2_DEV_PAGES_H
#define NILFS2_DEV_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

#define PAGES_BYTES 1024u	/* of a page: the smallest block of the format */
#define PAGES_BYTES_MAX 4096u	/* maximum, a power of two */
#define PAGES_CHUNK 256u	/* pages with contiguous data */

/* Kept small: a dry run on a large volume has millions of pages. */
struct __attribute__((packed, aligned(4))) page {
	uint64_t number;	/* place on the device in pages */
	uint32_t next;		/* chain, towards older ones: page + 1, or 0 */
};

struct pages {
	const char *name;	/* of the device, for messages; borrowed */
	size_t bytes;		/* of a page */
	size_t chunks_max;	/* maximum in memory */
	struct page *list;	/* in the order of creation */
	size_t count, room;
	unsigned char **chunks;	/* the first ones */
	size_t nchunks, chunk_room;
	int scratch;		/* file with the other chunks, or -1 */
	size_t marked;		/* pages before it no longer change */
	uint32_t *buckets;	/* newest page of a chain + 1, or 0 */
	unsigned int bucket_bits;	/* 2^this, COUNT / 2 or more; 0: none */
};

/*
 * Initializes an empty set of pages of BYTES each.  The data of the first pages is
 * held in memory, in as many chunks as fit into BYTES_MAX, the rest in a temporary
 * file of the context.
 */
void pages_init(struct pages *p, const char *name, size_t bytes,
		uint64_t bytes_max);

/* Drops all pages; P is then as pages_init() left it. */
void pages_fini(struct pages *p);

/* The newest version of page NUMBER in *PAGE, or false. */
bool pages_find(const struct pages *p, uint64_t number, size_t *page);

/*
 * Copies LEN bytes AT of the data of PAGE to or from BUF.  A read may continue into
 * the following pages if pages_go_on() joins them.  Several threads may read at
 * once.  -ENOMEM for data in the file, as tempfile_read() and tempfile_write().
 */
int pages_read(const struct pages *p, struct context *cx, size_t page,
	       size_t at, void *buf, size_t len);
int pages_write(struct pages *p, struct context *cx, size_t page, size_t at,
		const void *buf, size_t len);

/* The data of PAGE and the pages after it in its chunk; NULL if it is in the file. */
unsigned char *pages_data(const struct pages *p, size_t page);

/* Adds a version of page NUMBER with its DATA.  -ENOMEM, also beyond 2^32 pages. */
int pages_add(struct pages *p, struct context *cx, uint64_t number,
	      const void *data);

/* Drops all versions except the first COUNT. */
void pages_rewind(struct pages *p, size_t count);

/*
 * Whether the data of PAGE + 1 follows that of PAGE, both here and on the device.
 */
bool pages_go_on(const struct pages *p, size_t page);

#endif
