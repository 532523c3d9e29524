// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Purging.
 *
 * The SUFILE records free space, but a dead block within a segment can only be
 * removed by cleaning the segment.  Segments with remains, that is, dead blocks
 * of files, are moved until none is left; moved blocks have no remains, so each
 * batch leaves fewer.  The segment being written cannot be a victim: if it has
 * remains, the next log begins another one first.
 *
 * Then unused space is zeroed.  The SUFILE records how much of each segment is
 * in use.  Before anything is overwritten it is compared with the DAT: a pass
 * over the DAT finds the last block of each segment that an entry in use points
 * to.  Overwritten blocks belong to no state that a superblock names, so a
 * power cut does no harm at any time.  Space outside the segments is not
 * changed.
 */
#include "gc/clean/purge.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/context.h"
#include "dev/zone.h"
#include "disk/segusage.h"
#include "gc/plan/policy.h"
#include "vol/datscan.h"
#include "vol/liveness.h"
#include "vol/logscan.h"
#include "vol/summary.h"
#include "vol/sutable.h"
#include "vol/translate.h"
#include "vol/volume.h"

struct purger {
	struct collector k;
	struct purge *p;
	const struct collector_options *how;
	bool renewed;		/* superblocks name a log of this run */
};

/*
 * Whether B, which a log lists at BLOCKNR, is a dead block of a file or of the
 * ifile by the DAT: 1, 0.  Old blocks of DAT, cpfile and SUFILE do not count:
 * each checkpoint leaves some, and they have no content of files.
 */
static int is_remains(struct purger *u, struct context *cx,
		      const struct segsum_block *b, uint64_t blocknr)
{
	struct nilfs_dat_entry de;
	int ret;

	if (!b->is_virtual || b->ino == NILFS_DAT_INO ||
	    b->ino == NILFS_CPFILE_INO || b->ino == NILFS_SUFILE_INO)
		return 0;
	ret = translate_entry(u->k.vol, cx, b->vblocknr, &de);
	if (ret == -ENOENT) {
		fail_clear(cx);
		return 1;
	}
	if (ret)
		return ret;
	return le64_get(de.de_blocknr) != blocknr ||
	       liveness_of_entry(u->k.facts.liveness, &de) == LIVENESS_DEAD;
}

/*
 * Whether the first NBLOCKS blocks of SEGNUM have remains: 1, 0.  1 also if the
 * logs do not list all of them, or cannot be read.  -ENOMEM.
 */
static int has_remains(struct purger *u, struct context *cx, uint64_t segnum,
		       uint32_t nblocks)
{
	struct volume *vol = u->k.vol;
	uint64_t end = geometry_segment_start(&vol->geo, segnum) + nblocks;
	struct summary summary = { .vol = NULL };
	struct segsum_block b;
	struct logscan scan;
	struct log log;
	int ret;

	if (!nblocks)
		return 0;
	ret = logscan_open(&scan, cx, vol, segnum, nblocks);
	while (!ret && (ret = logscan_next(&scan, cx, &log)) > 0) {
		ret = summary_read(&summary, cx, vol, log.pseg, &log.ss);
		while (!ret && (ret = summary_next(&summary, cx, &b)) > 0)
			ret = is_remains(u, cx, &b, log.pseg + b.index);
	}
	summary_free(&summary);
	if (!ret)
		return scan.pseg < end;
	if (ret != -EUCLEAN && ret != -EIO)
		return ret;
	fail_clear(cx);
	return 1;
}

/*
 * Moves all segments with remains in one batch: 1, or 0 if none is left.  It
 * begins another segment if the latest one has remains, or if others do and the
 * older superblock may need them.
 */
static int purge_batch(struct purger *u, struct context *cx)
{
	const struct facts *f = &u->k.facts;
	const struct recovery *latest = &u->k.vol->latest;
	struct batch_options batch = u->how->batch;
	struct policy_order order;
	int64_t i;
	int ret = policy_open(&order, &policy_list[0], &f->env, f->segments,
			      f->n);

	u->p->left = 0;
	while (ret >= 0 && (i = policy_next(&order, f->clean)) >= 0) {
		ret = has_remains(u, cx, f->segments[i].segnum,
				  f->segments[i].written);
		if (ret <= 0)
			continue;
		ret = collector_add(&u->k, cx, &f->segments[i],
				    collector_room(&u->k));
		u->p->left += !ret;
	}
	policy_close(&order);
	if (ret < 0)
		return ret;
	if (!u->k.load.has.nvictims) {
		ret = has_remains(u, cx, latest->segnum,
				  (uint32_t)latest->offset);
		if (!ret)
			ret = u->p->left && !u->renewed;
		if (ret <= 0)
			return ret;
		u->renewed = true;
		batch.fresh = true;
	}
	ret = collector_move(&u->k, cx, &batch);
	return ret ? ret : 1;
}

