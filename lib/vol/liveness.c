// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Counts of live blocks of each segment, by reference.
 *
 * Counts are kept in chunks that are allocated on demand, so memory follows the used
 * part of a volume.  Consecutive entries of the DAT mostly point into the same segment:
 * each worker collects such a run before it adds to the shared counts.
 *
 * Counts of an earlier state are updated to a later one by the difference of the two
 * DATs: old entries of changed blocks are subtracted, new ones are added.  A bitmap and
 * its entries are in different blocks, so differences are collected by group.
 */
#include "vol/liveness.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bitmap.h"
#include "base/checked.h"
#include "base/search.h"
#include "vol/cptable.h"
#include "vol/datscan.h"
#include "vol/mapdiff.h"
#include "vol/volume.h"

#define CHUNK_SEGMENTS 1024u

/*
 * The blocks whose first checkpoint is one of FIRST ... LAST.  Such a block is current
 * or in a snapshot if it ends after HELD, the next snapshot.  LAST equals HELD, or, if
 * old checkpoints are counted, it is the next checkpoint.
 */
struct epoch {
	uint64_t first, last;
	uint64_t held;
	uint64_t old;	/* in some checkpoint if they end after this one */
};

/* Counts of a worker for one segment, from blocks of one epoch. */
struct run {
	uint64_t start, end;	/* blocks of the segment */
	uint64_t segnum;
	struct epoch epoch;
	struct liveness_counts counts;
	uint64_t entries, strays, old;
	bool out;		/* counts are subtracted */
};

struct counter {
	struct volume *vol;
	struct liveness *l;
	struct run *runs;	/* one per worker, and one more */
};

/* Most runs have only one kind; a locked addition of 0 would cost as much as any. */
static void add_count(uint32_t *count, uint32_t more)
{
	if (more)
		__atomic_fetch_add(count, more, __ATOMIC_RELAXED);
}

/* Adds the counts of RUN to those of its segment, or subtracts them.  The chunk of
   the segment is allocated on demand. */
