// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The log index.
 *
 * A repair asks again and again what the logs list: of one block, of a file, of
 * all virtual blocks.  Each segment is searched once, when it is asked for first;
 * so nothing is read on a sound volume, and of one damaged segment no more than
 * that.  What its summaries list becomes records of runs of blocks.  Few of
 * them are needed, as files are written in their order, and past a part of the
 * memory budget they are in a temporary file.
 *
 * The index records what is in the logs, and knows neither SUFILE nor DAT: of
 * which use of its segment a log is, is determined by those who ask
 * (lifelogs.h).  A repair checks the volume many times.  Each check has an index
 * of its own, which finds what the repair wrote, and takes the rest from that of
 * the device under the overlay.
 * Derived blocks that are patches over the device change no summary but for
 * ss_datasum, which is not here.
 */
#include "check/logs/logindex.h"

#include <errno.h>
#include <stdlib.h>

#include "base/records.h"
#include "check/damage.h"
#include "vol/logsearch.h"
#include "vol/volume.h"

struct slot {
	uint64_t first;
	uint32_t n;
	uint32_t nsame : 27;
	uint32_t is_known : 1;	/* whether the base has it: */
	uint32_t has_base : 1;
	uint32_t is_changed : 1;	/* what was read is on an overlay */
	uint32_t is_read : 1;
	uint32_t begins : 1;
};

struct logindex {
	struct nilfs_geometry geo;
	struct logindex *base;		/* borrowed */
	struct slot *slots;		/* of each segment; NULL: not asked */
	struct records logs, extents;
};

int logindex_open(struct logindex **ixp, struct context *cx,
		  const struct nilfs_geometry *geo, struct logindex *base)
{
	struct logindex *ix = calloc(1, sizeof(*ix));

	*ixp = NULL;
	if (!ix)
		return fail(cx, -ENOMEM, "the index of the logs");
	ix->geo = *geo;
	if (base && geometry_is_same(&base->geo, geo))
		ix->base = base;
	records_init(&ix->logs, sizeof(struct logindex_log),
		     cx->max_memory / 32);
	records_init(&ix->extents, sizeof(struct logindex_extent),
		     cx->max_memory / 8);
	*ixp = ix;
	return 0;
}

void logindex_close(struct logindex *ix)
{
	if (!ix)
		return;
	records_fini(&ix->logs);
	records_fini(&ix->extents);
	free(ix->slots);
	free(ix);
}

/* Has slots for all segments in IX and its base: a sound volume needs none. */
static int make_slots(struct logindex *ix, struct context *cx)
{
	for (; ix; ix = ix->base) {
		if (!ix->slots)
			ix->slots = calloc(ix->geo.nsegments,
					   sizeof(*ix->slots));
		if (!ix->slots)
			return fail(cx, -ENOMEM, "the index of the logs");
	}
	return 0;
}

/* Whether B continues run E. */
static bool goes_on(const struct logindex_extent *e, uint64_t blocknr,
		    const struct segsum_block *b)
{
	return e->count && !e->is_node && !b->is_node &&
	       e->finfo == b->finfo && e->blocknr + e->count == blocknr &&
	       e->blkoff + e->count == b->blkoff &&
	       e->is_virtual == b->is_virtual &&
	       (!b->is_virtual || e->vblocknr + e->count == b->vblocknr);
}

/* The blocks that LOG lists, by SUMMARY. */
static int add_extents(struct logindex *ix, struct context *cx,
		       struct segsum_iter *iter, struct logindex_log *log)
{
	struct logindex_extent e = { .count = 0 };
	struct segsum_block b;
	int err = 0;

	while (!err && segsum_iter_next(iter, &b)) {
		if (goes_on(&e, log->pseg + b.index, &b)) {
			e.count++;
			continue;
		}
		if (e.count)
			err = records_add(&ix->extents, cx, &e);
		e = (struct logindex_extent){
			.blocknr = log->pseg + b.index,
			.vblocknr = b.vblocknr,
			.blkoff = b.blkoff,
			.ino = b.ino,
			.cno = b.cno,
			.finfo = b.finfo,
			.count = 1,
			.level = b.level,
			.is_node = b.is_node,
			.is_virtual = b.is_virtual,
		};
	}
	if (!err && e.count)
		err = records_add(&ix->extents, cx, &e);
	log->verdict = (uint16_t)iter->verdict;
	log->nextents = (uint32_t)(ix->extents.n - log->first);
	return err;
}

/* A log that is not found is taken for one that was never there: what cannot be
   read is tried twice. */
static int read_segment(struct logindex *ix, struct context *cx,
			struct volume *vol, uint64_t segnum)
{
	struct slot slot = ix->slots[segnum];
	struct logsearch search;
	struct log found;
	uint64_t seq = 0, failed = UINT64_MAX;
	int ret;

	slot.first = ix->logs.n;
	slot.is_read = true;
	ret = logsearch_open(&search, cx, vol, segnum,
			     geometry_segment_start(&vol->geo, segnum));
	while (!ret) {
		struct logindex_log log = { .first = ix->extents.n };

		ret = context_cancelled(cx);
		if (!ret)
			ret = logsearch_next(&search, cx, &found);
		if (!ret || (ret < 0 && damage_is_fatal(ret)))
			break;
		if (ret < 0) {
			/* On past what cannot be read. */
			fail_clear(cx);
			if (ret != -EIO || search.next == failed)
				search.next++;
			else
				failed = search.next;
			ret = 0;
			continue;
		}
		log.pseg = found.pseg;
		log.seq = le64_get(found.ss.ss_seq);
		log.cno = segsum_cno(&found.ss);
		log.create = le64_get(found.ss.ss_create);
		log.nblocks = found.nblocks;
		log.flags = le16_get(found.ss.ss_flags);
		if (!slot.n)
			seq = log.seq;
		slot.nsame += slot.nsame == slot.n && seq == log.seq;
		slot.n++;
		ret = add_extents(ix, cx, &search.summary.iter, &log);
		if (!ret)
			ret = records_add(&ix->logs, cx, &log);
	}
	logsearch_close(&search);
	if (!ret)
		ix->slots[segnum] = slot;
	return ret;
}

