// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compaction.
 *
 * The gain of a pass is hard to predict: moving blocks writes metadata, whose
 * old blocks become dead.  So once a batch is not certain to gain, the rest of
 * the pass is made on an overlay first, without the content of moved blocks,
 * and on the volume only if the result is better.  Each pass improves the
 * result, so there is a last one, and another run changes nothing.
 */
#include "gc/compact/compact.h"

#include "base/sort.h"
#include "disk/inode.h"
#include "disk/segusage.h"
#include "gc/compact/pass.h"
#include "vol/sutable.h"
#include "vol/volume.h"

/* Number of faults of the order that do not justify moving all blocks. */
#define FAULTS 4

struct compactor {
	struct compact *c;
	struct collector k;
	bool sorts;
};

static int add_segment_use(void *arg, struct context *cx, uint64_t segnum,
			   const struct nilfs_segment_usage *su)
{
	struct usedend *r = arg;

	(void)cx;
	if (!segusage_is_dirty(su) || !le32_get(su->su_nblocks))
		return 0;
	r->end = segnum + 1;
	r->used++;
	r->places += segnum;
	return 0;
}

int compact_measure(struct usedend *r, struct context *cx, struct dev *dev)
{
	struct nilfs_sufile_header header;
	struct volume *vol;
	int ret = volume_open(&vol, cx, dev, NULL);

	*r = (struct usedend){ 0 };
	if (!ret)
		ret = sutable_header(vol, cx, &header);
	if (!ret) {
		r->clean = le64_get(header.sh_ncleansegs);
		r->next = vol->latest.nextnum;
		r->segment = vol->geo.blocks_per_segment;
		ret = sutable_walk(vol, cx, false, add_segment_use, r);
	}
	volume_close(vol);
	return ret;
}

/*
 * Whether A is nearer to the front than B, by enough to be worth WRITTEN
 * blocks: at most a segment of them if A has as many segments and the same end.
 * The order is well-founded: a loop that continues only while the end improves
 * terminates.
 */
static bool is_better_end(const struct usedend *a, const struct usedend *b,
			  uint64_t written)
{
	if (a->end != b->end)
		return a->end < b->end;
	if (a->used != b->used)
		return a->used < b->used;
	if (written > a->segment)
		return false;
	if (a->places != b->places)
		return a->places < b->places;
	return a->next < b->next;
}

/* The rest of a pass, and its result. */
struct finish {
	struct compactor *p;
	struct pass *pass;
	struct usedend reach;
	uint64_t written;	/* blocks */
};

static int finish_pass(struct finish *f, struct context *cx, struct pass *pass)
{
	struct collector *k = &f->p->k;
	uint64_t before = k->totals.written;
	int ret = pass_run(pass, cx, k, false);

	f->written = k->totals.written - before;
	return ret ? ret : compact_measure(&f->reach, cx, k->dev);
}

/* Finishes the pass as a trial; the pass itself stays unchanged. */
static int try_finish(void *arg, struct context *cx)
{
	struct finish *f = arg;
	struct pass copy = *f->pass;
	int ret = bitmap_copy(&copy.old, cx, &f->pass->old);

	if (!ret)
		ret = finish_pass(f, cx, &copy);
	bitmap_fini(&copy.old);
	return ret;
}

/* Makes a pass as far as it gains: 1 if it does. */
static int compact_pass(struct compactor *p, struct context *cx)
{
	struct pass pass = { .in_order = p->sorts };
	struct finish f = { .p = p, .pass = &pass };
	uint64_t batches = p->k.totals.batches;
	int ret, gains = 0;

	/* Batches with certain gain need no trial. */
	ret = pass_run(&pass, cx, &p->k, true);
	if (!ret && p->k.totals.batches != batches) {
		ret = compact_measure(&p->c->after, cx, p->k.dev);
		gains = 1;
	}
	if (ret || pass.done)
		goto out;
	ret = collector_rehearse(&p->k, cx, try_finish, &f);
	if (ret || !is_better_end(&f.reach, &p->c->after, f.written))
		goto out;
	ret = finish_pass(&f, cx, &pass);
	if (ret)
		goto out;
	/* The result is not certain if a block could not be read. */
	gains |= is_better_end(&f.reach, &p->c->after, 0);
	p->c->after = f.reach;
out:
	bitmap_fini(&pass.old);
	return ret ? ret : gains;
}

/* 1 if at least one pass gained. */
static int run_passes(struct compactor *p, struct context *cx)
{
	int ret, n = 0;

	while ((ret = compact_pass(p, cx)) > 0)
		n = 1;
	return ret ? ret : n;
}

