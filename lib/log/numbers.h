/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which numbers of a persistent allocator are in use: virtual block numbers,
 * inode numbers.
 */
#ifndef NILFS2_LOG_NUMBERS_H
#define NILFS2_LOG_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/palloc.h"
#include "log/metafile.h"
#include "log/tally.h"

struct numbers {
	struct metafile *m;	/* borrowed */
	struct palloc p;
	uint64_t next;		/* where the search goes on */
	uint8_t *bitmap;	/* of the group below */
	uint64_t group;
	uint32_t nfrees;
	bool loaded, changed;
	bool through;		/* enter all at once: others look there too */
	/* By block of the file: none is taken there.  Borrowed, or NULL. */
	const struct tally *avoided;
};

/*
 * The numbers of M, whose entries have ENTRY_SIZE bytes.  M must outlive N;
 * numbers_fini() accepts what was never made.
 */
int numbers_init(struct numbers *n, struct context *cx, struct metafile *m,
		 uint32_t block_size, uint32_t entry_size);
void numbers_fini(struct numbers *n);

/*
 * Takes up to WANT (>= 1) free numbers that follow each other: the first ones
 * after what was taken last (nilfs_palloc_prepare_alloc_entry()).  They are
 * *COUNT from *FIRST on, all of one group.
 */
int numbers_take(struct numbers *n, struct context *cx, uint32_t want,
		 uint64_t *first, uint32_t *count);

/* Gives NR back; -EUCLEAN where it is free already. */
int numbers_give(struct numbers *n, struct context *cx, uint64_t nr);

/* 1 where NR is in use, 0 where not, or a failure. */
int numbers_test(struct numbers *n, struct context *cx, uint64_t nr);

/* Enters what was taken in the file's blocks. */
int numbers_sync(struct numbers *n, struct context *cx);

/* The file's blocks were changed by others: what is in memory goes. */
void numbers_forget(struct numbers *n);

#endif