/* Whether a log begins the segment, or something that cannot be read. */
static bool begins_with_log(struct context *cx, struct volume *vol,
			    uint64_t segnum)
{
	uint64_t start = geometry_segment_start(&vol->geo, segnum);
	uint64_t off = start << vol->geo.block_bits;
	struct nilfs_segment_summary ss;
	struct context quiet;

	if (dev_is_hole(vol->dev, off, sizeof(ss)))
		return false;
	context_child(cx, &quiet);
	return dev_read(vol->dev, &quiet, off, &ss, sizeof(ss)) ||
	       segsum_check(&vol->geo, &ss, start) == RULE_OK;
}

/* Whether a repair wrote to the segment. */
static bool is_written(const struct volume *vol, uint64_t segnum)
{
	const struct nilfs_geometry *geo = &vol->geo;
	uint64_t start = geometry_segment_start(geo, segnum);
	uint64_t n = geometry_segment_end(geo, segnum) - start;

	return dev_hides(vol->dev, start << geo->block_bits,
			 n << geo->block_bits);
}

/* SEGNUM was written to since the base was asked for it. */
static void leave_base(struct logindex *ix, struct context *cx,
		       struct volume *vol, uint64_t segnum)
{
	struct slot *slot = &ix->slots[segnum];

	slot->begins = begins_with_log(cx, vol, segnum);
	slot->has_base = false;
	slot->is_changed = true;
}

/* The slot of SEGNUM in *IX, which becomes the base where that has it. */
static struct slot *find_slot(struct logindex **ix, struct context *cx,
			      struct volume *vol, uint64_t segnum)
{
	struct slot *slot = &(*ix)->slots[segnum];
	const struct slot *below = (*ix)->base ?
		&(*ix)->base->slots[segnum] : NULL;

	if (!slot->is_known) {
		slot->is_changed = is_written(vol, segnum);
		slot->has_base = below && !slot->is_changed;
		if (!slot->has_base)
			slot->begins = begins_with_log(cx, vol, segnum);
		slot->is_known = true;
	}
	if (slot->has_base && below->is_changed)
		leave_base(*ix, cx, vol, segnum);
	if (!slot->has_base)
		return slot;
	*ix = (*ix)->base;
	return find_slot(ix, cx, vol, segnum);
}

int logindex_segment(struct logindex *ix, struct context *cx,
		     struct volume *vol, uint64_t segnum,
		     struct logindex_segment *s)
{
	struct logindex *has = ix;
	struct slot *slot;
	int err = 0;

	*s = (struct logindex_segment){ .ix = ix };
	if (segnum >= ix->geo.nsegments)
		return 0;
	err = make_slots(ix, cx);
	if (err)
		return err;
	slot = find_slot(&has, cx, vol, segnum);
	/* The base never gets what was written since. */
	if (!slot->is_read && is_written(vol, segnum)) {
		has = ix;
		slot = &ix->slots[segnum];
		leave_base(ix, cx, vol, segnum);
	}
	if (!slot->is_read)
		err = read_segment(has, cx, vol, segnum);
	*s = (struct logindex_segment){
		.ix = has,
		.first = slot->first,
		.n = slot->n,
		.nsame = slot->nsame,
	};
	return err;
}

bool logindex_begins(struct logindex *ix, struct context *cx,
		     struct volume *vol, uint64_t segnum)
{
	if (segnum >= ix->geo.nsegments)
		return false;
	/* The next call of logindex_segment() says so. */
	if (make_slots(ix, cx))
		return true;
	return find_slot(&ix, cx, vol, segnum)->begins;
}

int logindex_log(struct logindex *ix, struct context *cx, uint64_t i,
		 struct logindex_log *log)
{
	return records_get(&ix->logs, cx, i, log);
}

int logindex_extent(struct logindex *ix, struct context *cx, uint64_t i,
		    struct logindex_extent *e)
{
	return records_get(&ix->extents, cx, i, e);
}

int logindex_find_log(struct context *cx, const struct logindex_segment *s,
		      uint32_t n, uint64_t blocknr, struct logindex_log *log)
{
	uint64_t low = s->first, high = s->first + n;
	int err = 0;

	while (high - low > 1 && !err) {
		uint64_t middle = low + (high - low) / 2;

		err = logindex_log(s->ix, cx, middle, log);
		if (log->pseg <= blocknr)
			low = middle;
		else
			high = middle;
	}
	if (!err && high > low)
		err = logindex_log(s->ix, cx, low, log);
	return err ? err : high > low && log->pseg <= blocknr;
}

int logindex_find_extent(struct logindex *ix, struct context *cx,
			 const struct logindex_log *log, uint64_t blocknr,
			 struct logindex_extent *e)
{
	uint64_t low = log->first, high = log->first + log->nextents;
	int err;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		err = logindex_extent(ix, cx, middle, e);
		if (err)
			return err;
		if (blocknr < e->blocknr)
			high = middle;
		else if (blocknr - e->blocknr >= e->count)
			low = middle + 1;
		else
			return 1;
	}
	return 0;
}
