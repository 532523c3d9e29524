// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Defragmentation.
 *
 * A pass moves every segment with a block of a file that has too many extents,
 * as a whole: first the blocks of these files, each file by its offsets, then
 * the other blocks of those segments.  If there is no room for all at once, the
 * files are moved one after the other, and one that does not fit with as many
 * of its segments as do.  No segment is moved twice in a pass: it ends.
 *
 * Each pass is made on an overlay first, and on the volume only if it leaves at
 * most half of the excess extents of all files: so passes end, and a further
 * run, which tries the same, does nothing.
 */
#include "gc/compact/defrag.h"

#include <errno.h>

#include "base/bitmap.h"
#include "base/search.h"
#include "disk/geometry.h"
#include "gc/compact/space.h"
#include "vol/extent.h"
#include "vol/protection.h"
#include "vol/volume.h"

struct defragger {
	struct defrag *d;
	const struct defrag_options *o;
	struct collector k;
	struct order order;	/* of the files that a pass is about */
	/* Of a pass: */
	struct bitmap old;	/* segments to be moved if a file is in them */
	size_t next;		/* file */
	bool begun;		/* it has written a log */
	/* Of a round: */
	uint64_t room;		/* blocks */
};

static bool is_before(const void *item, const void *key)
{
	const struct policy_segment *s = item;

	return s->segnum < *(const uint64_t *)key;
}

/* Adds SEGNUM, if it is to be moved: 0; 1 where there is no room for it. */
static int add_wanted_segment(struct defragger *p, struct context *cx,
			      uint64_t segnum)
{
	const struct facts *f = &p->k.facts;
	size_t i;
	int ret;

	if (!bitmap_test(&p->old, segnum))
		return 0;
	i = search_first(f->segments, f->n, sizeof(*f->segments), is_before,
			 &segnum);
	if (i == f->n || f->segments[i].segnum != segnum)
		return 0;
	ret = collector_add(&p->k, cx, &f->segments[i], p->room);
	if (ret < 0)
		return ret;
	if (p->k.full)
		return 1;
	bitmap_clear(&p->old, segnum);
	return 0;
}

static int add_extent(void *arg, struct context *cx, const struct extent *e)
{
	struct defragger *p = arg;
	const struct nilfs_geometry *g = &p->k.vol->geo;
	uint64_t segnum = geometry_segment_of(g, e->blocknr);
	uint64_t last = geometry_segment_of(g, e->blocknr + e->count - 1);
	int ret = 0;

	for (; segnum <= last && !ret; segnum++)
		ret = add_wanted_segment(p, cx, segnum);
	return ret;
}

/* Victims from FROM on are still to be moved. */
static void want_again(struct defragger *p, size_t from)
{
	size_t i;

	for (i = from; i < p->k.load.has.nvictims; i++)
		bitmap_set(&p->old, p->k.load.victims[i]);
}

/*
 * Adds the segments of file INO: 0; 1 if there was no room for all of them.
 * Then none is added, unless they are the first.
 */
static int add_segments_of(struct defragger *p, struct context *cx,
			   struct root *root, uint64_t ino)
{
	struct load_size before = p->k.load.has;
	int ret = spread_walk(cx, root, ino, add_extent, p);

	if (ret > 0 && before.nvictims) {
		want_again(p, before.nvictims);
		load_rewind(&p->k.load, cx, &before);
	}
	return ret;
}

/* What there is without the rest of the latest segment. */
static uint64_t room_of_segments(const struct collector *k)
{
	return k->facts.clean * k->vol->geo.blocks_per_segment;
}

/* Adds the victims of a round: 1, or 0 if there are none. */
static int choose_round(struct defragger *p, struct context *cx)
{
	const struct filelist *l = &p->d->list;
	struct root root;
	int ret = root_open(&root, cx, p->k.vol, 0);

	p->room = p->begun ? collector_room(&p->k) : room_of_segments(&p->k);
	for (; !ret && p->next < l->n; p->next += !ret)
		if (spread_excess(&l->files[p->next].after))
			ret = add_segments_of(p, cx, &root,
					      l->files[p->next].ino);
	return ret < 0 ? ret : p->k.load.has.nvictims > 0;
}

static int is_being_written(void *arg, struct context *cx,
			    const struct extent *e)
{
	const struct defragger *p = arg;
	const struct volume *vol = p->k.vol;

	(void)cx;
	return geometry_segment_of(&vol->geo, e->blocknr) ==
	       vol->latest.segnum;
}

/* Whether a file has blocks in the segment of the latest log: 1, 0. */
static int is_in_latest(struct defragger *p, struct context *cx)
{
	const struct filelist *l = &p->d->list;
	struct root root;
	size_t i;
	int ret = root_open(&root, cx, p->k.vol, 0);

	for (i = 0; i < l->n && !ret; i++)
		if (spread_excess(&l->files[i].after))
			ret = spread_walk(cx, &root, l->files[i].ino,
					  is_being_written, p);
	return ret;
}

