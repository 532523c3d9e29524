// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Sets of bits in chunks that are allocated on demand.
 *
 * An empty set costs only a directory of pointers, one per chunk.  A chunk is
 * allocated when its first member is added.  If two threads allocate the same chunk,
 * the first one that enters it in the directory wins and the other one frees its
 * own.  Members are added and removed by atomic operations on a word, without locks.
 * Each chunk is mapped separately, so freed memory returns to the system.
 */
#include "base/sparse.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/checked.h"

#define CHUNK_WORDS (SPARSE_CHUNK_BITS / 64)
#define CHUNK_BYTES (SPARSE_CHUNK_BITS / 8)

int sparse_init(struct sparse *s, struct context *cx, uint64_t bits)
{
	/* The last one is that of the ends. */
	uint64_t n = div_round_up(bits, SPARSE_CHUNK_BITS) + 1;

	*s = (struct sparse){ .max_memory = cx->max_memory };
	if (n <= cx->max_memory / sizeof(*s->chunks))
		s->chunks = calloc(n, sizeof(*s->chunks));
	if (!s->chunks)
		return fail(cx, -ENOMEM, "set of %" PRIu64 " numbers", bits);
	s->nchunks = n;
	s->bits = bits;
	return 0;
}

int sparse_init_ends(struct sparse *s, struct context *cx, uint64_t bits)
{
	int ret = sparse_init(s, cx, bits);

	s->ends = !ret;
	return ret;
}

static void free_chunk(struct sparse *s, uint64_t i)
{
	munmap(s->chunks[i], CHUNK_BYTES);
	s->chunks[i] = NULL;
	s->allocated -= CHUNK_BYTES;
}

void sparse_clear(struct sparse *s)
{
	uint64_t i;

	for (i = 0; i < s->nchunks && s->allocated; i++)
		if (s->chunks[i])
			free_chunk(s, i);
}

void sparse_fini(struct sparse *s)
{
	sparse_clear(s);
	free(s->chunks);
	*s = (struct sparse){ 0 };
}

/* The place of the chunk of NUMBER, which can be a member.  The last numbers below 2^64
   have the last one. */
static uint64_t **sparse_slot(const struct sparse *s, uint64_t number)
{
	return &s->chunks[number < s->bits ? number / SPARSE_CHUNK_BITS :
					     s->nchunks - 1];
}

/* The word of NUMBER, or NULL if it has no chunk. */
static inline uint64_t *sparse_find_word(const struct sparse *s, uint64_t number)
{
	uint64_t *chunk = NULL;

	if (sparse_can_have(s, number))
		chunk = __atomic_load_n(sparse_slot(s, number), __ATOMIC_ACQUIRE);

	return chunk ? &chunk[number % SPARSE_CHUNK_BITS / 64] : NULL;
}

/*
 * Finds the word of NUMBER; allocates its chunk, or uses the one that another thread
 * has allocated in the meantime.  An impossible number is a failure.
 */