static int flush_run(struct counter *c, struct context *cx, struct run *run)
{
	const uint32_t sign = run->out ? UINT32_MAX : 1;	/* modulo 2^32 */
	struct liveness_counts **slot, *chunk, *expected = NULL, *to;

	if (run->end) {
		slot = &c->l->chunks[run->segnum / CHUNK_SEGMENTS];
		chunk = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
		if (!chunk) {
			chunk = calloc(CHUNK_SEGMENTS, sizeof(*chunk));
			if (!chunk)
				return fail(cx, -ENOMEM, "counts of segments");
			if (!__atomic_compare_exchange_n(
				    slot, &expected, chunk, false,
				    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
				free(chunk);
				chunk = expected;
			}
		}
		to = &chunk[run->segnum % CHUNK_SEGMENTS];
		add_count(&to->current, sign * run->counts.current);
		add_count(&to->snapshot, sign * run->counts.snapshot);
		add_count(&to->protected, sign * run->counts.protected);
	}
	memset(&run->counts, 0, sizeof(run->counts));
	return 0;
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

static struct epoch epoch_of(const struct liveness *l, uint64_t start)
{
	size_t i = search_lower_bound(l->snapshots, l->nsnapshots, start);
	struct epoch epoch = {
		.first = i ? l->snapshots[i - 1] + 1 : 0,
		/* After the last snapshot only current blocks are kept. */
		.last = NILFS_CNO_MAX,
		.held = NILFS_CNO_MAX - 1,
	};

	if (i < l->nsnapshots)
		epoch.last = epoch.held = l->snapshots[i];
	epoch.old = epoch.held;
	if (l->ncheckpoints) {
		i = search_lower_bound(l->checkpoints, l->ncheckpoints, start);
		epoch.first = i ? l->checkpoints[i - 1] + 1 : 0;
		if (i < l->ncheckpoints)
			epoch.last = epoch.old = l->checkpoints[i];
	}
	return epoch;
}

enum liveness_kind liveness_of_entry(const struct liveness *l,
				     const struct nilfs_dat_entry *de)
{
	uint64_t start = le64_get(de->de_start), end = le64_get(de->de_end);

	if (end == NILFS_CNO_MAX)
		return LIVENESS_CURRENT;
	if (start >= end)
		return LIVENESS_DEAD;
	if (end > epoch_of(l, start).held)
		return LIVENESS_SNAPSHOT;
	return end > l->protect_cno ? LIVENESS_PROTECTED : LIVENESS_DEAD;
}

/*
 * Counts the entries from I to before LIMIT, all in use, up to the first one that is
 * not of the run's segment and epoch, and returns its index: the inner loop over the
 * DAT.  It is equivalent to liveness_of_entry(), but does not branch on the kind of
 * a block, which is unpredictable.
 */
static uint32_t count_within(struct run *run, uint64_t protect_cno,
			     const struct datscan_block *block, uint32_t i,
			     uint32_t limit)
{
	const uint64_t first_block = run->start;
	const uint64_t blocks = run->end - first_block;
	const uint64_t first = run->epoch.first, held = run->epoch.held;
	const uint64_t span = run->epoch.last - first;
	const uint64_t after_old = run->epoch.old;
	uint32_t current = 0, kept = 0, protected = 0, old = 0, from = i;

	for (; i < limit; i++) {
		const struct nilfs_dat_entry *de = datscan_entry(block, i);
		uint64_t start = le64_get(de->de_start);
		uint64_t end = le64_get(de->de_end);

		if (le64_get(de->de_blocknr) - first_block >= blocks ||
		    start - first > span)
			break;
		current += end == NILFS_CNO_MAX;
		kept += end > held;
		old += end > after_old;
		if (end > protect_cno)
			protected += end > start && end <= held;
	}
	run->entries += i - from;
	run->counts.current += current;
	run->counts.snapshot += kept - current;
	run->counts.protected += protected;
	run->old += old - kept;
	return i;
}

static int count_entries(void *arg, struct context *cx, unsigned int worker,
			 const struct datscan_block *block)
{
	struct counter *c = arg;
	struct run *run = &c->runs[worker];
	const struct nilfs_dat_entry *de;
	uint32_t i = 0, limit;
	uint64_t blocknr;
	int err = 0;

	while (!err && (i = datscan_next_used(block, i)) < block->count) {
		limit = datscan_next_free(block, i);
		while (!err && i < limit) {
			i = count_within(run, c->l->protect_cno, block, i,
					 limit);
			if (i == limit)
				break;
			/* Entry I is not of the run's segment and epoch. */
			de = datscan_entry(block, i);
			blocknr = le64_get(de->de_blocknr);
			if (blocknr &&
			    !geometry_has_block(&c->vol->geo, blocknr)) {
				run->entries++;
				run->strays++;
			} else if (blocknr) {
				if (blocknr < run->start || blocknr >= run->end)
					err = move_run(c, cx, run, blocknr);
				run->epoch = epoch_of(c->l,
						      le64_get(de->de_start));
				if (!err)
					count_within(run, c->l->protect_cno,
						     block, i, i + 1);
			}
			i++;
		}
	}
	return err;
}

/* Counts block BLOCKNR of the DAT itself. */
static int count_own(struct counter *c, struct context *cx, struct run *run,
		     uint64_t blocknr)
{
	int err = 0;

	if (blocknr < run->start || blocknr >= run->end)
		err = move_run(c, cx, run, blocknr);
	run->counts.current++;
	return err;
}

/* Uses the additional run after those of the workers. */
static int count_own_block(void *arg, struct context *cx,
			   const struct blockmap_item *item)
{
	struct counter *c = arg;

	return count_own(c, cx, &c->runs[cx->threads], item->ptr);
}

/* Counts the live blocks, with N SNAPSHOTS.  The result *LP owns CHECKPOINTS. */
static int count_volume(struct volume *vol, struct context *cx,
			uint64_t protect_cno, const uint64_t *snapshots, size_t n,
			uint64_t *checkpoints, size_t ncheckpoints,
			struct liveness **lp)
{
	struct liveness *l = calloc(1, sizeof(*l));
	uint64_t nchunks = div_round_up(vol->geo.nsegments, CHUNK_SEGMENTS);
	struct counter c = { .vol = vol, .l = l };
	const struct datscan_visitor visitor = {
		.entries = count_entries,
		.own_block = count_own_block,
		.arg = &c,
	};
	unsigned int i;
	int err;

	if (!l) {
		free(checkpoints);
		return fail(cx, -ENOMEM, "counts of segments");
	}
	l->checkpoints = checkpoints;
	l->ncheckpoints = ncheckpoints;
	if (nchunks <= cx->max_memory / sizeof(*l->chunks))
		l->chunks = calloc(nchunks, sizeof(*l->chunks));
	l->nchunks = l->chunks ? nchunks : 0;
	l->protect_cno = protect_cno;
	l->snapshots = malloc(n ? n * sizeof(*snapshots) : 1);
	l->nsnapshots = n;
	if (n && l->snapshots)
		memcpy(l->snapshots, snapshots, n * sizeof(*snapshots));
	c.runs = calloc((size_t)cx->threads + 1, sizeof(*c.runs));
	if (!l->chunks)
		err = fail(cx, -ENOMEM, "table of %llu segments",
			   (unsigned long long)vol->geo.nsegments);
	else if (!l->snapshots || !c.runs)
		err = fail(cx, -ENOMEM, "counts of segments");
	else
		err = datscan_run(vol, cx, &visitor);
	for (i = 0; i <= cx->threads && !err; i++) {
		err = flush_run(&c, cx, &c.runs[i]);
		l->entries += c.runs[i].entries;
		l->strays += c.runs[i].strays;
		l->old += c.runs[i].old;
	}
	free(c.runs);
	if (err)
		liveness_free(l);
	else
		*lp = l;
	return err;
}

int liveness_count_with(struct volume *vol, struct context *cx,
			uint64_t protect_cno, const uint64_t *snapshots,
			size_t n, struct liveness **lp)
{
	return count_volume(vol, cx, protect_cno, snapshots, n, NULL, 0, lp);
}

int liveness_count(struct volume *vol, struct context *cx,
		   uint64_t protect_cno, struct liveness **lp)
{
	uint64_t *snapshots;
	size_t n;
	int err = cptable_list(vol, cx, true, &snapshots, &n);

	if (!err)
		err = liveness_count_with(vol, cx, protect_cno, snapshots, n,
					  lp);
	free(snapshots);
	return err;
}

int liveness_count_old(struct volume *vol, struct context *cx,
		       uint64_t protect_cno, struct liveness **lp)
{
	uint64_t *snapshots = NULL, *all = NULL;
	size_t n, nall;
	int err = cptable_list(vol, cx, true, &snapshots, &n);

	if (!err)
		err = cptable_list(vol, cx, false, &all, &nall);
	if (!err)
		err = count_volume(vol, cx, protect_cno, snapshots, n, all, nall,
				   lp);
	free(snapshots);
	return err;
}

/*
 * The DAT before (0) and after (1) a change.  There is a run for entries, and one
 * for the DAT's own blocks.
 */
struct update {
	struct counter c;
	struct volume *vol[2];
	struct run runs[4];
	uint64_t group;		/* with differences not counted yet */
	bool any;		/* there is such a group */
	bool bits;		/* its bitmap differs */
	struct bitmap blocks;	/* changed blocks, by offset in the group */
};

/* Subtracts the old entries of changed blocks of the group and adds the new ones. */
static int count_group(struct update *u, struct context *cx)
{
	const struct palloc *p = &u->vol[1]->dat_palloc;
	uint64_t first = palloc_bitmap_blkoff(p, u->group) + 1, i;
	const void *bits[2] = { NULL, NULL }, *entries;
	struct palloc_block what;
	struct datscan_block block;
	struct file *dat;
	uint32_t bit;
	int side, ret = 0;

	for (side = 0; side < 2 && ret >= 0; side++)
		ret = file_block(&u->vol[side]->dat, cx, first - 1,
				 &bits[side]);
	/* Also the blocks of entries whose bits differ. */
	for (bit = 0; ret >= 0 && u->bits && bit < p->entries_per_group; bit++)
		if ((bits[0] && palloc_bit(bits[0], bit)) !=
		    (bits[1] && palloc_bit(bits[1], bit)))
			bitmap_set(&u->blocks, bit / p->entries_per_block);
	for (side = 0; side < 2; side++) {
		if (!bits[side])
			continue;
		dat = &u->vol[side]->dat;
		for (i = bitmap_next_set(&u->blocks, 0);
		     i < u->blocks.bits && ret >= 0;
		     i = bitmap_next_set(&u->blocks, i + 1)) {
			ret = file_block(dat, cx, first + i, &entries);
			if (ret <= 0)
				continue;
			palloc_locate(p, first + i, &what);
			block = (struct datscan_block){
				.first = what.first,
				.count = (uint32_t)what.count,
				.stride = p->entry_size,
				.entries = entries,
				.bitmap = bits[side],
				.bit = palloc_group_offset(p, what.first),
			};
			ret = count_entries(&u->c, cx, (unsigned int)side,
					    &block);
			file_put(dat, entries);
		}
		file_put(dat, bits[side]);
	}
	memset(u->blocks.words, 0,
	       div_round_up(u->blocks.bits, 64) * sizeof(*u->blocks.words));
	u->any = u->bits = false;
	return ret < 0 ? ret : 0;
}

static int visit_difference(void *arg, struct context *cx,
			    const struct mapdiff_item *item)
{
	struct update *u = arg;
	const struct palloc *p = &u->vol[1]->dat_palloc;
	const uint64_t ptr[2] = { item->a, item->b };
	struct palloc_block what;
	uint64_t blocknr;
	int side, ret = context_cancelled(cx);

	for (side = 0; side < 2 && !ret; side++) {
		if (!ptr[side])
			continue;
		ret = blockmap_resolve(&u->vol[side]->dat.map, cx, ptr[side],
				       &blocknr);
		if (!ret)
			ret = count_own(&u->c, cx, &u->runs[2 + side],
					blocknr);
	}
	if (ret || item->level)
		return ret;
	if (!palloc_has_block(p, item->key))
		return fail(cx, -EUCLEAN, "DAT: block %llu past the end",
			    (unsigned long long)item->key);
	palloc_locate(p, item->key, &what);
	if (what.kind == PALLOC_DESC)
		return 0;
	if (u->any && u->group != what.group)
		ret = count_group(u, cx);
	u->any = true;
	u->group = what.group;
	if (what.kind == PALLOC_BITMAP)
		u->bits = true;
	else
		bitmap_set(&u->blocks, item->key - 1 -
				       palloc_bitmap_blkoff(p, what.group));
	return ret;
}

int liveness_update(struct liveness *l, struct context *cx,
		    struct volume *from, struct volume *to)
{
	struct update u = {
		.c = { .vol = to, .l = l },
		.vol = { from, to },
		.runs = { [0].out = true, [2].out = true },
	};
	int i, ret = bitmap_init(&u.blocks, cx, to->dat_palloc.blocks_per_group);

	u.c.runs = u.runs;
	if (!ret)
		ret = mapdiff_walk(cx, &from->dat.map, &to->dat.map, true,
				   visit_difference, &u);
	if (!ret && u.any)
		ret = count_group(&u, cx);
	for (i = 0; i < 4 && !ret; i++) {
		ret = flush_run(&u.c, cx, &u.runs[i]);
		l->entries += i % 2 ? u.runs[i].entries : 0 - u.runs[i].entries;
		l->strays += i % 2 ? u.runs[i].strays : 0 - u.runs[i].strays;
	}
	bitmap_fini(&u.blocks);
	return ret;
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
	free(l->checkpoints);
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
