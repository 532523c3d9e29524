// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Defragmentation.
 *
 * A pass moves every segment with a block of a file that has too many extents,
 * as a whole: first the blocks of these files, each file by its offsets, then
 * the other blocks of those segments.  If there is no room for all at once, the
 * files are moved one after the other.  A file that does not fit is moved with
 * as many of its segments as fit.  No segment is moved twice in a pass, so it
 * ends.
 *
 * Each pass is made on an overlay first, and on the volume only if it leaves at
 * most half of the excess extents of all files: so there is a last one, and
 * another run, which makes the same trial, changes nothing.
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
	struct collector k;
	struct order order;	/* of the files to be moved by a pass */
	/* Of a pass: */
	struct bitmap old;	/* segments to be moved if a file is in them */
	size_t next;		/* index of the next file */
	bool begun;		/* it has written a log */
	/* Of a round: */
	uint64_t room;		/* blocks */
};

static bool is_lower_segment(const void *item, const void *key)
{
	const struct policy_segment *s = item;

	return s->segnum < *(const uint64_t *)key;
}

/* Adds the victims of extent E: 0; 1 if there is no room for one. */
static int add_extent_victims(void *arg, struct context *cx,
			      const struct extent *e)
{
	struct defragger *p = arg;
	const struct facts *f = &p->k.facts;
	const struct nilfs_geometry *g = &p->k.vol->geo;
	uint64_t segnum = geometry_segment_of(g, e->blocknr);
	uint64_t last = geometry_segment_of(g, e->blocknr + e->count - 1);
	size_t i;
	int ret;

	for (; segnum <= last; segnum++) {
		if (!bitmap_test(&p->old, segnum))
			continue;
		i = search_first(f->segments, f->n, sizeof(*f->segments),
				 is_lower_segment, &segnum);
		if (i == f->n || f->segments[i].segnum != segnum)
			continue;
		ret = collector_add(&p->k, cx, &f->segments[i], p->room);
		if (ret < 0 || p->k.full)
			return ret < 0 ? ret : 1;
		bitmap_clear(&p->old, segnum);
	}
	return 0;
}

/* Victims of the load from FROM on still have to be moved. */
static void want_again(struct defragger *p, size_t from)
{
	size_t i;

	for (i = from; i < p->k.load.has.nvictims; i++)
		bitmap_set(&p->old, p->k.load.victims[i]);
}

/*
 * Adds the victims of a round: 1, or 0 if there are none.  If there is no room
 * for all segments of a file none is added, unless it is the first.
 */
static int choose_round(struct defragger *p, struct context *cx)
{
	const struct filelist *l = &p->d->list;
	struct load_size before;
	struct root root;
	int ret = root_open(&root, cx, p->k.vol, 0);

	/*
	 * The first log begins a new segment and cannot use the rest of the
	 * latest one.
	 */
	p->room = p->begun ? collector_room(&p->k) :
			     p->k.facts.clean * p->k.vol->geo.blocks_per_segment;
	while (!ret && p->next < l->n) {
		before = p->k.load.has;
		if (spread_excess(&l->files[p->next].after))
			ret = spread_walk(cx, &root, l->files[p->next].ino,
					  add_extent_victims, p);
		if (!ret)
			p->next++;
		if (ret > 0 && before.nvictims) {
			want_again(p, before.nvictims);
			load_rewind(&p->k.load, cx, &before);
		}
	}
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

/*
 * Writes the added victims, if any; the first log of a pass begins a segment.
 */
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
 * until there is another log.  Writes one if needed: 1, else 0.  Blocks moved
 * by this pass are then in the next segment.
 */
static int begin_in_new_segment(struct defragger *p, struct context *cx)
{
	const struct filelist *l = &p->d->list;
	const struct volume *vol = p->k.vol;
	struct root root;
	size_t i;
	int ret = bitmap_copy(&p->old, cx, &p->k.facts.used);

	if (ret)
		return ret;
	bitmap_clear(&p->old, vol->latest.nextnum);
	ret = root_open(&root, cx, p->k.vol, 0);
	for (i = 0; i < l->n && !ret; i++)
		if (spread_excess(&l->files[i].after))
			ret = spread_walk(cx, &root, l->files[i].ino,
					  is_being_written, p);
	if (ret < 0)
		return ret;
	if (!ret && protection_seq(vol) == vol->latest.seq)
		return 0;
	ret = write_added(p, cx);
	return ret ? ret : 1;
}

/* Makes rounds until nothing is left to be moved. */
static int defrag_pass(struct defragger *p, struct context *cx)
{
	uint64_t batches;
	size_t first;
	int ret;

	p->next = 0;
	p->begun = false;
	do {
		first = p->next;
		ret = collector_open(&p->k, cx);
		if (!ret && !p->old.words)
			ret = begin_in_new_segment(p, cx);
		if (!ret && (ret = choose_round(p, cx)) > 0) {
			batches = p->k.totals.batches;
			ret = write_added(p, cx);
			/*
			 * If a segment was skipped: repeat the round without
			 * it.
			 */
			if (!ret && p->k.totals.batches == batches) {
				want_again(p, 0);
				p->next = first;
			}
			ret = ret ? ret : 1;
		}
		collector_close(&p->k);
	} while (ret > 0);
	bitmap_fini(&p->old);
	return ret;
}

static int try_pass(void *arg, struct context *cx)
{
	struct defragger *p = arg;
	int ret = defrag_pass(p, cx);

	return ret ? ret : filelist_measure(&p->d->list, cx, p->k.dev, true);
}

/* Makes a pass if it is useful: 1, or 0. */
static int run_useful_pass(struct defragger *p, struct context *cx)
{
	struct filelist *l = &p->d->list;
	uint64_t excess = l->excess;
	size_t i;
	int ret = 0;

	if (!excess)
		return 0;
	order_close(&p->order);
	p->order = (struct order){ .kind = ORDER_GIVEN };
	for (i = 0; i < l->n && ret >= 0; i++)
		if (spread_excess(&l->files[i].after))
			ret = order_add(&p->order, cx, l->files[i].ino);
	if (ret >= 0)
		ret = collector_rehearse(&p->k, cx, try_pass, p);
	if (ret == -ENOSPC) {
		fail_clear(cx);
		return 0;
	}
	if (ret || l->excess > excess / 2)
		return ret;
	ret = defrag_pass(p, cx);
	if (!ret)
		ret = filelist_measure(l, cx, p->k.dev, false);
	/* The forecast is wrong if a block could not be read. */
	return ret ? ret : l->excess <= excess / 2;
}

int defrag_run(struct defrag *d, struct context *cx, struct dev *dev,
	       const struct defrag_options *options)
{
	struct collector_options how = options->how;
	struct defragger p = { .d = d };
	int ret;

	*d = (struct defrag){ 0 };
	how.order = &p.order;
	collector_init(&p.k, dev, &how);
	ret = filelist_open(&d->list, cx, dev, options->paths);
	if (!ret)
		ret = collector_settle(&p.k, cx);
	if (!ret)
		while ((ret = run_useful_pass(&p, cx)) > 0)
			;
	if (!ret)
		ret = collector_finish(&p.k, cx);
	d->totals = p.k.totals;
	d->left = p.k.nbad;
	collector_fini(&p.k);
	order_close(&p.order);
	return ret;
}
