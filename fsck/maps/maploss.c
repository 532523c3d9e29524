// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Losses of maps, two lists that are made in order and then searched.
 *
 * Contested virtual blocks: a sorted list, built once and then searched.
 *
 * If two pointers lead to one block one of them is wrong.  The map does not
 * show which; the log of the block does, since it lists the file and the offset
 * for which it was written.
 *
 * Runs of blocks that were found.
 *
 * Logs list the blocks of a file mostly in order, so runs are few even for
 * files of many blocks.  Two runs overlap if a block was lost without being
 * ended, or if a log and a checkpoint have the same one; then the worse one is
 * truncated.  The rest of it is examined again, so that finally no two overlap.
 */
#include "fsck/maps/maploss.h"

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

static int insert_run(struct mapfound *f, struct context *cx, size_t at,
		      const struct mapfound_run *run)
{
	if (array_reserve(cx, &f->runs, &f->room, f->n + 1))
		return -ENOMEM;
	memmove(f->runs + at + 1, f->runs + at, (f->n - at) * sizeof(*f->runs));
	f->runs[at] = *run;
	f->n++;
	return 0;
}

int mapfound_add(struct mapfound *f, struct context *cx,
		 const struct mapfound_run *run)
{
	if (f->n == f->settled || !goes_on(&f->runs[f->n - 1], run))
		return insert_run(f, cx, f->n, run);
	f->runs[f->n - 1].count += run->count;
	return 0;
}

static int compare_runs(const void *a, const void *b)
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
	while (at < f->n && compare_runs(&f->runs[at], run) < 0)
		at++;
	return insert_run(f, cx, at, run);
}

/*
 * Cuts the worse of the runs AT - 1 and AT, which overlap.  Where a run is
 * used up it has no blocks any more.
 */
static int cut_worse(struct mapfound *f, struct context *cx, size_t at)
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

	sort_in_place(f->runs, f->n, sizeof(*f->runs), compare_runs);
	for (i = 1; i < f->n && !err; i++) {
		close_up(f, i);
		if (f->runs[i].count && f->runs[i - 1].ino == f->runs[i].ino &&
		    end_of(&f->runs[i - 1]) > f->runs[i].blkoff)
			err = cut_worse(f, cx, i);
	}
	drop_empty(f);
	f->settled = f->n;
	return err;
}

struct run_spot {
	uint64_t ino, blkoff;
};

static bool ends_before(const void *item, const void *key)
{
	const struct mapfound_run *run = item;
	const struct run_spot *run_spot = key;

	return run->ino < run_spot->ino ||
	       (run->ino == run_spot->ino && end_of(run) <= run_spot->blkoff);
}

size_t mapfound_find(const struct mapfound *f, uint64_t ino, uint64_t blkoff)
{
	return search_first(f->runs, f->settled, sizeof(*f->runs), ends_before,
			    &(struct run_spot){ ino, blkoff });
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

static int compare_block(const void *a, const void *b)
{
	const struct contested_block *x = a, *y = b;

	return x->vblocknr < y->vblocknr ? -1 : x->vblocknr > y->vblocknr;
}

int contested_add(struct contested *c, struct context *cx, uint64_t vblocknr)
{
	if (array_reserve(cx, &c->list, &c->room, c->n + 1))
		return -ENOMEM;
	c->list[c->n++] = (struct contested_block){ .vblocknr = vblocknr };
	return 0;
}

void contested_settle(struct contested *c)
{
	size_t i, kept = 0;

	sort_in_place(c->list, c->n, sizeof(*c->list), compare_block);
	for (i = 0; i < c->n; i++)
		if (!kept || c->list[kept - 1].vblocknr != c->list[i].vblocknr)
			c->list[kept++] = c->list[i];
	c->n = kept;
}

struct contested_block *contested_find(const struct contested *c,
				       uint64_t vblocknr)
{
	const struct contested_block key = { .vblocknr = vblocknr };

	if (!c->n)
		return NULL;
	return bsearch(&key, c->list, c->n, sizeof(key), compare_block);
}

void contested_fini(struct contested *c)
{
	free(c->list);
	*c = (struct contested){ .list = NULL };
}

int maploss_add_point(struct maploss *l, struct context *cx,
		      const struct maploss_point *point)
{
	if (array_reserve(cx, &l->points, &l->points_room, l->npoints + 1))
		return -ENOMEM;
	l->points[l->npoints++] = *point;
	return 0;
}

int maploss_add_gap(struct maploss *l, struct context *cx,
		    const struct maploss_gap *gap)
{
	if (gap->blkoff >= gap->end)
		return 0;
	if (array_reserve(cx, &l->gaps, &l->gaps_room, l->ngaps + 1))
		return -ENOMEM;
	l->gaps[l->ngaps++] = *gap;
	return 0;
}

void maploss_fini(struct maploss *l)
{
	free(l->points);
	free(l->gaps);
	*l = (struct maploss){ .points = NULL };
}

/* A block of a file. */
struct spot {
	uint64_t ino, blkoff;
};

static bool is_point_before(const void *item, const void *key)
{
	const struct maploss_point *p = item;
	const struct spot *spot = key;

	return p->ino < spot->ino ||
	       (p->ino == spot->ino && p->blkoff < spot->blkoff);
}

/* The first point at or after block BLKOFF of inode INO. */
static size_t find_point(const struct maploss *l, uint64_t ino,
			 uint64_t blkoff)
{
	return search_first(l->points, l->npoints, sizeof(*l->points),
			    is_point_before, &(struct spot){ ino, blkoff });
}

static bool is_gap_before(const void *item, const void *key)
{
	const struct maploss_gap *g = item;
	const struct spot *spot = key;

	return g->ino < spot->ino ||
	       (g->ino == spot->ino && g->end <= spot->blkoff);
}

/* The first gap that ends after block BLKOFF of inode INO. */
static size_t find_gap(const struct maploss *l, uint64_t ino, uint64_t blkoff)
{
	return search_first(l->gaps, l->ngaps, sizeof(*l->gaps), is_gap_before,
			    &(struct spot){ ino, blkoff });
}

size_t maploss_first_point(const struct maploss *l, uint64_t ino)
{
	return find_point(l, ino, 0);
}

size_t maploss_first_gap(const struct maploss *l, uint64_t ino)
{
	return find_gap(l, ino, 0);
}

const struct maploss_point *maploss_point(const struct maploss *l,
					  uint64_t ino, uint64_t blkoff)
{
	size_t i = find_point(l, ino, blkoff);
	const struct maploss_point *p = &l->points[i];

	if (i == l->npoints || p->ino != ino || p->blkoff != blkoff)
		return NULL;
	return p;
}

bool maploss_has(const struct maploss *l, uint64_t ino, uint64_t blkoff)
{
	size_t i = find_gap(l, ino, blkoff);

	if (i < l->ngaps && l->gaps[i].ino == ino &&
	    l->gaps[i].blkoff <= blkoff)
		return true;
	return maploss_point(l, ino, blkoff);
}
