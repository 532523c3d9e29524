// SPDX-License-Identifier: GPL-2.0-or-later
/* Sets that cost memory where they have members; many threads at once. */
#include "config.h"

#include "base/sparse.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "tap.h"

#define CHUNK ((uint64_t)SPARSE_CHUNK_BITS)
#define CHUNK_BYTES (SPARSE_CHUNK_BITS / 8)

static struct context cx;

/* The same set as plain bytes. */
#define MODEL_BITS 300000u
static unsigned int next_random(unsigned int *state)
{
	*state = *state * 1103515245u + 12345u;
	return *state >> 8;
}

static uint64_t model_next(const char *model, uint64_t from)
{
	while (from < MODEL_BITS && !model[from])
		from++;
	return from;
}

/* Runs of all lengths, up to the first number that is there already. */
static void test_runs(void)
{
	char *model = calloc(MODEL_BITS + 300, 1);
	unsigned int wrong = 0, state = 7, i;
	struct sparse s;

	if (!model || sparse_init(&s, &cx, MODEL_BITS))
		exit(99);
	is_int(sparse_add_run(&s, 5, 3), 0, "no run where there is no chunk");
	for (i = 0; i < MODEL_BITS; i += 1000)
		model[i] = sparse_add(&s, &cx, i) == 1;
	memset(model + MODEL_BITS, 1, 300);
	for (i = 0; i < 4000; i++) {
		uint32_t first = next_random(&state) % MODEL_BITS;
		uint32_t count = next_random(&state) % 300, n = 0;

		while (n < count && !model[first + n])
			model[first + n++] = 1;
		wrong += sparse_add_run(&s, first, count) != n;
	}
	for (i = 0; i < MODEL_BITS; i++)
		wrong += sparse_test(&s, i) != model[i];
	is_int(wrong, 0, "runs end where a row of bytes says");
	is_int(sparse_add_run(&s, MODEL_BITS + 9, 2), 0, "none past the end");
	sparse_fini(&s);
	free(model);
}

/* Memory without members goes, members stay. */
static void test_trim(void)
{
	struct sparse s;
	uint64_t i;

	if (sparse_init(&s, &cx, 4 * CHUNK))
		exit(99);
	for (i = 0; i < 4; i++)
		sparse_add(&s, &cx, i * CHUNK + i);
	sparse_remove(&s, CHUNK + 1);
	sparse_remove(&s, 3 * CHUNK + 3);
	sparse_trim(&s);
	is_int(s.allocated, 2 * CHUNK_BYTES, "two chunks of four are empty");
	ok(sparse_test(&s, 0) && sparse_test(&s, 2 * CHUNK + 2),
	   "the members of the others stay");
	is_int(sparse_add(&s, &cx, CHUNK + 5), 1, "one can be added again");
	is_int(sparse_count(&s), 3, "and is counted");
	sparse_fini(&s);
}

static void test_model(void)
{
	char *model = calloc(MODEL_BITS, 1);
	unsigned int wrong = 0, state = 1, i;
	uint64_t count = 0, n, end;
	struct sparse s;

	is_int(sparse_init(&s, &cx, MODEL_BITS), 0, "a set");
	for (i = 0; i < 400000; i++) {
		n = next_random(&state) % MODEL_BITS;
		if (n / CHUNK == 2)
			continue;
		wrong += sparse_test(&s, n) != model[n];
		if (next_random(&state) % 3) {
			wrong += sparse_add(&s, &cx, n) != !model[n];
			model[n] = 1;
		} else {
			wrong += sparse_remove(&s, n) != model[n];
			model[n] = 0;
		}
	}
	for (n = 0; n < MODEL_BITS; n++)
		count += (uint64_t)model[n];
	is_int(wrong, 0, "adds, takes out and tests as a row of bytes does");
	is_int(sparse_count(&s), count, "counts");
	for (n = 0; n < MODEL_BITS; n += 1 + next_random(&state) % 40)
		wrong += sparse_next(&s, n, s.bits) != model_next(model, n);
	wrong += sparse_next(&s, 2 * CHUNK, s.bits) !=
		 model_next(model, 2 * CHUNK);
	is_int(wrong, 0, "and finds the next member");
	for (n = 0; n < MODEL_BITS; n += 1 + next_random(&state) % 40) {
		end = n + next_random(&state) % (CHUNK * 3 / 2);
		wrong += sparse_next(&s, n, end) !=
			 (model_next(model, n) < end ? model_next(model, n) :
						       end);
	}
	is_int(wrong, 0, "but none after the end of the search");
	sparse_fini(&s);
	free(model);
}

