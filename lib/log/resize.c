// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Changing the number of segments.
 *
 * The log with the SUFILE of the new size contradicts the old superblocks, so
 * these must not lead to it.  A mount follows logs from the one that a
 * superblock names by the sequence numbers of segments.  The new log begins in
 * another segment, with a number that the old chain of logs does not reach
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
	return fail(cx, -EINVAL, "%" PRIu64 " bytes have no room for a "
		    "segment", bytes);
}

void resize_apart(const struct volume *vol, struct repairwriter_known *known)
{
	known->fresh_segment = true;
	known->seq = vol->latest.seq + vol->geo.nsegments + 2;
}

/* The entry of SEGNUM in BLOCK. */
static const struct nilfs_segment_usage *
entry_in(const struct writer *w, const void *block, uint64_t segnum)
{
	return (const void *)((const char *)block +
			      segusage_offset(&w->g, segnum));
}

/* Entries [FIRST, END) of a block of the SUFILE become clean. */
static int clear_entries(struct writer *w, struct context *cx, uint64_t first,
			 uint64_t end)
{
	void *data;
	int ret = metafile_change(w->sufile, cx,
				  segusage_blkoff(&w->g, first), &data, NULL);

	if (!ret)
		memset((char *)data + segusage_offset(&w->g, first), 0,
		       (end - first) * w->g.segment_usage_size);
	return ret;
}

static bool is_clear(const void *entries, size_t len)
{
	const char *p = entries;

	return !len || (!p[0] && !memcmp(p, p + 1, len - 1));
}

/*
 * The same for those from FIRST to the end of its block, if they are not; a
 * hole stays a hole.  A block that begins with FIRST is deleted.
 */
static int clear_rest(struct writer *w, struct context *cx, uint64_t first)
{
	uint64_t blkoff = segusage_blkoff(&w->g, first);
	uint64_t end = segusage_first(&w->g, blkoff) +
		       segusage_count(&w->g, blkoff);
	const void *data;
	int ret;

	if (first == segusage_first(&w->g, blkoff))
		return 0;
	ret = metafile_look(w->sufile, cx, blkoff, &data);
	if (ret <= 0 || is_clear(entry_in(w, data, first),
				 (end - first) * w->g.segment_usage_size))
		return ret < 0 ? ret : 0;
	return clear_entries(w, cx, first, end);
}

/* Segments that are marked as erroneous may go: nothing is in them. */
static int check_block(struct writer *w, struct context *cx, uint64_t first,
		       uint64_t end)
{
	const void *data;
	uint64_t segnum;
	int ret = metafile_look(w->sufile, cx, segusage_blkoff(&w->g, first),
				&data);

	for (segnum = first; ret > 0 && segnum < end; segnum++)
		if (segusage_is_dirty(entry_in(w, data, segnum)))
			return fail(cx, -EBUSY, "segment %" PRIu64
				    ": is in use", segnum);
	return ret < 0 ? ret : 0;
}

/* All segments from FIRST on. */
static int check_rest(struct writer *w, struct context *cx, uint64_t first)
{
	uint64_t end, blkoff;
	int ret = 0;

	for (; first < w->g.nsegments && !ret; first = end) {
		blkoff = segusage_blkoff(&w->g, first);
		end = segusage_first(&w->g, blkoff) +
		      segusage_count(&w->g, blkoff);
		if (end > w->g.nsegments)
			end = w->g.nsegments;
		ret = check_block(w, cx, first, end);
	}
	return ret;
}

int resize_segments(struct writer *w, struct context *cx, uint64_t nsegments)
{
	uint64_t kept = nsegments < w->g.nsegments ? nsegments :
						     w->g.nsegments;
	int ret = check_rest(w, cx, nsegments);

	if (!ret)
		ret = clear_rest(w, cx, kept);
	w->g.nsegments = kept;
	if (!ret)
		ret = metafile_truncate(w->sufile, cx,
					segusage_nblocks(&w->g));
	w->g.nsegments = nsegments;
	if (w->segments.last_alloc >= nsegments)
		w->segments.last_alloc = nsegments - 1;
	return ret ? ret : segments_recount(&w->segments, cx);
}

static int write_copy(struct context *cx, struct dev *dev,
		      const struct nilfs_super_block *sb, uint64_t offset)
{
	int ret = dev_write(dev, cx, offset, sb, sizeof(*sb));

	return ret ? ret : dev_flush(dev, cx);
}

/* The copy that was at OFFSET, if it is in no use otherwise. */
static int wipe_copy(struct context *cx, struct dev *dev, uint64_t offset)
{
	static const struct nilfs_super_block zero;
	struct nilfs_super_block sb;
	int ret;

	if (offset > dev->size || dev->size - offset < sizeof(sb))
		return 0;
	ret = dev_read(dev, cx, offset, &sb, sizeof(sb));
	if (ret) {
		fail_clear(cx);
		return 0;
	}
	return super_check(&sb) ? 0 : write_copy(cx, dev, &zero, offset);
}

/* Where the copies go, in this order. */
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

static void find_places(struct places *p, const struct dev *dev,
			const struct volume *vol, uint64_t bytes)
{
	const uint64_t first = NILFS_SB_OFFSET_BYTES;
	uint64_t last = super_offset2(dev->size);

	p->n = 0;
	if (super_offset2(bytes) != last)
		add_place(p, super_offset2(bytes));
	add_place(p, vol->super_used ? first : last);
	add_place(p, vol->super_used ? last : first);
}

int resize_supers(struct context *cx, struct dev *dev,
		  const struct volume *vol, const struct nilfs_geometry *g,
		  uint64_t bytes, const struct writer_end *end, uint64_t time,
		  uint16_t state)
{
	struct nilfs_super_block sb = *volume_super(vol);
	uint64_t old = super_offset2(le64_get(sb.s_dev_size));
	bool was_apart = old && !super_bad_offset2(&sb, old);
	struct places p;
	unsigned int i, before;
	int ret = dev_flush(dev, cx);

	sb.s_nsegments = le64_make(g->nsegments);
	sb.s_dev_size = le64_make(bytes);
	newsupers_fill(&sb, g, end, time, state);
	find_places(&p, dev, vol, bytes);
	for (i = 0; i < p.n && !ret; i++)
		ret = write_copy(cx, dev, &sb, p.offset[i]);
	before = p.n;
	add_place(&p, old);
	if (!ret && was_apart && p.n > before)
		ret = wipe_copy(cx, dev, old);
	return ret;
}
