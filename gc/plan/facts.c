// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Facts of segments.
 *
 * One pass over the DAT counts the live blocks of each segment; another one, on
 * request, over the maps of the metadata files counts those of metadata.  The
 * segments themselves are not read.  Counters of the volume are not used: the
 * kernel does not update them.
 *
 * A job of many batches would read the DAT for each of them.  So the counts
 * before a batch are kept, and only the blocks of the DAT that it has changed
 * are counted after it.  The old blocks are still readable: only the next batch
 * overwrites the space that a batch frees.  If zones are reset, which erases
 * them, nothing is kept.
 */
#include "gc/plan/facts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "disk/segusage.h"
#include "vol/cptable.h"
#include "vol/extent.h"
#include "vol/protection.h"
#include "vol/root.h"
#include "vol/sutable.h"
#include "vol/volume.h"

/* The best first, by their importance; then by number. */
static int compare_best(const void *a, const void *b)
{
	const struct policy_rank *x = a, *y = b;

	return sort_order(y->importance, x->importance) ?:
	       sort_order(x->index, y->index);
}

/* Drops all candidates but the best, which stay in the order of their numbers. */
static int drop_worst(struct facts *f, struct context *cx)
{
	const struct facts_how *how = f->how;
	struct policy_rank *ranks;
	uint8_t *keep;
	size_t n = f->n, i;

	if (n <= how->most)
		return 0;
	ranks = malloc(n * sizeof(*ranks));
	keep = calloc(n, 1);
	if (!ranks || !keep) {
		free(ranks);
		free(keep);
		return fail(cx, -ENOMEM, "order of segments");
	}
	for (i = 0; i < n; i++)
		ranks[i] = (struct policy_rank){
			how->policy->importance(&f->segments[i], &f->env), i
		};
	sort_in_place(ranks, n, sizeof(*ranks), compare_best);
	for (i = 0; i < how->most; i++)
		keep[ranks[i].index] = 1;
	for (i = 0, f->n = 0; i < n; i++)
		if (keep[i])
			f->segments[f->n++] = f->segments[i];
	f->dropped = true;
	free(ranks);
	free(keep);
	return 0;
}

/* Counts a segment, and makes it a candidate if it may be cleaned at all. */
static int take_usage(void *arg, struct context *cx, uint64_t segnum,
		      const struct nilfs_segment_usage *su)
{
	struct facts *f = arg;
	const struct nilfs_geometry *g = &f->vol->geo;
	const struct recovery *latest = &f->vol->latest;
	struct liveness_counts c = liveness_of(f->liveness, segnum);
	uint64_t live = (uint64_t)c.current + c.snapshot + c.protected;
	uint32_t written = le32_get(su->su_nblocks);
	bool used = !segusage_is_clean(su);

	/*
	 * Live blocks in a segment without blocks in the SUFILE may be user
	 * data.
	 */
	if (segnum != latest->segnum &&
	    live > (segusage_is_dirty(su) ? written : 0))
		return fail(cx, -EUCLEAN, "segment %" PRIu64 ": has %" PRIu64
			    " live blocks, %" PRIu32 " by the segment usage "
			    "file; run fsck.nilfs2", segnum, live, written);
	if (used)
		bitmap_set(&f->used, segnum);
	if (!f->whole)
		used = segusage_is_dirty(su) && !segusage_is_error(su) &&
		       segnum != latest->segnum && segnum != latest->nextnum;
	if (!used)
		return 0;
	if (array_reserve(cx, &f->segments, &f->room, f->n + 1))
		return -ENOMEM;
	f->segments[f->n++] = (struct policy_segment){
		.segnum = segnum,
		.lastmod = le64_get(su->su_lastmod),
		.blocks = (uint32_t)(geometry_segment_end(g, segnum) -
				     geometry_segment_start(g, segnum)),
		.written = segnum == latest->segnum ? (uint32_t)latest->offset :
						      written,
		.live = (uint32_t)live,
		.snapshot = c.snapshot,
		.protected = c.protected,
	};
	return f->how->policy && f->n >= 2 * f->how->most ? drop_worst(f, cx) : 0;
}

int facts_count_metadata(struct facts *f, struct context *cx)
{
	struct volume *vol = f->vol;
	struct root root;
	struct file *const files[] = { &vol->dat, &vol->cpfile, &vol->sufile,
				       &root.ifile };
	struct extent_cursor cur;
	struct extent e;
	size_t n, i;
	int ret = root_open(&root, cx, vol, 0);

	for (n = 0; n < sizeof(files) / sizeof(files[0]) && !ret; n++) {
		ret = extent_cursor_open(&cur, cx, files[n], 0);
		while (!ret && (ret = extent_cursor_next(&cur, cx, UINT64_MAX,
							 &e)) > 0) {
			uint64_t segnum = geometry_segment_of(&vol->geo,
							      e.blocknr);

			ret = 0;
			i = search_number(f->segments, f->n,
					  sizeof(*f->segments), segnum);
			if (i < f->n && f->segments[i].segnum == segnum)
				f->segments[i].metadata += (uint32_t)e.count;
		}
		extent_cursor_close(&cur);
	}
	return ret;
}

/*
 * Counts live blocks by updating KEPT (or NULL), which is used up.  Counts all
 * again if KEPT cannot be read any more, or is for other snapshots or another
 * period.
 */
static int count_live(struct facts *f, struct context *cx,
		      struct facts_kept *kept)
{
	struct liveness *l = kept ? kept->liveness : NULL;
	struct volume *from = NULL;
	uint64_t *snapshots = NULL;
	size_t n = 0;
	int ret = l ? cptable_list(f->vol, cx, true, &snapshots, &n) : 0;