/* The faults of an order. */
struct faults {
	/*
	 * Number of places where successive blocks of the order are not
	 * adjacent.
	 */
	uint64_t breaks;
	/*
	 * Number of places where blocks of different classes are adjacent.  For
	 * ages only the separation matters, not which class is first.
	 */
	uint64_t borders;
};

static int compare_run_places(const void *a, const void *b)
{
	const struct load_run *x = a, *y = b;

	return sort_order(x->blocknr, y->blocknr);
}

/* Counts the faults of a load with all blocks. */
static int measure_order(struct collector *k, struct context *cx,
			 struct faults *faults)
{
	struct load *l = &k->load;
	struct load_run *run;
	uint64_t at = 0;
	uint32_t rank = 0;
	size_t i;
	int ret = collector_open(k, cx);

	*faults = (struct faults){ 0 };
	k->unbounded = true;
	for (i = 0; !(ret < 0) && i < k->facts.n; i++)
		ret = collector_add(k, cx, &k->facts.segments[i], UINT64_MAX);
	k->unbounded = false;
	if (ret < 0)
		goto out;
	collector_sort(k);
	for (i = 0, run = l->runs; i < l->has.nruns; i++, run++) {
		if (inode_is_metadata(run->entry.ino))
			continue;
		faults->breaks += run->blocknr < at;
		at = run->blocknr;
	}
	if (k->o->order->kind != ORDER_AGE)
		goto out;
	sort_in_place(l->runs, l->has.nruns, sizeof(*l->runs), compare_run_places);
	for (i = 0, run = l->runs; i < l->has.nruns; i++, run++) {
		if (inode_is_metadata(run->entry.ino))
			continue;
		faults->borders += run->rank != rank;
		rank = run->rank;
	}
out:
	collector_close(k);
	return ret < 0 ? ret : 0;
}

/* Moves all blocks in order, and then to the front. */
static int sort_once(struct compactor *p, struct context *cx)
{
	struct pass pass = { .all = true, .in_order = true };
	int ret = pass_run(&pass, cx, &p->k, false);

	bitmap_fini(&pass.old);
	if (!ret)
		ret = compact_measure(&p->c->after, cx, p->k.dev);
	if (!ret)
		ret = run_passes(p, cx);
	return ret < 0 ? ret : 0;
}

/* The number of faults after sorting. */
struct sorting {
	struct compactor *p;
	struct faults after;
};

static int try_sort(void *arg, struct context *cx)
{
	struct sorting *s = arg;
	struct compact before = *s->p->c;
	int ret = sort_once(s->p, cx);

	*s->p->c = before;
	return ret ? ret : measure_order(&s->p->k, cx, &s->after);
}

static bool is_halved(uint64_t after, uint64_t before)
{
	return before > FAULTS && after <= before / 2;
}

/*
 * Moves all blocks if at most half of one kind of fault is left then, and no
 * more of the other.  The faults can be halved only so often, so there is a
 * last time, and another run changes nothing.
 */
static int sort_all(struct compactor *p, struct context *cx)
{
	struct sorting s = { .p = p };
	const struct faults *after = &s.after;
	struct faults before;
	int ret;

	do {
		ret = measure_order(&p->k, cx, &before);
		if (ret || (before.breaks <= FAULTS &&
			    before.borders <= FAULTS))
			return ret;
		ret = collector_rehearse(&p->k, cx, try_sort, &s);
		if (ret || after->breaks > before.breaks ||
		    after->borders > before.borders ||
		    !(is_halved(after->breaks, before.breaks) ||
		      is_halved(after->borders, before.borders)))
			return ret;
		ret = sort_once(p, cx);
	} while (!ret);
	return ret;
}

int compact_run(struct compact *c, struct context *cx, struct dev *dev,
		const struct compact_options *options)
{
	struct collector_options how = options->how;
	struct order order = { .kind = options->order };
	struct compactor p = { .c = c, .sorts = options->all };
	int ret;

	*c = (struct compact){ 0 };
	how.order = &order;
	collector_init(&p.k, dev, &how);
	ret = compact_measure(&c->before, cx, dev);
	c->after = c->before;
	if (!ret)
		ret = order_find(&order, cx, dev, options->order);
	if (ret)
		goto out;
	/* Passes break an order, and sorting blocks requires passes. */
	do {
		ret = p.sorts ? sort_all(&p, cx) : 0;
		if (!ret)
			ret = run_passes(&p, cx);
	} while (ret > 0 && p.sorts);
	if (ret >= 0 && p.k.nfailing) {
		ret = collector_finish(&p.k, cx);
		if (!ret)
			ret = compact_measure(&c->after, cx, dev);
	}
out:
	c->totals = p.k.totals;
	c->left = p.k.nbad;
	collector_fini(&p.k);
	order_close(&order);
	return ret < 0 ? ret : 0;
}
