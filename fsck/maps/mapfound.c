// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs of blocks that were found.
 *
 * Logs list the blocks of a file mostly one after the other, so runs are few
 * even for files of many blocks.  Two runs overlap where somebody has lost a
 * block without ending it, or where a log and a checkpoint have the same; then
 * the worse one is cut.  What is left of it goes back among those that are
 * still to be looked at, so that in the end no two overlap.
 */
#include "fsck/maps/mapfound.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"

static uint64_t end_of(const struct mapfound_run *run)
{
	return run->blkoff + run->count;
}

/* True where RUN is what comes after LAST. */
static bool goes_on(const struct mapfound_run *last,
		    const struct mapfound_run *run)
{
	return last->ino == run->ino && end_of(last) == run->blkoff &&
	       last->cno == run->cno && last->seq == run->seq &&
	       last->blocknr + last->count == run->blocknr &&
	       (last->vblocknr ?
			last->vblocknr + last->count == run->vblocknr :
			!run->vblocknr);
}

static int insert(struct mapfound *f, struct context *cx, size_t at,
		  const struct mapfound_run *run)
{
	struct mapfound_run *runs = array_grow(cx, f->runs, &f->room,
					       f->n + 1, sizeof(*runs));

	if (!runs)
		return -ENOMEM;
	f->runs = runs;
	memmove(runs + at + 1, runs + at, (f->n - at) * sizeof(*runs));
	runs[at] = *run;
	f->n++;
	return 0;
}

int mapfound_add(struct mapfound *f, struct context *cx,
		 const struct mapfound_run *run)
{
	if (f->n == f->settled || !goes_on(&f->runs[f->n - 1], run))
		return insert(f, cx, f->n, run);
	f->runs[f->n - 1].count += run->count;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct mapfound_run *x = a, *y = b;

	if (x->ino != y->ino)
		return x->ino < y->ino ? -1 : 1;
	return x->blkoff < y->blkoff ? -1 : x->blkoff > y->blkoff;
}

static bool is_better(const struct mapfound_run *a,
		      const struct mapfound_run *b)
{
	if (!a->vblocknr != !b->vblocknr)
		return a->vblocknr;
	if (!a->cno != !b->cno)
		return !a->cno;
	if (a->cno != b->cno)
		return a->cno > b->cno;
	return a->seq != b->seq ? a->seq > b->seq : a->blocknr > b->blocknr;
}

/* RUN without its first N blocks. */
static struct mapfound_run tail_of(const struct mapfound_run *run, uint64_t n)
{
	struct mapfound_run tail = *run;

	tail.blkoff += n;
	tail.blocknr += n;
	tail.count -= n;
	if (tail.vblocknr)
		tail.vblocknr += n;
	return tail;
}

/* Puts RUN among those from AT on, which are sorted. */
static int put_back(struct mapfound *f, struct context *cx, size_t at,
		    const struct mapfound_run *run)
{
	while (at < f->n && compare(&f->runs[at], run) < 0)
		at++;
	return insert(f, cx, at, run);
}

/*
 * Cuts the worse of the runs AT - 1 and AT, which overlap.  Where a run is
 * used up it has no blocks any more.
 */
static int cut(struct mapfound *f, struct context *cx, size_t at)
{
	struct mapfound_run *a = &f->runs[at - 1], *b = &f->runs[at];
	struct mapfound_run rest = { .count = 0 };

	if (is_better(b, a)) {
		if (end_of(a) > end_of(b))
			rest = tail_of(a, end_of(b) - a->blkoff);
		a->count = b->blkoff - a->blkoff;
	} else {
		if (end_of(b) > end_of(a))
			rest = tail_of(b, end_of(a) - b->blkoff);
		b->count = 0;
	}
	return rest.count ? put_back(f, cx, at + 1, &rest) : 0;
}

static void drop_empty(struct mapfound *f)
{
	size_t i, kept = 0;

	for (i = 0; i < f->n; i++)
		if (f->runs[i].count)
			f->runs[kept++] = f->runs[i];
	f->n = kept;
}

/* The run before AT that has blocks, moved next to it. */
static void close_up(struct mapfound *f, size_t at)
{
	size_t i = at;
	struct mapfound_run empty;

	while (i && !f->runs[i - 1].count)
		i--;
	if (!i || i == at)
		return;
	empty = f->runs[at - 1];
	f->runs[at - 1] = f->runs[i - 1];
	f->runs[i - 1] = empty;
}

int mapfound_settle(struct mapfound *f, struct context *cx)
{
	size_t i;
	int err = 0;

	sort_in_place(f->runs, f->n, sizeof(*f->runs), compare);
	for (i = 1; i < f->n && !err; i++) {
		close_up(f, i);
		if (f->runs[i].count && f->runs[i - 1].ino == f->runs[i].ino &&
		    end_of(&f->runs[i - 1]) > f->runs[i].blkoff)
			err = cut(f, cx, i);
	}
	drop_empty(f);
	f->settled = f->n;
	return err;
}

struct spot {
	uint64_t ino, blkoff;
};

static bool ends_before(const void *item, const void *key)
{
	const struct mapfound_run *run = item;
	const struct spot *spot = key;

	return run->ino < spot->ino ||
	       (run->ino == spot->ino && end_of(run) <= spot->blkoff);
}

size_t mapfound_find(const struct mapfound *f, uint64_t ino, uint64_t blkoff)
{
	return search_first(f->runs, f->settled, sizeof(*f->runs), ends_before,
			    &(struct spot){ ino, blkoff });
}

bool mapfound_has(const struct mapfound *f, uint64_t ino, uint64_t blkoff)
{
	size_t i = mapfound_find(f, ino, blkoff);

	return i < f->settled && f->runs[i].ino == ino &&
	       f->runs[i].blkoff <= blkoff;
}

void mapfound_fini(struct mapfound *f)
{
	free(f->runs);
	*f = (struct mapfound){ .runs = NULL };
}
