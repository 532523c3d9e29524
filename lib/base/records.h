/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records of one size, in the order in which they were added, read by their
 * number.  Those past a share of the memory budget are in a temporary file.
 */
#ifndef NILFS2_BASE_RECORDS_H
#define NILFS2_BASE_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

struct records_page;

/* Zero but for what records_init() sets; the members are private but for N. */
struct records {
	uint64_t n;		/* how many there are */
	size_t size;		/* bytes of one */
	size_t most;		/* that memory has room for */
	char *items;		/* the first of them, at most MOST */
	size_t room;
	int fd;			/* of the others, in pages; -1: none yet */
	char *tail;		/* the last page, not written yet */
	struct records_page *pages;	/* that were read last */
};

/* Records of SIZE bytes, at most a page; BYTES of memory, and little more. */
void records_init(struct records *r, size_t size, size_t bytes);

/* Adds a copy of ITEM: its number is the N before.  -ENOMEM. */
int records_add(struct records *r, struct context *cx, const void *item);

/* Copies record I, which must be there, to ITEM.  -ENOMEM. */
int records_get(struct records *r, struct context *cx, uint64_t i, void *item);

/* Frees the records; also those of a struct that is all zero. */
void records_fini(struct records *r);

#endif
