// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rebuilding the counts of live blocks.
 *
 * They follow from the DAT alone, so they are computed for all segments at
 * once.  Entries that are right are not changed, nor is the time of their last
 * change.
 */
#include "log/exactcounts.h"

#include <errno.h>
#include <string.h>

#include "disk/segusage.h"
#include "log/repairwriter.h"
#include "vol/volume.h"

struct entering {
	const struct nilfs_geometry *geo;
	struct metafile *sufile;
	const struct liveness *live;
	uint64_t time;
	uint64_t changed;
};

static bool is_right(const struct nilfs_segment_usage_ext *su,
		     const struct liveness_counts *n)
{
	if (segusage_is_clean(&su->su))
		return segusage_check_ext(su) == RULE_OK;
	return le32_get(su->su_nlive_blks) == n->current + n->snapshot &&
	       le32_get(su->su_nsnapshot_blks) == n->snapshot;
}

static void set(const struct entering *e, struct nilfs_segment_usage_ext *su,
		const struct liveness_counts *n)
{
	bool clean = segusage_is_clean(&su->su);

	su->su_nlive_blks = le32_make(clean ? 0 : n->current + n->snapshot);
	su->su_nsnapshot_blks = le32_make(clean ? 0 : n->snapshot);
	su->su_nlive_lastmod = le64_make(clean ? 0 : e->time);
}

/* Block BLKOFF of the SUFILE; a hole has clean segments, which are right. */
static int enter_block(struct entering *e, struct context *cx,
		       uint64_t blkoff)
{
	uint64_t first = segusage_first(e->geo, blkoff), segnum;
	uint64_t end = first + segusage_count(e->geo, blkoff);
	struct nilfs_segment_usage_ext su;
	struct liveness_counts n;
	const void *block;
	void *data;
	int ret = metafile_look(e->sufile, cx, blkoff, &block);

	if (end > e->geo->nsegments)
		end = e->geo->nsegments;
	for (segnum = first; ret > 0 && segnum < end; segnum++) {
		uint32_t at = segusage_offset(e->geo, segnum);

		memcpy(&su, (const char *)block + at, sizeof(su));
		n = liveness_of(e->live, segnum);
		if (is_right(&su, &n))
			continue;
		set(e, &su, &n);
		ret = metafile_change(e->sufile, cx, blkoff, &data, NULL);
		if (ret)
			break;
		memcpy((char *)data + at, &su, sizeof(su));
		e->changed++;
		block = data;
		ret = 1;
	}
	return ret < 0 ? ret : 0;
}

static int enter_counts(struct entering *e, struct context *cx)
{
	uint64_t blkoff, n = segusage_nblocks(e->geo);
	int ret = 0;

	for (blkoff = 0; blkoff < n && !ret; blkoff++)
		ret = enter_block(e, cx, blkoff);
	return ret;
}

int exactcounts_enter(struct writer *w, struct context *cx,
		      const struct liveness *live, uint64_t time,
		      uint64_t *changed)
{
	struct entering e = {
		.geo = writer_geometry(w),
		.sufile = repairwriter_file(w, NILFS_SUFILE_INO),
		.live = live,
		.time = time,
	};
	int ret = e.geo->has_live_blks ? enter_counts(&e, cx) : 0;

	*changed = e.changed;
	if (!ret)
		repairwriter_exact(w);
	return ret;
}

int exactcounts_count(struct writer *w, struct context *cx, struct volume *vol,
		      uint64_t time, uint64_t *changed)
{
	struct liveness *live = NULL;
	int err;

	*changed = 0;
	if (!vol->geo.has_live_blks)
		return 0;
	err = liveness_count(vol, cx, UINT64_MAX, &live);
	if (err == -EUCLEAN || err == -EIO) {
		fail_clear(cx);
		return 0;
	}
	if (!err)
		err = exactcounts_enter(w, cx, live, time, changed);
	liveness_free(live);
	return err;
}
