// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rebuilding the segment usage file.
 *
 * Entries of another size are at other offsets, so the file begins without
 * blocks, and those of the old one end.  Segments that the writer allocates and
 * frees meanwhile are counted by it, and entered when the entries exist.  Clean
 * segments need none.
 */
#include "gc/tune/sufilenew.h"

#include <string.h>

#include "disk/segusage.h"
#include "log/repairwriter.h"
#include "vol/sutable.h"

/* All blocks and nodes. */
static int end_old(struct writer *w, struct context *cx, struct volume *old)
{
	struct blockmap_cursor cur;
	struct blockmap_item item;
	int ret = blockmap_cursor_open(&cur, cx, &old->sufile.map, 0, true);

	while (!ret && (ret = blockmap_cursor_next(&cur, cx, &item)) > 0)
		ret = repairwriter_end(w, cx, item.ptr, METAFILE_SINGLE);
	blockmap_cursor_close(&cur);
	return ret;
}

/* The fields known to the kernel are kept; the rest follows from LIVE. */
static void count(struct nilfs_segment_usage_ext *su,
		  const struct liveness_counts *n, uint64_t time)
{
	*su = (struct nilfs_segment_usage_ext){ .su = su->su };
	if (!segusage_is_dirty(&su->su))
		return;
	su->su_nlive_blks = le32_make(n->current + n->snapshot);
	su->su_nsnapshot_blks = le32_make(n->snapshot);
	su->su_nlive_lastmod = le64_make(time);
}

static int copy_usage(struct writer *w, struct context *cx, uint64_t segnum,
		      const struct nilfs_segment_usage_ext *su)
{
	const struct nilfs_geometry *g = writer_geometry(w);
	void *data;
	int ret = metafile_change(repairwriter_file(w, NILFS_SUFILE_INO), cx,
				  segusage_blkoff(g, segnum), &data, NULL);

	if (!ret)
		memcpy((char *)data + segusage_offset(g, segnum), su,
		       g->has_live_blks ? sizeof(*su) : sizeof(su->su));
	return ret;
}

static int copy_all(struct writer *w, struct context *cx, struct volume *old,
		    const struct liveness *live, uint64_t time)
{
	struct nilfs_segment_usage_ext su;
	struct sutable_cursor cur;
	struct liveness_counts n;
	uint64_t segnum;
	int ret = sutable_cursor_open(&cur, cx, old, false);

	while (!ret &&
	       (ret = sutable_cursor_next(&cur, cx, &segnum, &su)) > 0) {
		ret = 0;
		if (segusage_is_clean(&su.su))
			continue;
		n = live ? liveness_of(live, segnum) :
			   (struct liveness_counts){ 0 };
		count(&su, &n, time);
		ret = copy_usage(w, cx, segnum, &su);
	}
	sutable_cursor_close(&cur);
	return ret;
}

int sufilenew_fill(struct writer *w, struct context *cx, struct volume *old,
		   const struct liveness *live, uint64_t time)
{
	void *header;
	int ret = end_old(w, cx, old);

	if (!ret)
		ret = metafile_change(repairwriter_file(w, NILFS_SUFILE_INO),
				      cx, 0, &header, NULL);
	if (!ret)
		ret = copy_all(w, cx, old, live, time);
	if (!ret)
		ret = repairwriter_changed(w, cx);
	if (!ret && live)
		repairwriter_exact(w);
	return ret;
}
