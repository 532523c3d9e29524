// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The listings of all logs.
 *
 * The logs of all segments are read once, in the order of the device.  A list
 * grows to twice the number of blocks in it, and is then reduced to the newest
 * of each; so memory does not depend on the history in the logs.
 *
 * Only logs of a segment's present life count: a number in an older one may
 * have been reused.
 */
#include "check/logs/listings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "check/check.h"
#include "check/logs/lifelogs.h"

#define FIRST_CUT 4096u

enum what {
	FILE_BLOCKS,		/* data of a metadata file, */
	OWNED,			/* virtual blocks of inodes, */
	WANTED,			/* virtual blocks of a set, */
	RANGE,			/* or of a range, */
	VISITED,		/* or all, which are not collected */
};

struct gather {
	struct listings *l;
	const struct check *c;
	enum what what;
	uint64_t ino;			/* of the first */
	const uint64_t *inos;		/* of the second, ascending */
	size_t ninos;
	const struct sparse *wanted;
	uint64_t from, end;		/* of the range */
	listings_visitor *visit;	/* of the last */
	void *arg;
	size_t cut;			/* items with which to cut */
	size_t most;			/* items that the budget has room for */
};

/* By number; of one number the one to be believed first. */
static int compare_listing(const void *a, const void *b)
{
	const struct listing *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	if (x->is_used != y->is_used)
		return x->is_used ? -1 : 1;
	if (x->seq != y->seq)
		return x->seq > y->seq ? -1 : 1;
	return x->blocknr > y->blocknr ? -1 : x->blocknr < y->blocknr;
}

static void cut_band(struct listings *l)
{
	size_t i, kept = 0;

	sort_in_place(l->items, l->n, sizeof(*l->items), compare_listing);
	for (i = 0; i < l->n; i++)
		if (!kept || l->items[kept - 1].number != l->items[i].number)
			l->items[kept++] = l->items[i];
	l->n = kept;
}

static int add_listing(struct gather *g, struct context *cx,
		       const struct listing *one)
{
	struct listings *l = g->l;

	if (l->n >= g->cut) {
		cut_band(l);
		/* Where the newest of each number are too many, the range
		   becomes shorter. */
		if (g->what == RANGE && l->n >= g->most / 4 * 3) {
			g->end = l->items[g->most / 2].number;
			l->n = listings_from(l, g->end);
		}
		g->cut = l->n < FIRST_CUT / 2 ? FIRST_CUT : 2 * l->n;
		if (g->what == RANGE && g->cut > g->most)
			g->cut = g->most;
		if (g->what == OWNED && l->n > 2 * g->most)
			return fail(cx, -EFBIG, "blocks of files, as the logs "
				    "list them");
	}
	if (array_reserve(cx, &l->items, &l->room, l->n + 1))
		return -ENOMEM;
	l->items[l->n++] = *one;
	return 0;
}

/* The blocks of E, an extent of LOG, that are wanted. */
static int take_extent(struct gather *g, struct context *cx,
		       const struct lifelogs *l,
		       const struct logindex_log *log,
		       const struct logindex_extent *e)
{
	size_t at;
	uint32_t i;
	int err = 0;

	if (g->what == FILE_BLOCKS ? e->ino != g->ino || e->is_node :
				     !e->is_virtual)
		return 0;
	if (g->what == OWNED) {
		at = search_lower_bound(g->inos, g->ninos, e->ino);
		if (at == g->ninos || g->inos[at] != e->ino)
			return 0;
	}
	for (i = 0; i < e->count && !err; i++) {
		struct listing one = {
			.number = e->vblocknr + i,
			.blocknr = e->blocknr + i,
			.seq = log->seq,
			.cno = e->cno ? e->cno : log->cno,
			.ino = e->ino,
			.blkoff = e->is_node ? e->blkoff : e->blkoff + i,
			.is_node = e->is_node,
			.is_used = l->is_used,
			.is_former = l->is_former,
		};

		if (g->what == WANTED && !sparse_test(g->wanted, one.number))
			continue;
		if (g->what == RANGE &&
		    (one.number < g->from || one.number >= g->end))
			continue;
		if (g->what == FILE_BLOCKS) {
			one.number = one.blkoff;
			/* Of these the newest counts, wherever it is. */
			one.is_used = true;
		}
		err = g->visit ? g->visit(g->arg, cx, &one) :
				 add_listing(g, cx, &one);
	}
	return err;
}

