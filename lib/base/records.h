/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records of one size, in the order in which they were added, read by their number.
 * Records beyond a share of the memory budget are in a temporary file.
 */
#ifndef NILFS2_BASE_RECORDS_H
#define NILFS2_BASE_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

struct records_page;

/* All zero, except the members set by records_init().  Only N is public. */
struct records {
	uint64_t n;		/* number of records */
	size_t size;		/* bytes of one */
	size_t per_page;	/* records of a page in the file */
	size_t most;		/* maximum in memory */
	char *items;		/* the first records, at most MOST */
	size_t room;
	int fd;			/* file of the others, in pages; -1: none */
	char *tail;		/* the last page, not written yet */
	struct records_page *pages;	/* recently read pages */
};

/* Initializes R for records of SIZE bytes (at most a page) and about BYTES of memory. */
void records_init(struct records *r, size_t size, size_t bytes);

/* Adds a copy of ITEM: its number is the previous N.  -ENOMEM. */
int records_add(struct records *r, struct context *cx, const void *item);

/* Copies record I, which must exist, to ITEM.  -ENOMEM. */
int records_get(struct records *r, struct context *cx, uint64_t i, void *item);

/* Frees the records; also those of a struct that is all zero. */
void records_fini(struct records *r);

#endif