static int sparse_need_word(struct sparse *s, struct context *cx, uint64_t number,
			    uint64_t **word)
{
	uint64_t **slot, *other = NULL;
	void *made = MAP_FAILED;

	if (!sparse_can_have(s, number))
		return fail(cx, -EINVAL, "number %" PRIu64 " in a set of "
			    "numbers below %" PRIu64, number, s->bits);
	*word = sparse_find_word(s, number);
	if (*word)
		return 0;
	slot = sparse_slot(s, number);
	if (__atomic_add_fetch(&s->allocated, CHUNK_BYTES, __ATOMIC_RELAXED) <=
	    s->max_memory)
		made = mmap(NULL, CHUNK_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (made == MAP_FAILED ||
	    !__atomic_compare_exchange_n(slot, &other, (uint64_t *)made, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		if (made != MAP_FAILED)
			munmap(made, CHUNK_BYTES);
		__atomic_sub_fetch(&s->allocated, CHUNK_BYTES, __ATOMIC_RELAXED);
	}
	*word = sparse_find_word(s, number);
	if (!*word)
		return fail(cx, -ENOMEM, "set of %" PRIu64 " numbers", s->bits);
	return 0;
}

int sparse_add(struct sparse *s, struct context *cx, uint64_t number)
{
	uint64_t *word, bit = UINT64_C(1) << number % 64;
	int err = sparse_need_word(s, cx, number, &word);

	if (err)
		return err;
	return !(__atomic_fetch_or(word, bit, __ATOMIC_RELAXED) & bit);
}

int sparse_add_word(struct sparse *s, struct context *cx, uint64_t first,
		    uint64_t bits, uint64_t *had)
{
	uint64_t *word;
	int err;

	*had = 0;
	if (!bits)
		return 0;
	err = sparse_need_word(s, cx, first + 63 - (uint64_t)__builtin_clzll(bits),
			       &word);
	if (!err)
		*had = bits & __atomic_fetch_or(word, bits, __ATOMIC_RELAXED);
	return err;
}

uint32_t sparse_add_run(struct sparse *s, uint64_t first, uint32_t count)
{
	uint64_t *word, at, mask, had;
	uint32_t done = 0, n;
	bool whole = true;

	while (whole && done < count && first + done < s->bits) {
		at = first + done;
		word = sparse_find_word(s, at);
		if (!word)
			break;
		n = 64 - at % 64;
		if (n > count - done)
			n = count - done;
		if (n > s->bits - at)
			n = (uint32_t)(s->bits - at);
		mask = (n < 64 ? (1ull << n) - 1 : UINT64_MAX) << (at % 64);
		/* Only numbers below the first one that is already in the word. */
		had = __atomic_load_n(word, __ATOMIC_RELAXED) & mask;
		whole = !had;
		if (had)
			mask &= (had & -had) - 1;
		if (!mask)
			break;
		had = __atomic_fetch_or(word, mask, __ATOMIC_RELAXED) & mask;
		if (had) {
			/* Another thread has changed the word in the meantime. */
			__atomic_fetch_and(word, ~(mask & ~had),
					   __ATOMIC_RELAXED);
			break;
		}
		done += (uint32_t)__builtin_popcountll(mask);
	}
	return done;
}

uint64_t sparse_word(const struct sparse *s, uint64_t first)
{
	const uint64_t *word = sparse_find_word(s, first);

	return word ? __atomic_load_n(word, __ATOMIC_RELAXED) : 0;
}

uint64_t sparse_remove_word(struct sparse *s, uint64_t first, uint64_t bits)
{
	uint64_t *word = bits ? sparse_find_word(s, first) : NULL;

	return word ? __atomic_fetch_and(word, ~bits, __ATOMIC_RELAXED) & bits : 0;
}

uint64_t sparse_count(const struct sparse *s)
{
	uint64_t i, j, count = 0;

	for (i = 0; i < s->nchunks; i++)
		for (j = 0; s->chunks[i] && j < CHUNK_WORDS; j++)
			count += (uint64_t)__builtin_popcountll(
				s->chunks[i][j]);
	return count;
}

/* The first member of a chunk from OFFSET on, or SPARSE_CHUNK_BITS. */
static uint64_t next_in_chunk(const uint64_t *chunk, uint64_t offset)
{
	uint64_t i = offset / 64, word;

	if (!chunk)
		return SPARSE_CHUNK_BITS;
	word = chunk[i] & UINT64_MAX << (offset % 64);
	while (!word) {
		if (++i == CHUNK_WORDS)
			return SPARSE_CHUNK_BITS;
		word = chunk[i];
	}
	return i * 64 + (uint64_t)__builtin_ctzll(word);
}

uint64_t sparse_next(const struct sparse *s, uint64_t from, uint64_t end)
{
	uint64_t most = end < s->bits ? end : s->bits, found;

	while (from < most) {
		found = from - from % SPARSE_CHUNK_BITS +
			next_in_chunk(s->chunks[from / SPARSE_CHUNK_BITS],
				      from % SPARSE_CHUNK_BITS);
		if (found / SPARSE_CHUNK_BITS == from / SPARSE_CHUNK_BITS)
			return found < end ? found : end;
		from = found;
	}
	return end;
}

void sparse_trim(struct sparse *s)
{
	uint64_t i;

	for (i = 0; i < s->nchunks && s->allocated; i++)
		if (s->chunks[i] &&
		    next_in_chunk(s->chunks[i], 0) == SPARSE_CHUNK_BITS)
			free_chunk(s, i);
}
