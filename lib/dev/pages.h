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

#define PAGES_BYTES 1024u	/* of a page: the least block of the format, */
#define PAGES_BYTES_MAX 4096u	/* or at most, a power of two */
#define PAGES_CHUNK 256u	/* pages whose data lies in a row */

/* As small as can be: a dry run on a large volume has millions. */
struct __attribute__((packed, aligned(4))) page {
	uint64_t number;	/* place on the device in pages */
	uint32_t next;		/* chain, towards older ones: page + 1, or 0 */
};

struct pages {
	const char *name;	/* of the device, for messages; borrowed */
	size_t bytes;		/* of a page */
	size_t chunks_max;	/* in memory */
	struct page *list;	/* in the order in which they were made */
	size_t count, room;
	unsigned char **chunks;	/* the first ones */
	size_t nchunks, chunk_room;
	int scratch;		/* file with the data of all others, or -1 */
	size_t marked;		/* those before it do not change any more */
	uint32_t *buckets;	/* newest page of a chain + 1, or 0 */
	unsigned int bucket_bits;	/* 2^this, COUNT / 2 or more; 0: none */
};

/*
 * No pages, of BYTES each.  The data of those that come first is held in
 * memory, in as many chunks as BYTES_MAX has room for, the rest in a temporary
 * file of the context.
 */
void pages_init(struct pages *p, const char *name, size_t bytes,
		uint64_t bytes_max);

/* Forgets all of them; P is as pages_init() left it. */
void pages_fini(struct pages *p);

/* The newest version of page NUMBER in *PAGE, or false. */
bool pages_find(const struct pages *p, uint64_t number, size_t *page);

/*
 * LEN bytes AT of the data of PAGE, to or from BUF; a read may go on into pages
 * after it that pages_go_on() joins.  Many threads may read at once.  Those of
 * the file: -ENOMEM, as tempfile_read() and tempfile_write().
 */
int pages_read(const struct pages *p, struct context *cx, size_t page,
	       size_t at, void *buf, size_t len);
int pages_write(struct pages *p, struct context *cx, size_t page, size_t at,
		const void *buf, size_t len);

/*
 * The data of N pages from PAGE on: in *DATA, which is where they are if they are
 * in memory in a row, else BUF, with room for them.
 */
int pages_row(const struct pages *p, struct context *cx, size_t page, size_t n,
	      unsigned char *buf, const unsigned char **data);

/* One more version, of page NUMBER, with its DATA.  -ENOMEM, also of 2^32. */
int pages_add(struct pages *p, struct context *cx, uint64_t number,
	      const void *data);

/* Forgets all versions but the first COUNT. */
void pages_rewind(struct pages *p, size_t count);

/* Whether PAGE is the newest version of what it is of. */
bool pages_is_newest(const struct pages *p, size_t page);

/*
 * Whether the data of PAGE + 1 lies after that of PAGE, here and on the
 * device.
 */
bool pages_go_on(const struct pages *p, size_t page);

#endif
