// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Facts of segments.
 *
 * One pass over the DAT counts the live blocks of each segment; another one, on
 * request, over the maps of the metadata files counts those of metadata.  The
 * segments themselves are not read.  Counters of the volume are not used: the
 * kernel does not update them.
 *
 * A job of many batches would read the DAT as often.  So the counts before a
 * batch are kept, and only the blocks of the DAT that it has changed are
 * counted after it.  The old ones are still there: what a batch frees is
 * written over by the next.  Where zones are reset, which loses them, nothing
 * is kept.
 */
#include "gc/plan/facts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "disk/segusage.h"
#include "vol/cptable.h"
#include "vol/extent.h"
#include "vol/protection.h"
#include "vol/root.h"
#include "vol/sutable.h"
#include "vol/volume.h"

/* Whether the segment of SU may be cleaned at all. */
static bool is_candidate(const struct facts *f, uint64_t segnum,
			 const struct nilfs_segment_usage *su)
{
	const struct volume *vol = f->vol;

	if (f->whole)
		return !segusage_is_clean(su);
	return segusage_is_dirty(su) && !segusage_is_error(su) &&
	       segnum != vol->latest.segnum && segnum != vol->latest.nextnum;
}

/* Live blocks where the SUFILE has none may be user data. */
static int check_live_counts(const struct facts *f, struct context *cx,
			     uint64_t segnum,
			     const struct nilfs_segment_usage *su,
			     const struct liveness_counts *c)
{
	uint64_t live = (uint64_t)c->current + c->snapshot + c->protected;

	if (live <= (segusage_is_dirty(su) ? le32_get(su->su_nblocks) : 0) ||
	    segnum == f->vol->latest.segnum)
		return 0;
	return fail(cx, -EUCLEAN, "segment %" PRIu64 ": has %" PRIu64 " live "
				  "blocks, %" PRIu32 " by the segment usage "
				  "file; run fsck.nilfs2", segnum, live,
				  le32_get(su->su_nblocks));
}

static int add_candidate(struct facts *f, struct context *cx, uint64_t segnum,
			 const struct nilfs_segment_usage *su,
			 const struct liveness_counts *c)
{
	const struct nilfs_geometry *g = &f->vol->geo;

	if (array_reserve(cx, &f->segments, &f->room, f->n + 1))
		return -ENOMEM;
	f->segments[f->n++] = (struct policy_segment){
		.segnum = segnum,
		.lastmod = le64_get(su->su_lastmod),
		.blocks = (uint32_t)(geometry_segment_end(g, segnum) -
				     geometry_segment_start(g, segnum)),
		.written = segnum == f->vol->latest.segnum ?
				   (uint32_t)f->vol->latest.offset :
				   le32_get(su->su_nblocks),
		.live = c->current + c->snapshot + c->protected,
		.snapshot = c->snapshot,
		.protected = c->protected,
	};
	return 0;
}

static int take_usage(void *arg, struct context *cx, uint64_t segnum,
		      const struct nilfs_segment_usage *su)
{
	struct facts *f = arg;
	struct liveness_counts c = liveness_of(f->liveness, segnum);
	int err = check_live_counts(f, cx, segnum, su, &c);

	if (!segusage_is_clean(su))
		bitmap_set(&f->used, segnum);
	if (!err && is_candidate(f, segnum, su))
		err = add_candidate(f, cx, segnum, su, &c);
	return err;
}

static int compare_candidates(const void *a, const void *b)
{
	const uint64_t segnum = *(const uint64_t *)a;
	const struct policy_segment *s = b;

	return segnum < s->segnum ? -1 : segnum > s->segnum;
}

/* SEGNUM among the candidates, or NULL. */
static struct policy_segment *facts_segment(const struct facts *f,
					    uint64_t segnum)
{
	if (!f->n)
		return NULL;
	return bsearch(&segnum, f->segments, f->n, sizeof(*f->segments),
		       compare_candidates);
}

/* COUNT blocks from BLOCKNR on, of one segment, are metadata. */
static void count_metadata(struct facts *f, uint64_t blocknr, uint64_t count)
{
	struct policy_segment *s = facts_segment(
		f, geometry_segment_of(&f->vol->geo, blocknr));

	if (s)
		s->metadata += (uint32_t)count;
}

static int count_file(struct facts *f, struct context *cx, struct file *file)
{
	struct extent_cursor cur;
	struct extent e;
	int ret = extent_cursor_open(&cur, cx, file, 0);

	while (!ret &&
	       (ret = extent_cursor_next(&cur, cx, UINT64_MAX, &e)) > 0) {
		count_metadata(f, e.blocknr, e.count);
		ret = 0;
	}
	extent_cursor_close(&cur);
	return ret;
}

