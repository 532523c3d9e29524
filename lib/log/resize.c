// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Changing the number of segments.
 *
 * The log with the SUFILE of the new size contradicts the old superblocks, so
 * these must not lead to it.  A mount follows logs from the one that a
 * superblock names by the sequence numbers of segments.  So the new log begins
 * in another segment, with a number that the old chain of logs does not reach
 * before every segment was rewritten.
 */
#include "log/resize.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "disk/segusage.h"
#include "disk/super.h"
#include "log/newsupers.h"
#include "log/writer_parts.h"

int resize_layout(const struct volume *vol, struct context *cx,
		  uint64_t bytes, struct nilfs_geometry *g)
{
	uint64_t segment = (uint64_t)vol->geo.blocks_per_segment <<
			   vol->geo.block_bits;

	*g = vol->geo;
	g->nblocks = bytes >> g->block_bits;
	g->nsegments = super_offset2(bytes) / segment;
	if (g->nsegments)
		return 0;
	return fail(cx, -EINVAL, "%" PRIu64 " bytes are too few for a "
		    "segment", bytes);
}

int resize_segments(struct writer *w, struct context *cx, uint64_t nsegments)
{
	uint64_t kept = nsegments < w->g.nsegments ? nsegments : w->g.nsegments;
	uint64_t segnum, end, blkoff;
	const void *data;
	const char *entry;
	size_t at, len, i;
	void *place;
	int ret = 0;

	/* Erroneous segments without blocks may be removed. */
	for (segnum = nsegments; segnum < w->g.nsegments && ret >= 0; segnum = end) {
		blkoff = segusage_blkoff(&w->g, segnum);
		end = segusage_first(&w->g, blkoff) +
		      segusage_count(&w->g, blkoff);
		if (end > w->g.nsegments)
			end = w->g.nsegments;
		ret = metafile_look(w->sufile, cx, blkoff, &data);
		for (; ret > 0 && segnum < end; segnum++) {
			entry = (const char *)data +
				segusage_offset(&w->g, segnum);
			if (segusage_is_dirty((const void *)entry))
				return fail(cx, -EBUSY, "segment %" PRIu64
					    ": is in use", segnum);
		}
	}
	/*
	 * Clear the entries after the last kept one in its block; a hole stays a
	 * hole.  A block without kept entries is deleted.
	 */
	blkoff = segusage_blkoff(&w->g, kept);
	if (ret >= 0 && kept != segusage_first(&w->g, blkoff)) {
		at = segusage_offset(&w->g, kept);
		len = (segusage_first(&w->g, blkoff) +
		       segusage_count(&w->g, blkoff) - kept) *
		      w->g.segment_usage_size;
		ret = metafile_look(w->sufile, cx, blkoff, &data);
		entry = data;
		for (i = 0; ret > 0 && i < len && !entry[at + i];)
			i++;
		if (ret > 0 && i < len) {
			ret = metafile_change(w->sufile, cx, blkoff, &place,
					      NULL);
			if (!ret)
				memset((char *)place + at, 0, len);
		}
	}
	w->g.nsegments = kept;
	if (ret >= 0)
		ret = metafile_truncate(w->sufile, cx,
					segusage_nblocks(&w->g));
	w->g.nsegments = nsegments;
	if (w->segments.last_alloc >= nsegments)
		w->segments.last_alloc = nsegments - 1;
	return ret ? ret : segments_recount(&w->segments, cx);
}

/* Offsets of the superblocks, in the order of writing. */
struct places {
	uint64_t offset[4];
	unsigned int n;
};

static void add_place(struct places *p, uint64_t offset)
{
	unsigned int i;

	for (i = 0; i < p->n; i++)
		if (p->offset[i] == offset)
			return;
	p->offset[p->n++] = offset;
}

int resize_supers(struct context *cx, struct dev *dev,
		  const struct volume *vol, const struct nilfs_geometry *g,
		  uint64_t bytes, const struct writer_end *end, uint64_t time,
		  uint16_t state)
{
	static const struct nilfs_super_block zero;
	const uint64_t first = NILFS_SB_OFFSET_BYTES;
	uint64_t last = super_offset2(dev->size);
	struct nilfs_super_block sb = *volume_super(vol), found;
	uint64_t old = super_offset2(le64_get(sb.s_dev_size));
	bool had_old = old && !super_bad_offset2(&sb, old);
	struct places p = { .n = 0 };
	unsigned int i, written;
	int ret = dev_flush(dev, cx);

	sb.s_nsegments = le64_make(g->nsegments);
	sb.s_dev_size = le64_make(bytes);
	newsupers_fill(&sb, g, end, time, state);
	if (super_offset2(bytes) != last)
		add_place(&p, super_offset2(bytes));
	add_place(&p, vol->super_used ? first : last);
	add_place(&p, vol->super_used ? last : first);
	for (i = 0; i < p.n && !ret; i++)
		ret = newsupers_write_copy(cx, dev, &sb, p.offset[i]);
	written = p.n;
	add_place(&p, old);
	if (ret || !had_old || p.n == written || old > dev->size ||
	    dev->size - old < sizeof(found))
		return ret;
	/* Wipe the old copy, which is no longer used. */
	if (dev_read(dev, cx, old, &found, sizeof(found))) {
		fail_clear(cx);
		return 0;
	}
	return super_check(&found) ? 0 :
		       newsupers_write_copy(cx, dev, &zero, old);
}
