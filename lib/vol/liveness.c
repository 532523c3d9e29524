// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * How many blocks of each segment are live, and for whom.
 *
 * Counts are kept in chunks that exist only where something was counted, so
 * memory follows what is used of a volume.  Entries of the DAT that follow
 * one another mostly point into the same segment: each worker gathers such a
 * run before it adds to the shared counts.
 */
#include "vol/liveness.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/checked.h"
#include "base/search.h"
#include "vol/cptable.h"
#include "vol/datscan.h"
#include "vol/volume.h"

#define CHUNK_SEGMENTS 1024u

/* What a worker has gathered for one segment. */
struct run {
	uint64_t start, end;	/* blocks of the segment */
	uint64_t segnum;
	struct liveness_counts counts;
	uint64_t entries, strays;
};

struct counter {
	struct volume *vol;
	struct liveness *l;
	struct run *runs;	/* one a worker */
};

/* The chunk of SEGNUM, made by whoever needs it first. */
static struct liveness_counts *chunk_of(struct liveness *l,
					struct context *cx, uint64_t segnum)
{
	struct liveness_counts **slot = &l->chunks[segnum / CHUNK_SEGMENTS];
	struct liveness_counts *chunk, *expected = NULL;

	chunk = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
	if (chunk)
		return chunk;
	chunk = calloc(CHUNK_SEGMENTS, sizeof(*chunk));
	if (!chunk) {
		fail(cx, -ENOMEM, "counts of segments");
		return NULL;
	}
	if (__atomic_compare_exchange_n(slot, &expected, chunk, false,
					__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return chunk;
	free(chunk);
	return expected;
}

static int add_counts(struct liveness *l, struct context *cx, uint64_t segnum,
		      const struct liveness_counts *add)
{
	struct liveness_counts *chunk = chunk_of(l, cx, segnum), *c;

	if (!chunk)
		return -ENOMEM;
	c = &chunk[segnum % CHUNK_SEGMENTS];
	__atomic_fetch_add(&c->current, add->current, __ATOMIC_RELAXED);
	__atomic_fetch_add(&c->snapshot, add->snapshot, __ATOMIC_RELAXED);
	__atomic_fetch_add(&c->protected, add->protected, __ATOMIC_RELAXED);
	return 0;
}

static int flush_run(struct counter *c, struct context *cx, struct run *run)
{
	int err = 0;

	if (run->end)
		err = add_counts(c->l, cx, run->segnum, &run->counts);
	memset(&run->counts, 0, sizeof(run->counts));
	return err;
}

static int move_run(struct counter *c, struct context *cx, struct run *run,
		    uint64_t blocknr)
{
	const struct nilfs_geometry *geo = &c->vol->geo;
	int err = flush_run(c, cx, run);

	run->segnum = geometry_segment_of(geo, blocknr);
	run->start = geometry_segment_start(geo, run->segnum);
	run->end = geometry_segment_end(geo, run->segnum);
	return err;
}

static bool in_snapshot(const struct liveness *l, uint64_t start, uint64_t end)
{
	size_t i = search_lower_bound(l->snapshots, l->nsnapshots, start);

	return i < l->nsnapshots && l->snapshots[i] < end;
}

static inline enum liveness_kind classify(const struct liveness *l,
					  uint64_t start, uint64_t end)
{
	if (end == NILFS_CNO_MAX)
		return LIVENESS_CURRENT;
	if (start >= end)
		return LIVENESS_DEAD;
	if (in_snapshot(l, start, end))
		return LIVENESS_SNAPSHOT;
	return end > l->protect_cno ? LIVENESS_PROTECTED : LIVENESS_DEAD;
}

enum liveness_kind liveness_of_entry(const struct liveness *l,
				     const struct nilfs_dat_entry *de)
{
	return classify(l, le64_get(de->de_start), le64_get(de->de_end));
}

/*
 * Counts the entries from I on up to one that lies outside the run's segment,
 * and returns which that is: the loop that all of the DAT goes through.
 */
static uint32_t count_within(const struct liveness *l, struct run *run,
			     const struct datscan_block *block, uint32_t i)
{
	uint64_t start = run->start, blocks = run->end - start;
	struct liveness_counts counts = run->counts;
	uint64_t entries = 0;

	for (; i < block->count; i++) {
		const struct nilfs_dat_entry *de = datscan_entry(block, i);
		uint64_t blocknr = le64_get(de->de_blocknr);
		enum liveness_kind kind;

		if (!datscan_is_used(block, i) || !blocknr)
			continue;
		if (blocknr - start >= blocks)
			break;
		entries++;
		kind = classify(l, le64_get(de->de_start),
				le64_get(de->de_end));
		counts.current += kind == LIVENESS_CURRENT;
		counts.snapshot += kind == LIVENESS_SNAPSHOT;
		counts.protected += kind == LIVENESS_PROTECTED;
	}
	run->entries += entries;
	run->counts = counts;
	return i;
}

static int count_entries(void *arg, struct context *cx, unsigned int worker,
			 const struct datscan_block *block)
{
	struct counter *c = arg;
	struct run *run = &c->runs[worker];
	uint32_t i = 0;

	while ((i = count_within(c->l, run, block, i)) < block->count) {
		uint64_t blocknr = le64_get(datscan_entry(block, i)->de_blocknr);

		if (!geometry_has_block(&c->vol->geo, blocknr)) {
			run->entries++;
			run->strays++;
			i++;
		} else if (move_run(c, cx, run, blocknr)) {
			return -ENOMEM;
		}
	}
	return 0;
}

static int count_own_block(void *arg, struct context *cx, uint64_t blocknr)
{
	const struct liveness_counts one = { .current = 1 };
	struct counter *c = arg;

	return add_counts(c->l, cx,
			  geometry_segment_of(&c->vol->geo, blocknr), &one);
}

static int make_liveness(struct volume *vol, struct context *cx,
			 struct liveness **lp)
{
	struct liveness *l = calloc(1, sizeof(*l));
	uint64_t nchunks = div_round_up(vol->geo.nsegments, CHUNK_SEGMENTS);

	if (!l || nchunks > cx->max_memory / sizeof(*l->chunks))
		goto nomem;
	l->chunks = calloc(nchunks, sizeof(*l->chunks));
	if (!l->chunks)
		goto nomem;
	l->nchunks = nchunks;
	*lp = l;
	return 0;
nomem:
	free(l);
	return fail(cx, -ENOMEM, "table of %llu segments",
		    (unsigned long long)vol->geo.nsegments);
}

static int count(struct counter *c, struct context *cx)
{
	const struct datscan_visitor visitor = {
		.entries = count_entries,
		.own_block = count_own_block,
		.arg = c,
	};
	unsigned int i;
	int err;

	err = datscan_run(c->vol, cx, &visitor);
	for (i = 0; i < cx->threads && !err; i++) {
		err = flush_run(c, cx, &c->runs[i]);
		c->l->entries += c->runs[i].entries;
		c->l->strays += c->runs[i].strays;
	}
	return err;
}

int liveness_count(struct volume *vol, struct context *cx,
		   uint64_t protect_cno, struct liveness **lp)
{
	struct counter c = { .vol = vol };
	int err;

	err = make_liveness(vol, cx, &c.l);
	if (err)
		return err;
	c.l->protect_cno = protect_cno;
	err = cptable_list(vol, cx, true, &c.l->snapshots, &c.l->nsnapshots);
	if (err)
		goto out;
	c.runs = calloc(cx->threads, sizeof(*c.runs));
	if (!c.runs)
		err = fail(cx, -ENOMEM, "counts of segments");
	else
		err = count(&c, cx);
out:
	free(c.runs);
	if (err)
		liveness_free(c.l);
	else
		*lp = c.l;
	return err;
}

void liveness_free(struct liveness *l)
{
	uint64_t i;

	if (!l)
		return;
	for (i = 0; i < l->nchunks; i++)
		free(l->chunks[i]);
	free(l->chunks);
	free(l->snapshots);
	free(l);
}

struct liveness_counts liveness_of(const struct liveness *l, uint64_t segnum)
{
	static const struct liveness_counts none;
	uint64_t i = segnum / CHUNK_SEGMENTS;

	if (i >= l->nchunks || !l->chunks[i])
		return none;
	return l->chunks[i][segnum % CHUNK_SEGMENTS];
}