	if (l && !ret && l->protect_cno == f->protect_cno &&
	    l->nsnapshots == n &&
	    (!n || !memcmp(l->snapshots, snapshots, n * sizeof(*snapshots)))) {
		ret = volume_open_at(&from, cx, f->vol->dev, NULL,
				     &kept->at);
		if (!ret)
			ret = liveness_update(l, cx, from, f->vol);
		volume_close(from);
		if (!ret) {
			f->liveness = l;
			kept->liveness = NULL;
		}
	}
	free(snapshots);
	if (kept)
		facts_forget(kept);
	if (ret && ret != -EUCLEAN && ret != -EIO)
		return ret;
	if (ret)
		fail_clear(cx);
	return f->liveness ? 0 : liveness_count(f->vol, cx, f->protect_cno,
						&f->liveness);
}

int facts_gather_with(struct facts *f, struct context *cx, struct volume *vol,
		      const struct facts_how *how)
{
	struct nilfs_sufile_header header;
	struct liveness_counts c;
	int ret;

	*f = (struct facts){
		.vol = vol,
		.protect_cno = UINT64_MAX,
		.how = how,
		.whole = how->whole,
	};
	f->env.nongc_ctime = le64_get(vol->super_root.sr_nongc_ctime);
	f->env.metadata_weight = POLICY_WEIGHT;
	/* It is an index of the tables of all segments. */
	if (vol->latest.nextnum >= vol->geo.nsegments)
		return fail(cx, -EUCLEAN, "the latest log: the next segment, %"
			    PRIu64 ", is not on the volume; run fsck.nilfs2",
			    vol->latest.nextnum);
	ret = sutable_header(vol, cx, &header);
	f->clean = ret ? 0 : le64_get(header.sh_ncleansegs);
	if (!ret && how->protect)
		ret = protection_cno(vol, cx, how->protect, &f->protect_cno);
	if (how->since && how->since < f->protect_cno)
		f->protect_cno = how->since;
	if (!ret)
		ret = count_live(f, cx, how->kept);
	if (!ret && f->liveness->strays)
		ret = fail(cx, -EUCLEAN, "DAT: %" PRIu64 " blocks are outside "
			   "the segments; run fsck.nilfs2",
			   f->liveness->strays);
	if (!ret)
		ret = bitmap_init(&f->used, cx, vol->geo.nsegments);
	if (!ret)
		ret = sutable_walk(vol, cx, false, take_usage, f);
	if (!ret && how->policy)
		ret = drop_worst(f, cx);
	f->how = NULL;
	if (!ret)
		ret = zoning_open(&f->zones, cx, vol);
	if (!ret && vol->geo.has_live_blks) {
		ret = sutable_is_exact(vol, cx);
		f->stale = !ret;
	}
	if (ret < 0)
		return ret;
	c = liveness_of(f->liveness, vol->latest.segnum);
	f->latest_live = c.current + c.snapshot + c.protected;
	return 0;
}

int facts_gather(struct facts *f, struct context *cx, struct volume *vol,
		 uint64_t protect, struct facts_kept *kept)
{
	return facts_gather_with(f, cx, vol, &(struct facts_how){
		.protect = protect, .kept = kept,
	});
}

int facts_estimate(const struct facts *f, struct context *cx,
		   const struct policy *policy, uint64_t goal, uint32_t min_dead,
		   uint64_t *blocks)
{
	uint64_t bps = f->vol->geo.blocks_per_segment;
	uint64_t n = 0, live = 0, taken = 0;
	const struct policy_segment *s;
	struct policy_order order;
	int64_t i;

	*blocks = 0;
	if (policy_open(&order, policy, &f->env, f->segments, f->n)) {
		policy_close(&order);
		return fail(cx, -ENOMEM, "order of segments");
	}
	while ((n > taken ? n - taken : 0) < goal &&
	       (i = policy_next(&order, f->clean)) >= 0) {
		s = &f->segments[i];
		if (!policy_gains(s) || !policy_is_worth(s, min_dead))
			continue;
		n++;
		live += s->live;
		taken = (live + bps - 1) / bps;
	}
	policy_close(&order);
	*blocks = live;
	return 0;
}

int facts_old_checkpoints(const struct facts *f, struct context *cx, uint64_t **cnos,
			  size_t *n)
{
	const struct liveness *l = f->liveness;
	size_t all = 0, i, at;
	uint64_t *c;
	int ret;

	*cnos = NULL;
	*n = 0;
	ret = cptable_list(f->vol, cx, false, cnos, &all);
	for (i = 0, c = *cnos; i < all && c[i] < f->protect_cno; i++) {
		at = search_lower_bound(l->snapshots, l->nsnapshots, c[i]);
		if (c[i] != f->vol->latest.cno &&
		    (at == l->nsnapshots || l->snapshots[at] != c[i]))
			c[(*n)++] = c[i];
	}
	return ret;
}

void facts_keep(struct facts *f, struct facts_kept *kept)
{
	facts_forget(kept);
	if (!f->liveness || f->vol->dev->zones)
		return;
	kept->at = f->vol->latest;
	kept->liveness = f->liveness;
	f->liveness = NULL;
}

void facts_forget(struct facts_kept *kept)
{
	liveness_free(kept->liveness);
	kept->liveness = NULL;
}

void facts_drop_candidates(struct facts *f)
{
	free(f->segments);
	f->segments = NULL;
	f->n = f->room = 0;
}

void facts_fini(struct facts *f)
{
	zoning_close(&f->zones);
	liveness_free(f->liveness);
	f->liveness = NULL;
	bitmap_fini(&f->used);
	facts_drop_candidates(f);
}