int facts_count_metadata(struct facts *f, struct context *cx)
{
	struct volume *vol = f->vol;
	struct root root;
	int ret = root_open(&root, cx, vol, 0);

	if (!ret)
		ret = count_file(f, cx, &vol->dat);
	if (!ret)
		ret = count_file(f, cx, &vol->cpfile);
	if (!ret)
		ret = count_file(f, cx, &vol->sufile);
	return ret ? ret : count_file(f, cx, &root.ifile);
}

static int check_strays(const struct facts *f, struct context *cx)
{
	if (!f->liveness->strays)
		return 0;
	return fail(cx, -EUCLEAN, "DAT: %" PRIu64 " blocks are outside the "
		    "segments; run fsck.nilfs2", f->liveness->strays);
}

/* The segment after the latest log is one of the tables of all segments. */
static int check_next(const struct facts *f, struct context *cx)
{
	uint64_t next = f->vol->latest.nextnum;

	if (next < f->vol->geo.nsegments)
		return 0;
	return fail(cx, -EUCLEAN, "the latest log: the next segment, %" PRIu64
		    ", is not on the volume; run fsck.nilfs2", next);
}

static int find_stale(struct facts *f, struct context *cx)
{
	int ret = f->vol->geo.has_live_blks ? sutable_is_exact(f->vol, cx) : 1;

	f->stale = !ret;
	return ret < 0 ? ret : 0;
}

static void find_latest_live(struct facts *f)
{
	struct liveness_counts c = liveness_of(f->liveness,
					       f->vol->latest.segnum);

	f->latest_live = c.current + c.snapshot + c.protected;
}

/* Whether L counts for the same snapshots and period as F: 1, 0. */
static int counts_the_same(const struct facts *f, struct context *cx,
			   const struct liveness *l)
{
	uint64_t *snapshots;
	size_t n;
	int ret = cptable_list(f->vol, cx, true, &snapshots, &n);

	if (ret)
		return ret;
	ret = l->protect_cno == f->protect_cno && l->nsnapshots == n &&
	      (!n || !memcmp(l->snapshots, snapshots,
			     n * sizeof(*snapshots)));
	free(snapshots);
	return ret;
}

static int update_kept(struct facts *f, struct context *cx,
		       struct facts_kept *kept)
{
	struct volume *from;
	int ret = volume_open_from(&from, cx, f->vol->dev, &kept->at);

	if (!ret)
		ret = liveness_update(kept->liveness, cx, from, f->vol);
	volume_close(from);
	if (ret)
		return ret;
	f->liveness = kept->liveness;
	kept->liveness = NULL;
	return 0;
}

/* By what was kept, unless that cannot be read any more. */
static int count_live(struct facts *f, struct context *cx,
		      struct facts_kept *kept)
{
	int ret = kept && kept->liveness ?
			  counts_the_same(f, cx, kept->liveness) : 0;

	if (ret > 0)
		ret = update_kept(f, cx, kept);
	if (ret == -EUCLEAN || ret == -EIO) {
		fail_clear(cx);
		ret = 0;
	}
	if (kept)
		facts_forget(kept);
	if (ret || f->liveness)
		return ret;
	return liveness_count(f->vol, cx, f->protect_cno, &f->liveness);
}

static int gather_all(struct facts *f, struct context *cx, struct volume *vol,
		      uint64_t protect, struct facts_kept *kept, bool whole)
{
	struct nilfs_sufile_header header;
	int ret;

	*f = (struct facts){
		.vol = vol,
		.protect_cno = UINT64_MAX,
		.whole = whole,
	};
	f->env.nongc_ctime = le64_get(vol->super_root.sr_nongc_ctime);
	f->env.metadata_weight = POLICY_WEIGHT;
	ret = check_next(f, cx);
	if (!ret)
		ret = sutable_header(vol, cx, &header);
	f->clean = ret ? 0 : le64_get(header.sh_ncleansegs);
	if (!ret && protect)
		ret = protection_cno(vol, cx, protect, &f->protect_cno);
	if (!ret)
		ret = count_live(f, cx, kept);
	if (!ret)
		ret = check_strays(f, cx);
	if (!ret)
		ret = bitmap_init(&f->used, cx, vol->geo.nsegments);
	if (!ret)
		ret = sutable_walk(vol, cx, false, take_usage, f);
	if (!ret)
		ret = zoning_open(&f->zones, cx, vol);
	if (!ret)
		ret = find_stale(f, cx);
	if (!ret)
		find_latest_live(f);
	return ret;
}

int facts_gather(struct facts *f, struct context *cx, struct volume *vol,
		 uint64_t protect, struct facts_kept *kept)
{
	return gather_all(f, cx, vol, protect, kept, false);
}

int facts_gather_whole(struct facts *f, struct context *cx,
		       struct volume *vol, uint64_t protect)
{
	return gather_all(f, cx, vol, protect, NULL, true);
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