static void test_edges(void)
{
	const uint64_t bits = 5 * CHUNK + 3;
	struct sparse s;

	sparse_init(&s, &cx, bits);
	is_int(s.allocated, 0, "an empty set has no chunk");
	is_int(sparse_next(&s, 0, bits), bits, "and no first member");
	ok(!sparse_remove(&s, 7) && !sparse_test(&s, 7), "nor any other");
	is_int(sparse_add(&s, &cx, bits - 1), 1, "the last number");
	is_int(sparse_next(&s, 0, bits), bits - 1, "is the first member");
	is_int(s.allocated, CHUNK_BYTES, "and costs one chunk");
	is_int(sparse_add(&s, &cx, bits), -EINVAL, "there is no number more");
	is_int(sparse_add(&s, &cx, UINT64_MAX), -EINVAL, "however large");
	ok(!sparse_test(&s, bits) && !sparse_test(&s, UINT64_MAX) &&
	   !sparse_remove(&s, UINT64_MAX), "those may be asked about");
	is_int(sparse_next(&s, bits - 1, bits), bits - 1, "a search includes its start");
	is_int(sparse_next(&s, UINT64_MAX, bits), bits, "and ends at the end");
	sparse_add(&s, &cx, 63);
	sparse_add(&s, &cx, 64);
	is_int(sparse_next(&s, 64, bits), 64, "numbers at the edge of a word");
	is_int(sparse_next(&s, 65, bits), bits - 1, "do not spill into the next");
	sparse_clear(&s);
	is_int(sparse_count(&s), 0, "cleared it is empty");
	is_int(s.allocated, 0, "and has given its memory back");
	is_int(sparse_add(&s, &cx, 63), 1, "and takes members again");
	sparse_fini(&s);
	sparse_fini(&s);
	is_int(sparse_init(&s, &cx, 0), 0, "a set of nothing");
	is_int(sparse_add(&s, &cx, 0), -EINVAL, "takes nothing");
	sparse_fini(&s);
}

static void test_words(void)
{
	const uint64_t bits = CHUNK + 70;
	struct sparse s;
	uint64_t had;

	sparse_init(&s, &cx, bits);
	sparse_add(&s, &cx, 65);
	is_int(sparse_add_word(&s, &cx, 64, 0x8000000000000007, &had), 0,
	       "several numbers at once");
	is_int(had, 2, "of which one was there");
	is_int(sparse_count(&s), 4, "and the others are now");
	ok(sparse_test(&s, 64) && sparse_test(&s, 66) && sparse_test(&s, 127),
	   "each at its place");
	is_int(sparse_add_word(&s, &cx, CHUNK + 64, 0x20, &had), 0,
	       "up to the last number");
	is_int(had, 0, "in a chunk of its own");
	is_int(sparse_add_word(&s, &cx, CHUNK + 64, 0x41, &had), -EINVAL,
	       "and no further");
	is_int(sparse_count(&s), 5, "not even in part");
	is_int(sparse_add_word(&s, &cx, UINT64_MAX - 63, 0, &had), 0,
	       "nothing can be added anywhere");
	is_int(sparse_word(&s, 64), 0x8000000000000007, "a word of them");
	sparse_remove_word(&s, 64, 0x8000000000000011);
	is_int(sparse_word(&s, 64), 6, "from which some are taken out");
	sparse_remove_word(&s, 2 * CHUNK, 1);
	is_int(sparse_word(&s, 0) | sparse_word(&s, 2 * CHUNK), 0,
	       "elsewhere there are none");
	is_int(sparse_count(&s), 3, "nor are any made");
	sparse_fini(&s);
}

static void test_budget(void)
{
	struct context small = cx;
	struct sparse s;

	small.max_memory = 2 * CHUNK_BYTES;
	is_int(sparse_init(&s, &small, UINT64_MAX), -ENOMEM,
	       "a directory past the budget");
	sparse_fini(&s);
	sparse_init(&s, &small, 10 * CHUNK);
	is_int(sparse_add(&s, &small, 0), 1, "one chunk");
	is_int(sparse_add(&s, &small, 9 * CHUNK), 1, "another");
	is_int(sparse_add(&s, &small, 5 * CHUNK), -ENOMEM,
	       "a third is past the budget");
	is_int(sparse_add(&s, &small, 1), 1, "the others take members still");
	is_int(sparse_count(&s), 3, "and nothing else is a member");
	sparse_fini(&s);
}

