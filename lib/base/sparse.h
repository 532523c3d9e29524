/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sets of numbers, a bit each, that use memory only near their members: for the
 * blocks of a disk of which little is used.  Threads may add concurrently.
 */
#ifndef NILFS2_BASE_SPARSE_H
#define NILFS2_BASE_SPARSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"

struct sparse {
	uint64_t **chunks;	/* of SPARSE_CHUNK_BITS; NULL: no member */
	uint64_t nchunks;
	uint64_t bits;		/* members are below this */
	uint64_t allocated;	/* bytes in chunks */
	uint64_t max_memory;	/* for them */
};

#define SPARSE_CHUNK_BITS (1u << 16)

/*
 * An empty set of numbers below BITS that may cost as much as the memory
 * budget.  -ENOMEM.  sparse_fini() also then, and of one that is all zero.
 */
int sparse_init(struct sparse *s, struct context *cx, uint64_t bits);
void sparse_fini(struct sparse *s);

/*
 * Adds NUMBER, from any thread: 1 where it was not in the set, 0 where it was,
 * -EINVAL where it cannot be, -ENOMEM past the memory budget.
 */
int sparse_add(struct sparse *s, struct context *cx, uint64_t number);

/*
 * Adds FIRST + I for each bit I of BITS, FIRST being a multiple of 64, from any
 * thread; *HAD: those that were in the set.  0, or fails as sparse_add(), at the
 * same cost.
 */
int sparse_add_word(struct sparse *s, struct context *cx, uint64_t first,
		    uint64_t bits, uint64_t *had);

/*
 * Adds up to COUNT numbers from FIRST on, until one that is in the set, is out
 * of range, or needs a new chunk: returns the number added, from any thread.
 * Call sparse_add() for the next one.
 */
uint32_t sparse_add_run(struct sparse *s, uint64_t first, uint32_t count);

/* Takes NUMBER out, from any thread; true where it was in the set. */
bool sparse_remove(struct sparse *s, uint64_t number);

/* Whether NUMBER, any number at all, is in the set; from any thread. */
bool sparse_test(const struct sparse *s, uint64_t number);

/*
 * The 64 numbers from FIRST on, a multiple of 64: those that are in the set, a
 * bit each, and to take some of them out; from any thread.
 */
uint64_t sparse_word(const struct sparse *s, uint64_t first);
void sparse_remove_word(struct sparse *s, uint64_t first, uint64_t bits);

/* Takes out all and gives the memory back; not while others use the set. */
void sparse_clear(struct sparse *s);

/* Gives the memory back that holds no member; not while others use the set. */
void sparse_trim(struct sparse *s);

/* How many there are, the first one of [FROM, END) or END; not while others
   add. */
uint64_t sparse_count(const struct sparse *s);
uint64_t sparse_next(const struct sparse *s, uint64_t from, uint64_t end);

#endif