/* What was added, if anything: the first log of a pass begins a segment. */
static int write_added(struct defragger *p, struct context *cx)
{
	struct batch_options batch = p->k.o->batch;
	int ret;

	batch.fresh = !p->begun;
	ret = collector_move(&p->k, cx, &batch);
	p->begun |= !p->k.again;
	return ret;
}

/*
 * Segments of the latest log, or younger than a superblock's, cannot be moved
 * until there is another log: 1 if it was needed, else 0.  Blocks moved by this
 * pass are then in the next segment.
 */
static int begin_in_new_segment(struct defragger *p, struct context *cx)
{
	const struct volume *vol = p->k.vol;
	int ret = bitmap_copy(&p->old, cx, &p->k.facts.used);

	if (ret)
		return ret;
	bitmap_clear(&p->old, vol->latest.nextnum);
	ret = is_in_latest(p, cx);
	if (ret < 0)
		return ret;
	if (!ret && protection_seq(vol) == vol->latest.seq)
		return 0;
	ret = write_added(p, cx);
	return ret ? ret : 1;
}

/* Where something cannot be read the round is made again, without that. */
static int move_added(struct defragger *p, struct context *cx, size_t first)
{
	uint64_t batches = p->k.totals.batches;
	int ret = write_added(p, cx);

	if (!ret && p->k.totals.batches == batches) {
		want_again(p, 0);
		p->next = first;
	}
	return ret ? ret : 1;
}

/* 1, or 0 where there is nothing left to be done. */
static int defrag_round(struct defragger *p, struct context *cx)
{
	size_t first = p->next;
	int ret = collector_open(&p->k, cx);

	if (!ret && !p->old.words)
		ret = begin_in_new_segment(p, cx);
	if (!ret) {
		ret = choose_round(p, cx);
		if (ret > 0)
			ret = move_added(p, cx, first);
	}
	collector_close(&p->k);
	return ret;
}

static int defrag_pass(struct defragger *p, struct context *cx)
{
	int ret;

	p->next = 0;
	p->begun = false;
	do {
		ret = defrag_round(p, cx);
	} while (ret > 0);
	bitmap_fini(&p->old);
	return ret;
}

/* The excess extents after a trial. */
struct rehearsal {
	struct defragger *p;
	uint64_t excess;
};

static int try_pass(void *arg, struct context *cx)
{
	struct rehearsal *r = arg;
	int ret = defrag_pass(r->p, cx);

	if (!ret)
		ret = filelist_forecast(&r->p->d->list, cx, r->p->k.dev,
					&r->excess);
	return ret;
}

static int rank_wanted_files(struct defragger *p, struct context *cx)
{
	const struct filelist *l = &p->d->list;
	size_t i;
	int ret = 0;

	order_close(&p->order);
	p->order = (struct order){ .kind = ORDER_GIVEN };
	for (i = 0; i < l->n && ret >= 0; i++)
		if (spread_excess(&l->files[i].after))
			ret = order_add(&p->order, cx, l->files[i].ino);
	return ret < 0 ? ret : 0;
}

/* A pass, if it is of use: 1, or 0. */
static int run_useful_pass(struct defragger *p, struct context *cx)
{
	struct rehearsal r = { .p = p };
	uint64_t excess = filelist_excess(&p->d->list);
	int ret = excess ? rank_wanted_files(p, cx) : 0;

	if (!ret && excess)
		ret = collector_rehearse(&p->k, cx, try_pass, &r);
	if (ret == -ENOSPC) {
		fail_clear(cx);
		return 0;
	}
	if (ret || r.excess > excess / 2 || !excess)
		return ret;
	ret = defrag_pass(p, cx);
	if (!ret)
		ret = filelist_measure(&p->d->list, cx, p->k.dev);
	/* It is not as it was forecast if something could not be read. */
	return ret ? ret : filelist_excess(&p->d->list) <= excess / 2;
}

static int defrag_all(struct defragger *p, struct context *cx)
{
	int ret = filelist_open(&p->d->list, cx, p->k.dev, p->o->paths);

	if (!ret)
		ret = collector_settle(&p->k, cx);
	if (ret)
		return ret;
	do {
		ret = run_useful_pass(p, cx);
	} while (ret > 0);
	return ret ? ret : collector_finish(&p->k, cx);
}

int defrag_run(struct defrag *d, struct context *cx, struct dev *dev,
	       const struct defrag_options *options)
{
	struct collector_options how = options->how;
	struct defragger p = { .d = d, .o = options };
	int ret;

	*d = (struct defrag){ 0 };
	how.order = &p.order;
	collector_init(&p.k, dev, &how);
	ret = defrag_all(&p, cx);
	d->totals = p.k.totals;
	d->left = p.k.nbad;
	collector_fini(&p.k);
	order_close(&p.order);
	return ret;
}

void defrag_close(struct defrag *d)
{
	filelist_close(&d->list);
}
