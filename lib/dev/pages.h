/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pages of a device that are kept in memory, in versions: what an overlay is
 * made of.
 */
#ifndef NILFS2_DEV_PAGES_H
#define NILFS2_DEV_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

#define PAGES_BYTES 1024u	/* of a page: the least block of the format */
#define PAGES_CHUNK 256u	/* pages whose data lies in a row */
#define PAGES_BUCKETS 4096u

struct page {
	uint64_t number;	/* place on the device in pages */
	uint64_t epoch;
	size_t next;		/* chain, towards older ones: page + 1, or 0 */
};

struct pages {
	const char *name;	/* of the device, for messages; borrowed */
	uint64_t bytes_max;
	struct page *list;	/* in the order in which they were made */
	size_t count, room;
	unsigned char **chunks;
	size_t nchunks, chunk_room;
	uint64_t epoch;		/* of what is made now; only grows */
	size_t buckets[PAGES_BUCKETS];	/* newest page of a chain + 1, or 0 */
};

/* No pages; all zero is good as well, but for NAME and BYTES_MAX. */
void pages_init(struct pages *p, const char *name, uint64_t bytes_max);
void pages_fini(struct pages *p);

/* The newest version of page NUMBER in *PAGE, or false. */
bool pages_find(const struct pages *p, uint64_t number, size_t *page);

/* PAGES_BYTES bytes, to be changed. */
unsigned char *pages_data(const struct pages *p, size_t page);

/*
 * Whether PAGE may be changed in its place: the epoch is still the one in
 * which it was made.
 */
static inline bool pages_is_current(const struct pages *p, size_t page)
{
	return p->list[page].epoch == p->epoch;
}

/*
 * Room for one more version, whose data is in *DATA, to be filled; it is there
 * only once pages_add() says of what page it is.  -ENOMEM.
 */
int pages_reserve(struct pages *p, struct context *cx, unsigned char **data);
void pages_add(struct pages *p, uint64_t number);

/* Forgets all versions but the first COUNT. */
void pages_rewind(struct pages *p, size_t count);

/* Whether PAGE is the newest version of what it is of. */
bool pages_is_newest(const struct pages *p, size_t page);

/*
 * Whether the data of PAGE + 1 lies behind that of PAGE, here and on the
 * device.
 */
bool pages_go_on(const struct pages *p, size_t page);

#endif
