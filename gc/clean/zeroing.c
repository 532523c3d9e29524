// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Zeroing unused space.
 *
 * The SUFILE records how much of each segment is in use.  Before anything is
 * overwritten it is compared with the DAT: a pass over it finds for each
 * segment the last block that an entry in use names.
 *
 * Overwritten blocks belong to no state that a superblock names, so a power cut
 * does no harm at any time.  Space outside the segments is not changed.
 */
#include "gc/clean/zeroing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "dev/zone.h"
#include "disk/segusage.h"
#include "vol/datscan.h"
#include "vol/sutable.h"

struct space {
	struct zeroing *z;
	struct volume *vol;
	uint32_t *used;		/* by segment: blocks, by the DAT */
	bool forecast;
};

static int note_block(void *arg, struct context *cx, uint64_t blocknr,
		      uint64_t vblocknr, const struct nilfs_dat_entry *de,
		      const struct blockmap_item *own)
{
	struct space *s = arg;
	const struct nilfs_geometry *g = &s->vol->geo;
	uint64_t segnum = geometry_segment_of(g, blocknr);
	uint32_t used, seen;

	(void)cx;
	(void)vblocknr;
	(void)de;
	(void)own;
	if (!geometry_has_block(g, blocknr))
		return 0;
	used = (uint32_t)(blocknr - geometry_segment_start(g, segnum)) + 1;
	seen = __atomic_load_n(&s->used[segnum], __ATOMIC_RELAXED);
	while (seen < used &&
	       !__atomic_compare_exchange_n(&s->used[segnum], &seen, used,
					    true, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED))
		;
	return 0;
}

static int check_dat(struct space *s, struct context *cx)
{
	const struct datscan_visitor visitor = {
		.block = note_block,
		.arg = s,
	};
	uint64_t n = s->vol->geo.nsegments, i;
	size_t room = 0;

	s->used = array_grow(cx, NULL, &room, n, sizeof(*s->used));
	if (!s->used)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		s->used[i] = 0;
	return datscan_run(s->vol, cx, &visitor);
}

/* Blocks of SEGNUM, from its beginning, that are in use by its entry. */
static uint32_t in_use(const struct space *s, uint64_t segnum,
		       const struct nilfs_segment_usage *su)
{
	const struct recovery *latest = &s->vol->latest;

	if (segnum == latest->segnum)
		return (uint32_t)latest->offset;
	return segusage_is_dirty(su) ? le32_get(su->su_nblocks) : 0;
}

static int check(void *arg, struct context *cx, uint64_t segnum,
		 const struct nilfs_segment_usage *su)
{
	const struct space *s = arg;
	uint32_t used = in_use(s, segnum, su);

	if (segusage_is_error(su) || s->used[segnum] <= used)
		return 0;
	return fail(cx, -EUCLEAN, "segment %" PRIu64 ": the DAT has %" PRIu32
		    " blocks of it, the segment usage file %" PRIu32
		    "; run fsck.nilfs2", segnum, s->used[segnum], used);
}

/* Such a zone was reset with its last segment, or is empty from here on. */
static bool is_sequential(const struct dev *dev, uint64_t off)
{
	const struct zones *zones = dev->zones;

	return zones && off < dev->size &&
	       zones->kinds[zone_of(zones, off)] == ZONE_SEQUENTIAL;
}

static int zero(void *arg, struct context *cx, uint64_t segnum,
		const struct nilfs_segment_usage *su)
{
	struct space *s = arg;
	const struct nilfs_geometry *g = &s->vol->geo;
	uint64_t from = geometry_segment_start(g, segnum) +
			in_use(s, segnum, su);
	uint64_t end = geometry_segment_end(g, segnum);
	uint64_t len = from < end ? (end - from) << g->block_bits : 0;
	int ret = 0;

	if (segusage_is_error(su)) {
		s->z->skipped++;
		return 0;
	}
	if (is_sequential(s->vol->dev, from << g->block_bits))
		return 0;
	if (!s->forecast)
		ret = dev_zero(s->vol->dev, cx, from << g->block_bits, len);
	s->z->bytes += len;
	if (s->z->done)
		s->z->done(s->z->arg, s->z->bytes);
	return ret;
}

int zeroing_run(struct zeroing *z, struct context *cx, struct volume *vol,
		bool forecast)
{
	struct space s = { .z = z, .vol = vol, .forecast = forecast };
	int ret = check_dat(&s, cx);

	z->bytes = z->skipped = 0;
	if (!ret)
		ret = sutable_walk(vol, cx, true, check, &s);
	if (!ret)
		ret = sutable_walk(vol, cx, true, zero, &s);
	if (!ret && !forecast)
		ret = dev_flush(vol->dev, cx);
	free(s.used);
	return ret;
}