static int gather_listings(struct gather *g, struct context *cx)
{
	struct listings *list = g->l;
	struct logindex_extent e;
	struct logindex_log log;
	struct lifelogs l;
	uint64_t segnum;
	int ret, err = 0;

	g->most = cx->max_memory / 4 / sizeof(struct listing);
	if (g->most < 2ull * FIRST_CUT)
		g->most = 2ull * FIRST_CUT;
	g->cut = FIRST_CUT;
	for (segnum = 0; segnum < g->c->vol->geo.nsegments && !err; segnum++) {
		ret = lifelogs_open(&l, cx, g->c, segnum);
		while (ret > 0 && !err &&
		       (ret = lifelogs_next(&l, cx, &log)) > 0) {
			if (l.is_former && g->what != VISITED)
				continue;
			while (!err && (ret = lifelogs_extent(&l, cx, &e)) > 0)
				err = take_extent(g, cx, &l, &log, &e);
			if (log.verdict && l.is_used &&
			    log.verdict != RULE_LOG_SUMBYTES_UNUSED)
				list->partial = true;
			ret = ret < 0 ? ret : 1;
		}
		list->partial |= l.partial;
		if (l.partial && list->partial_segments.bits)
			bitmap_set(&list->partial_segments, segnum);
		err = !err && ret < 0 ? ret : err;
	}
	cut_band(list);
	return err;
}

int listings_of_vblocks(struct listings *l, struct context *cx,
			const struct check *c, const struct sparse *wanted)
{
	struct gather g = { .l = l, .c = c, .what = WANTED, .wanted = wanted };

	return gather_listings(&g, cx);
}

int listings_of_inodes(struct listings *l, struct context *cx,
		       const struct check *c, const uint64_t *inos, size_t n)
{
	struct gather g = {
		.l = l, .c = c, .what = OWNED, .inos = inos, .ninos = n,
	};

	return gather_listings(&g, cx);
}

int listings_of_range(struct listings *l, struct context *cx,
		      const struct check *c, uint64_t from, uint64_t *end)
{
	struct gather g = {
		.l = l, .c = c, .what = RANGE, .from = from, .end = *end,
	};
	int err = gather_listings(&g, cx);

	*end = g.end;
	l->n = listings_from(l, g.end);
	return err;
}

int listings_of_file(struct listings *l, struct context *cx,
		     const struct check *c, uint64_t ino)
{
	struct gather g = { .l = l, .c = c, .what = FILE_BLOCKS, .ino = ino };

	return gather_listings(&g, cx);
}

int listings_visit(const struct check *c, struct context *cx,
		   listings_visitor *visit, void *arg)
{
	struct listings none = { .n = 0 };
	struct gather g = {
		.l = &none, .c = c, .what = VISITED, .visit = visit, .arg = arg,
	};

	return gather_listings(&g, cx);
}

/* A segment with logs that cannot be read is shut by the first repair. */
bool listings_are_whole(const struct check *c)
{
	return !findings_have(c->findings, RULE_HIDES_LOGS) &&
	       !c->logs_shut && bitmap_next_set(&c->broken_segments, 0) >=
					c->broken_segments.bits;
}

void listings_fini(struct listings *l)
{
	free(l->items);
	bitmap_fini(&l->partial_segments);
	memset(l, 0, sizeof(*l));
}

static bool is_below(const void *item, const void *key)
{
	const struct listing *listing = item;

	return listing->number < *(const uint64_t *)key;
}

size_t listings_from(const struct listings *l, uint64_t number)
{
	return search_first(l->items, l->n, sizeof(*l->items), is_below,
			    &number);
}

const struct listing *listings_find(const struct listings *l, uint64_t number)
{
	size_t i = listings_from(l, number);

	return i < l->n && l->items[i].number == number ? &l->items[i] : NULL;
}
