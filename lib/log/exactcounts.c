// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rebuilding the counts of live blocks.
 *
 * They are derived from the DAT alone, for all segments at once.  Correct
 * entries and the time of their last change stay unchanged.
 */
#include "log/exactcounts.h"

#include <errno.h>
#include <string.h>

#include "disk/segusage.h"
#include "log/directwriter.h"
#include "vol/volume.h"

/* Segments in a hole of the SUFILE are clean and need no change. */
int exactcounts_enter(struct writer *w, struct context *cx,
		      const struct liveness *live, uint64_t time,
		      uint64_t *changed)
{
	const struct nilfs_geometry *g = writer_geometry(w);
	struct metafile *sufile = directwriter_file(w, NILFS_SUFILE_INO);
	uint64_t end = g->has_live_blks ? g->nsegments : 0, segnum;
	struct nilfs_segment_usage_ext su;
	struct liveness_counts n;
	const void *block;
	void *data;
	int ret = 0;

	*changed = 0;
	for (segnum = 0; segnum < end; segnum++) {
		uint64_t blkoff = segusage_blkoff(g, segnum);
		uint32_t at = segusage_offset(g, segnum);
		bool clean, right;

		ret = metafile_look(sufile, cx, blkoff, &block);
		if (ret < 0)
			return ret;
		if (!ret) {
			segnum = segusage_first(g, blkoff) +
				 segusage_count(g, blkoff) - 1;
			continue;
		}
		memcpy(&su, (const char *)block + at, sizeof(su));
		n = liveness_of(live, segnum);
		clean = segusage_is_clean(&su.su);
		right = le32_get(su.su_nlive_blks) == n.current + n.snapshot &&
			le32_get(su.su_nsnapshot_blks) == n.snapshot;
		if (clean ? segusage_check_ext(&su) == RULE_OK : right)
			continue;
		su.su_nlive_blks = le32_make(clean ? 0 : n.current + n.snapshot);
		su.su_nsnapshot_blks = le32_make(clean ? 0 : n.snapshot);
		su.su_nlive_lastmod = le64_make(clean ? 0 : time);
		ret = metafile_change(sufile, cx, blkoff, &data, NULL);
		if (ret)
			return ret;
		memcpy((char *)data + at, &su, sizeof(su));
		++*changed;
	}
	directwriter_exact(w);
	return 0;
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
