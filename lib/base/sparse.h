/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sets of numbers, a bit each, that use memory only near their members: for the
 * blocks of a sparsely used disk.  Threads may add concurrently.
 */
#ifndef NILFS2_BASE_SPARSE_H
#define NILFS2_BASE_SPARSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"

struct sparse {
	uint64_t **chunks;	/* of SPARSE_CHUNK_BITS; NULL: no member */
	uint64_t nchunks;
	uint64_t bits;		/* members are below this, */
	bool ends;		/* or are among the last numbers below 2^64 */
	uint64_t allocated;	/* bytes in chunks */
	uint64_t max_memory;	/* for them */
};

#define SPARSE_CHUNK_BITS (1u << 16)

/* Whether NUMBER can be a member of S. */
static inline bool sparse_can_have(const struct sparse *s, uint64_t number)
{
	return number < s->bits ||
	       (s->ends && number > UINT64_MAX - SPARSE_CHUNK_BITS);
}

/*
 * Initializes an empty set of numbers below BITS that may use the whole memory
 * budget.  -ENOMEM.  sparse_fini() may be called after a failure, and accepts a set
 * that is all zero.
 */
int sparse_init(struct sparse *s, struct context *cx, uint64_t bits);

/* The same, where members can be the last SPARSE_CHUNK_BITS numbers below 2^64, too. */
int sparse_init_ends(struct sparse *s, struct context *cx, uint64_t bits);
void sparse_fini(struct sparse *s);

/*
 * Adds NUMBER, from any thread: 1 if it is new, 0 if it was a member, -EINVAL if it
 * is out of range, -ENOMEM beyond the memory budget.
 */
int sparse_add(struct sparse *s, struct context *cx, uint64_t number);

/*
 * Adds FIRST + I for each bit I of BITS, FIRST being a multiple of 64, from any
 * thread; *HAD: those that were members.  The cost is that of adding one number.  0,
 * or fails as sparse_add().
 */
int sparse_add_word(struct sparse *s, struct context *cx, uint64_t first,
		    uint64_t bits, uint64_t *had);

/*
 * Adds up to COUNT numbers from FIRST on, until one is a member, is out of range, or
 * needs a new chunk.  Returns the number added.  From any thread.  Call sparse_add()
 * for the next one.
 */
uint32_t sparse_add_run(struct sparse *s, uint64_t first, uint32_t count);

/*
 * Gets the members among the 64 numbers of which FIRST is one, a bit each; removes
 * those of BITS, and returns the ones that were members.  From any thread.
 */
uint64_t sparse_word(const struct sparse *s, uint64_t first);
uint64_t sparse_remove_word(struct sparse *s, uint64_t first, uint64_t bits);

/* Whether NUMBER, which may be any number, is a member; from any thread. */
static inline bool sparse_test(const struct sparse *s, uint64_t number)
{
	return sparse_word(s, number) >> number % 64 & 1;
}

/* Removes NUMBER, from any thread; true if it was a member. */
static inline bool sparse_remove(struct sparse *s, uint64_t number)
{
	return sparse_remove_word(s, number, UINT64_C(1) << number % 64);
}

/* Removes all members and frees the memory; not while other threads use the set. */
void sparse_clear(struct sparse *s);

/* Frees chunks without a member; not while other threads use the set. */
void sparse_trim(struct sparse *s);

/* The number of members; the first one in [FROM, END), END being at most the number of
   bits, or END; not while other threads add. */
uint64_t sparse_count(const struct sparse *s);
uint64_t sparse_next(const struct sparse *s, uint64_t from, uint64_t end);

#endif
