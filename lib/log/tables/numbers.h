/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The numbers of a persistent allocator that are in use: virtual block numbers,
 * inode numbers.
 */
#ifndef NILFS2_LOG_NUMBERS_H
#define NILFS2_LOG_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/palloc.h"
#include "log/meta/metafile.h"

struct numbers {
	struct metafile *m;	/* borrowed */
	struct palloc p;
	uint64_t next;		/* where the search continues */
	uint8_t *bitmap;	/* of the cached group */
	uint64_t group;
	uint32_t nfrees;
	bool loaded, changed;
	bool through;		/* no cache: others read the bitmaps too */
};

/*
 * The numbers of M, whose entries have ENTRY_SIZE bytes.  M must outlive N;
 * numbers_fini() accepts a zeroed structure.
 */
int numbers_init(struct numbers *n, struct context *cx, struct metafile *m,
		 uint32_t block_size, uint32_t entry_size);
void numbers_fini(struct numbers *n);

/*
 * Allocates up to WANT (>= 1) consecutive free numbers of one group, the first
 * ones after the last allocation (nilfs_palloc_prepare_alloc_entry()): *COUNT
 * from *FIRST on.
 */
int numbers_take(struct numbers *n, struct context *cx, uint32_t want,
		 uint64_t *first, uint32_t *count);

/* Frees NR; -EUCLEAN if it is free already. */
int numbers_give(struct numbers *n, struct context *cx, uint64_t nr);

/* 1 if NR is in use, 0 if not, or a failure. */
int numbers_test(struct numbers *n, struct context *cx, uint64_t nr);

/* Writes the cached group to the blocks of the file. */
int numbers_sync(struct numbers *n, struct context *cx);

/* Drops the cached group after the blocks of the file were changed directly. */
void numbers_forget(struct numbers *n);

#endif