struct space {
	struct zeroing *z;
	struct volume *vol;
	uint32_t *used;		/* by segment: blocks in use by the DAT */
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

/* Blocks of SEGNUM, from its beginning, that its entry counts as in use. */
static uint32_t in_use(const struct space *s, uint64_t segnum,
		       const struct nilfs_segment_usage *su)
{
	const struct recovery *latest = &s->vol->latest;

	if (segnum == latest->segnum)
		return (uint32_t)latest->offset;
	return segusage_is_dirty(su) ? le32_get(su->su_nblocks) : 0;
}

static int check_usage(void *arg, struct context *cx, uint64_t segnum,
		       const struct nilfs_segment_usage *su)
{
	const struct space *s = arg;
	uint32_t used = in_use(s, segnum, su);

	if (segusage_is_error(su) || s->used[segnum] <= used)
		return 0;
	return fail(cx, -EUCLEAN, "segment %" PRIu64 ": the DAT lists %" PRIu32
		    " of its blocks, the segment usage file %" PRIu32
		    "; run fsck.nilfs2", segnum, s->used[segnum], used);
}

static int zero_blocks(void *arg, struct context *cx, uint64_t segnum,
		       const struct nilfs_segment_usage *su)
{
	struct space *s = arg;
	struct dev *dev = s->vol->dev;
	const struct nilfs_geometry *g = &s->vol->geo;
	uint64_t from = geometry_segment_start(g, segnum) +
			in_use(s, segnum, su);
	uint64_t end = geometry_segment_end(g, segnum);
	uint64_t len = from < end ? (end - from) << g->block_bits : 0;
	uint64_t off = from << g->block_bits;
	int ret = 0;

	if (segusage_is_error(su)) {
		s->z->skipped++;
		return 0;
	}
	/*
	 * A sequential zone was reset with its last segment, or is empty from
	 * here on.
	 */
	if (dev->zones && off < dev->size &&
	    dev->zones->kinds[zone_of(dev->zones, off)] == ZONE_SEQUENTIAL)
		return 0;
	if (!s->forecast)
		ret = dev_zero(dev, cx, off, len);
	s->z->bytes += len;
	if (s->z->done)
		s->z->done(s->z->arg, s->z->bytes);
	return ret;
}

/*
 * Zeros the clean segments of VOL, and the space after the last log of the
 * others, on its device; with FORECAST only counts.
 */
static int zero_unused(struct zeroing *z, struct context *cx,
		       struct volume *vol, bool forecast)
{
	struct space s = { .z = z, .vol = vol, .forecast = forecast };
	const struct datscan_visitor visitor = { .block = note_block, .arg = &s };
	size_t n = vol->geo.nsegments, room = 0;
	int ret;

	z->bytes = z->skipped = 0;
	s.used = array_grow(cx, NULL, &room, n, sizeof(*s.used));
	if (!s.used)
		return -ENOMEM;
	memset(s.used, 0, n * sizeof(*s.used));
	ret = datscan_run(vol, cx, &visitor);
	if (!ret)
		ret = sutable_walk(vol, cx, true, check_usage, &s);
	if (!ret)
		ret = sutable_walk(vol, cx, true, zero_blocks, &s);
	if (!ret && !forecast)
		ret = dev_flush(vol->dev, cx);
	free(s.used);
	return ret;
}

int purge_run(struct purge *p, struct context *cx, struct dev *dev,
	      const struct collector_options *how)
{
	struct purger u = { .p = p, .how = how };
	struct volume *vol;
	int ret;

	collector_init(&u.k, dev, how);
	do {
		ret = collector_open(&u.k, cx);
		if (!ret)
			ret = purge_batch(&u, cx);
		collector_close(&u.k);
	} while (ret > 0);
	if (!ret)
		ret = collector_finish(&u.k, cx);
	p->totals = u.k.totals;
	collector_fini(&u.k);
	if (ret)
		return ret;
	ret = volume_open(&vol, cx, dev, NULL);
	if (!ret)
		ret = zero_unused(&p->zeroing, cx, vol, how->batch.forecast);
	volume_close(vol);
	return ret;
}
