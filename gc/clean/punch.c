// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Deallocating space.
 *
 * Clean segments, and the space between the last segment and the second
 * superblock, are discarded: an image file has holes there.  Dead blocks of
 * other segments stay, because the checksums of logs cover them.
 *
 * A segment that is clean by the segment usage file although it has live blocks
 * would be lost, so the DAT is checked first.
 */
#include "gc/clean/punch.h"

#include <errno.h>
#include <inttypes.h>

#include "disk/super.h"
#include "gc/move/target.h"
#include "vol/liveness.h"
#include "vol/sutable.h"

struct punch {
	struct volume *vol;
	struct liveness *liveness;
	struct dev *dev;
	uint64_t first, end;	/* a run of blocks not given back yet */
	struct punch_totals totals;
};

static int discard_run(struct punch *p, struct context *cx)
{
	uint64_t bits = p->vol->geo.block_bits;
	uint64_t len = (p->end - p->first) << bits;

	p->totals.bytes += len;
	return dev_discard(p->dev, cx, p->first << bits, len);
}

/* Blocks [FIRST, END) are free. */
static int add_blocks(struct punch *p, struct context *cx, uint64_t first,
		      uint64_t end)
{
	int ret = 0;

	if (first == p->end) {
		p->end = end;
		return 0;
	}
	if (p->end > p->first)
		ret = discard_run(p, cx);
	p->first = first;
	p->end = end;
	return ret;
}

static int add_segment(struct punch *p, struct context *cx, uint64_t segnum)
{
	struct liveness_counts c = liveness_of(p->liveness, segnum);

	if (c.current || c.snapshot)
		return fail(cx, -EUCLEAN, "segment %" PRIu64 ": is clean, but "
					  "has live blocks; run fsck.nilfs2",
					  segnum);
	p->totals.segments++;
	return add_blocks(p, cx, geometry_segment_start(&p->vol->geo, segnum),
			  geometry_segment_end(&p->vol->geo, segnum));
}

static int add_segments(struct punch *p, struct context *cx)
{
	struct nilfs_segment_usage_ext su;
	struct sutable_cursor cur;
	uint64_t segnum;
	int ret = sutable_cursor_open(&cur, cx, p->vol, true);

	while (!ret &&
	       (ret = sutable_cursor_next(&cur, cx, &segnum, &su)) > 0)
		ret = segusage_is_clean(&su.su) ?
			      add_segment(p, cx, segnum) : 0;
	sutable_cursor_close(&cur);
	return ret;
}

/* What is after the segments, up to the superblock. */
static int add_tail(struct punch *p, struct context *cx)
{
	const struct nilfs_geometry *g = &p->vol->geo;
	uint64_t size = le64_get(volume_super(p->vol)->s_dev_size);
	uint64_t first = g->nsegments * g->blocks_per_segment;
	uint64_t end = super_offset2(size < p->dev->size ? size :
							   p->dev->size) >>
		       g->block_bits;

	return end > first ? add_blocks(p, cx, first, end) : 0;
}

static int punch_free(struct punch *p, struct context *cx)
{
	int ret = 0;

	if (p->dev->zones)
		ret = fail(cx, -EOPNOTSUPP, "%s: has zones, which are reset "
			   "when they are taken", p->dev->name);
	if (!ret)
		ret = liveness_count(p->vol, cx, UINT64_MAX, &p->liveness);
	if (!ret)
		ret = add_segments(p, cx);
	if (!ret)
		ret = add_tail(p, cx);
	if (!ret && p->end > p->first)
		ret = discard_run(p, cx);
	return ret ? ret : dev_flush(p->dev, cx);
}

int punch_run(struct punch_totals *totals, struct context *cx, struct dev *dev)
{
	struct punch p = { .dev = dev };
	int ret = target_open_volume(&p.vol, cx, dev);

	if (!ret)
		ret = punch_free(&p, cx);
	liveness_free(p.liveness);
	volume_close(p.vol);
	*totals = p.totals;
	return ret;
}
