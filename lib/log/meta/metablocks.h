/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The blocks of a metadata file that are in memory. */
#ifndef NILFS2_LOG_METABLOCKS_H
#define NILFS2_LOG_METABLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

/* Clean blocks kept; more than a path from a root to a data block has. */
#define METABLOCKS_CLEAN_MAX 64

struct metablock {
	struct metablock *next;		/* with the same hash */
	struct metablock *older, *newer;	/* of its list, by last use */
	uint64_t id;		/* of a data block its offset, of a node PTR */
	uint64_t ptr;			/* the pointer in its parent */
	bool node;
	bool dirty;
	_Alignas(16) uint8_t data[];
};

struct metablocks_list {
	struct metablock *oldest, *newest;
	size_t n;
};

/* Every block is in the table and in one of the lists.  All zero is empty. */
struct metablocks {
	uint32_t block_size;		/* set by the owner */
	struct metablock **buckets;
	size_t nbuckets;		/* a power of two, or 0 */
	size_t n;
	struct metablocks_list data;	/* dirty */
	struct metablocks_list nodes;	/* dirty */
	struct metablocks_list clean;	/* of both kinds */
};

void metablocks_fini(struct metablocks *t);

/* The node with pointer ID, or the data block at offset ID, or NULL. */
struct metablock *metablocks_find(const struct metablocks *t, bool node,
				  uint64_t id);

/*
 * Adds a missing clean block with that ID, its content not set; drops the least
 * recently used clean block if there are too many.  NULL with the failure text
 * set if memory is exhausted.
 */
struct metablock *metablocks_add(struct metablocks *t, struct context *cx,
				 bool node, uint64_t id, uint64_t ptr);

/*
 * Marks B as DIRTY or clean, and as the last used of its list.  May drop the
 * least recently used clean block, but not B.
 */
void metablocks_use(struct metablocks *t, struct metablock *b, bool dirty);

/* Sets the pointer of B, by which a node is found from now on. */
void metablocks_set_ptr(struct metablocks *t, struct metablock *b,
			uint64_t ptr);

/* Takes B out: it is the caller's, to be free()d.  Returns B. */
struct metablock *metablocks_take(struct metablocks *t, struct metablock *b);

#endif