/*
 * Every job adds all numbers, in the same order so that threads meet in the
 * same words: each must be new to exactly one.  The same then for taking them
 * out, and for numbers of their own that share words with others.
 */
#define JOBS 4u
#define NUMBERS (4u << 16)

struct race {
	struct sparse s;
	atomic_uint added, removed, started;
};

/* Starts together, as far as there are threads. */
static void await_others(struct race *r)
{
	unsigned int i;

	r->started++;
	for (i = 0; i < 1000000 && r->started % 2; i++)
		;
}

static int add_all(struct context *worker, void *arg, unsigned int id,
		   uint64_t job)
{
	struct race *r = arg;
	unsigned int added = 0;
	uint64_t i;

	(void)id;
	(void)job;
	await_others(r);
	for (i = 0; i < NUMBERS; i++)
		added += sparse_add(&r->s, worker, i) == 1;
	r->added += added;
	return 0;
}

static int remove_all(struct context *worker, void *arg, unsigned int id,
		      uint64_t job)
{
	struct race *r = arg;
	unsigned int removed = 0;
	uint64_t i;

	(void)worker;
	(void)id;
	(void)job;
	await_others(r);
	for (i = 0; i < NUMBERS; i++)
		removed += sparse_remove(&r->s, i);
	r->removed += removed;
	return 0;
}

static int add_own(struct context *worker, void *arg, unsigned int id,
		   uint64_t job)
{
	struct race *r = arg;
	uint64_t i;

	(void)id;
	await_others(r);
	for (i = job; i < NUMBERS; i += JOBS)
		sparse_add(&r->s, worker, i);
	return 0;
}

static void test_threads(void)
{
	struct race r = { .added = 0 };
	unsigned int wrong = 0, round;

	cx.threads = JOBS;
	for (round = 0; round < 20; round++) {
		r.added = r.removed = 0;
		sparse_init(&r.s, &cx, NUMBERS);
		pool_run(&cx, JOBS, add_all, &r);
		wrong += r.added != NUMBERS;
		wrong += sparse_count(&r.s) != NUMBERS;
		wrong += r.s.allocated != NUMBERS / CHUNK * CHUNK_BYTES;
		pool_run(&cx, JOBS, remove_all, &r);
		wrong += r.removed != NUMBERS || sparse_count(&r.s) != 0;
		pool_run(&cx, JOBS, add_own, &r);
		wrong += sparse_count(&r.s) != NUMBERS;
		sparse_fini(&r.s);
	}
	is_int(wrong, 0, "a number is new to one thread, gone to one thread");
}

static void test_ends(void)
{
	const uint64_t first = UINT64_MAX - SPARSE_CHUNK_BITS + 1;
	struct sparse s;

	is_int(sparse_init(&s, &cx, 100), 0, "a set without ends");
	is_int(sparse_add(&s, &cx, UINT64_MAX), -EINVAL, "has none");
	ok(!sparse_can_have(&s, first) && !sparse_test(&s, UINT64_MAX), "nor first");
	sparse_fini(&s);
	is_int(sparse_init_ends(&s, &cx, SPARSE_CHUNK_BITS), 0, "a set with ends");
	is_int(sparse_add(&s, &cx, UINT64_MAX), 1, "has the last number");
	is_int(sparse_add(&s, &cx, UINT64_MAX), 0, "once");
	is_int(sparse_add(&s, &cx, first), 1, "and the first of its chunk");
	is_int(sparse_add(&s, &cx, first - 1), -EINVAL, "not the one before");
	is_int(sparse_add(&s, &cx, SPARSE_CHUNK_BITS), -EINVAL,
	       "nor one after the bits");
	ok(!sparse_test(&s, SPARSE_CHUNK_BITS - 1) && !sparse_test(&s, 0),
	   "which are other numbers");
	is_int(sparse_count(&s), 2, "both are counted");
	ok(sparse_remove(&s, first) && !sparse_test(&s, first), "removed");
	ok(sparse_test(&s, UINT64_MAX), "alone");
	sparse_fini(&s);
}

int main(void)
{
	context_init(&cx);
	test_ends();
	test_model();
	test_runs();
	test_trim();
	test_edges();
	test_words();
	test_budget();
	test_threads();
	return tap_done();
}
