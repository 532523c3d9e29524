// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The log index.
 *
 * A repair needs the listings of the logs many times: of one block, of a file,
 * of all virtual blocks.  Each segment is searched once, on first use.  So
 * nothing is read on a sound volume, and only the affected segments on a
 * damaged one.  The listings become records of runs of blocks.  Files are
 * mostly contiguous, so few records are needed; those above a part of the
 * memory budget are stored in a temporary file.
 *
 * The index contains only what the logs record and uses neither SUFILE nor DAT.
 * Its users determine which use of a segment a log belongs to (listings.h).  A
 * repair checks the volume many times.  Each check has its own index, which
 * reads segments that the repair changed and takes the others from the base:
 * the index of the device below the overlay.  Derived blocks that are patches
 * over the device change no summary except ss_datasum, which is not in the
 * index.
 */
#include "check/logs/logindex.h"

#include <errno.h>
#include <stdlib.h>

#include "base/records.h"
#include "check/damage.h"
#include "dev/overlay.h"
#include "vol/logsearch.h"
#include "vol/volume.h"

#define CHUNK 256u	/* slots that are allocated together */
#define MANY 1024u	/* segments that are left out together */

/* Bits of logindex.known: the known facts of a segment. */
#define ASKED 1u
#define OWN 2u		/* not what the base has counts */
#define BEGUN 4u	/* whether a log begins it, as BEGINS says */
#define BEGINS 8u
#define READ 16u	/* its logs: there is a slot */

struct slot {
	uint64_t first;
	uint32_t n, nsame;
};

/* A volume may have millions of segments, of which few are in use. */
struct logindex {
	struct nilfs_geometry geo;
	struct logindex *base;		/* borrowed */
	uint8_t *known;			/* of each segment; NULL: not asked */
	struct slot **chunks;		/* NULL where none of a chunk was read */
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
	uint64_t i;

	if (!ix)
		return;
	records_fini(&ix->logs);
	records_fini(&ix->extents);
	for (i = 0; ix->chunks && i <= (ix->geo.nsegments - 1) / CHUNK; i++)
		free(ix->chunks[i]);
	free(ix->chunks);
	free(ix->known);
	free(ix);
}

/* Adds the log FOUND, and the blocks that it lists, as runs. */
static int logindex_add_log(struct logindex *ix, struct context *cx,
			    const struct log *found, struct segsum_iter *iter)
{
	struct logindex_log log = {
		.pseg = found->pseg,
		.seq = le64_get(found->ss.ss_seq),
		.cno = segsum_cno(&found->ss),
		.create = le64_get(found->ss.ss_create),
		.first = ix->extents.n,
		.nblocks = found->nblocks,
		.nsumblk = segsum_nsumblk(&ix->geo, &found->ss),
		.flags = le16_get(found->ss.ss_flags),
	};
	struct logindex_extent e = { .count = 0 };
	struct segsum_block b;
	int err = 0;

	while (!err && segsum_iter_next(iter, &b)) {
		if (e.count && !e.is_node && !b.is_node &&
		    e.finfo == b.finfo && e.is_virtual == b.is_virtual &&
		    e.blocknr + e.count == log.pseg + b.index &&
		    e.blkoff + e.count == b.blkoff &&
		    (!b.is_virtual || e.vblocknr + e.count == b.vblocknr)) {
			e.count++;
			continue;
		}
		if (e.count)
			err = records_add(&ix->extents, cx, &e);
		e = (struct logindex_extent){
			.blocknr = log.pseg + b.index,
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
	log.verdict = (uint16_t)iter->verdict;
	log.nextents = (uint32_t)(ix->extents.n - log.first);
	return err ? err : records_add(&ix->logs, cx, &log);
}

/* Reads the logs of a segment.  Unreadable blocks are tried twice; a log that
   is not found then counts as nonexistent. */
static int logindex_read_segment(struct logindex *ix, struct context *cx,
				 struct volume *vol, uint64_t segnum)
{
	struct slot slot = { .first = ix->logs.n };
	struct slot **chunk = &ix->chunks[segnum / CHUNK];
	struct logsearch search;
	struct log found;
	uint64_t seq = 0, failed = UINT64_MAX;
	int ret;

	if (!*chunk)
		*chunk = calloc(CHUNK, sizeof(slot));
	if (!*chunk)
		return fail(cx, -ENOMEM, "the index of the logs");
	ret = logsearch_open(&search, cx, vol, segnum,
			     geometry_segment_start(&vol->geo, segnum));
	while (!ret) {
		ret = context_cancelled(cx) ?:
		      logsearch_next(&search, cx, &found);
		if (!ret || (ret < 0 && damage_is_fatal(ret)))
			break;
		if (ret > 0) {
			if (!slot.n)
				seq = le64_get(found.ss.ss_seq);
			slot.nsame += slot.nsame == slot.n &&
				      seq == le64_get(found.ss.ss_seq);
			slot.n++;
			ret = logindex_add_log(ix, cx, &found,
					       &search.summary.iter);
			continue;
		}
		/* Continues after an unreadable block. */
		fail_clear(cx);
		if (ret != -EIO || search.next == failed)
			search.next++;
		else
			failed = search.next;
		ret = 0;
	}
	logsearch_close(&search);
	if (!ret) {
		(*chunk)[segnum % CHUNK] = slot;
		ix->known[segnum] |= READ;
	}
	return ret;
}

/*
 * What *IX, which becomes the base where that has it, knows of SEGNUM: BEGUN.  The
 * base never gets what was written over its device since.
 */
static int logindex_find_slot(struct logindex **ix, struct context *cx,
			      struct volume *vol, uint64_t segnum, uint8_t **knownp)
{
	const struct nilfs_geometry *geo = &vol->geo;
	struct logindex *base = (*ix)->base, *i;
	uint64_t start = geometry_segment_start(geo, segnum);
	uint64_t off = start << geo->block_bits;
	uint64_t end = geometry_segment_end(geo, segnum) << geo->block_bits;
	struct nilfs_segment_summary ss;
	struct context quiet;
	uint8_t *known;

	/* Allocated on first use: a sound volume needs none. */
	for (i = *ix; i; i = i->base) {
		if (!i->known)
			i->known = calloc(i->geo.nsegments, 1);
		if (!i->chunks)
			i->chunks = calloc((i->geo.nsegments - 1) / CHUNK + 1,
					   sizeof(*i->chunks));
		if (!i->known || !i->chunks)
			return fail(cx, -ENOMEM, "the index of the logs");
	}
	known = &(*ix)->known[segnum];
	if (!(*known & OWN) &&
	    (!(*known & ASKED) || !(base->known[segnum] & READ)) &&
	    (!base || overlay_hides(vol->dev, off, end - off)))
		*known |= OWN;
	*known |= ASKED;
	if (!(*known & OWN)) {
		*ix = base;
		known = &base->known[segnum];
	}
	if (!(*known & BEGUN)) {
		context_child(cx, &quiet);
		if (!dev_is_hole(vol->dev, off, sizeof(ss)) &&
		    (dev_read(vol->dev, &quiet, off, &ss, sizeof(ss)) ||
		     segsum_check(geo, &ss, start) == RULE_OK))
			*known |= BEGINS;
		*known |= BEGUN;
	}
	*knownp = known;
	return 0;
}

int logindex_segment(struct logindex *ix, struct context *cx,
		     struct volume *vol, uint64_t segnum,
		     struct logindex_segment *s)
{
	const struct slot *slot;
	uint8_t *known;
	int err;

	*s = (struct logindex_segment){ .ix = ix };
	if (segnum >= ix->geo.nsegments)
		return 0;
	err = logindex_find_slot(&s->ix, cx, vol, segnum, &known);
	if (!err && !(*known & READ))
		err = logindex_read_segment(s->ix, cx, vol, segnum);
	if (err)
		return err;
	slot = &s->ix->chunks[segnum / CHUNK][segnum % CHUNK];
	s->first = slot->first;
	s->n = slot->n;
	s->nsame = slot->nsame;
	return 0;
}

bool logindex_begins(struct logindex *ix, struct context *cx,
		     struct volume *vol, uint64_t segnum)
{
	uint8_t *known;

	/* A failure is reported by the next call of logindex_segment(). */
	return segnum < ix->geo.nsegments &&
	       (logindex_find_slot(&ix, cx, vol, segnum, &known) || *known & BEGINS);
}

/* Whether it is known that no log begins any of MANY segments from SEGNUM on. */
static bool is_empty(struct logindex *ix, struct volume *vol, uint64_t segnum)
{
	const struct nilfs_geometry *geo = &vol->geo;
	const struct logindex *first = ix->base ? ix->base : ix;
	uint64_t off = geometry_segment_start(geo, segnum) << geo->block_bits;
	uint64_t end = geometry_segment_end(geo, segnum + MANY - 1)
		       << geo->block_bits;
	uint64_t i;

	if (dev_is_hole(vol->dev, off, end - off))
		return true;
	if (!first->known ||
	    (ix->base && overlay_hides(vol->dev, off, end - off)))
		return false;
	for (i = segnum; i < segnum + MANY; i++)
		if ((first->known[i] & (BEGUN | BEGINS)) != BEGUN)
			return false;
	return true;
}

uint64_t logindex_skip(struct logindex *ix, struct volume *vol, uint64_t segnum,
		       const struct bitmap *used)
{
	uint64_t nsegments = vol->geo.nsegments < ix->geo.nsegments ?
				     vol->geo.nsegments : ix->geo.nsegments;
	uint64_t latest = vol->latest.segnum, next = UINT64_MAX, end;

	if (segnum % MANY)
		return segnum;
	if (used && used->bits)
		next = bitmap_next_set(used, segnum);
	/* The last ones are looked at, so that there is one to return. */
	for (; segnum + MANY < nsegments; segnum = end) {
		end = segnum + MANY;
		if (next < end || (latest >= segnum && latest < end) ||
		    !is_empty(ix, vol, segnum))
			break;
	}
	return segnum;
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

/* The last of N records of R from FIRST on, which are ordered by block number,
   that begins at BLOCKNR or before: 1 and *ITEM, 0. */
static int find_record(struct records *r, struct context *cx, uint64_t first,
		       uint64_t n, uint64_t blocknr, void *item)
{
	const uint64_t *number = item;
	uint64_t high = first + n, middle;
	int err = 0;

	while (high - first > 1 && !err) {
		middle = first + (high - first) / 2;
		err = records_get(r, cx, middle, item);
		if (!err && *number <= blocknr)
			first = middle;
		else
			high = middle;
	}
	if (!err && n)
		err = records_get(r, cx, first, item);
	return err ? err : n && *number <= blocknr;
}

int logindex_find_log(struct context *cx, const struct logindex_segment *s,
		      uint32_t n, uint64_t blocknr, struct logindex_log *log)
{
	return find_record(&s->ix->logs, cx, s->first, n, blocknr, log);
}

int logindex_find_extent(struct logindex *ix, struct context *cx,
			 const struct logindex_log *log, uint64_t blocknr,
			 struct logindex_extent *e)
{
	int ret = find_record(&ix->extents, cx, log->first, log->nextents,
			      blocknr, e);

	return ret > 0 ? blocknr - e->blocknr < e->count : ret;
}

int logindex_next_block(struct logindex *ix, struct context *cx,
			struct logindex_cursor *cur, struct segsum_block *b)
{
	int err;

	if (cur->block == cur->extent.count) {
		if (cur->nextents == cur->log.nextents)
			return 0;
		err = logindex_extent(ix, cx, cur->log.first + cur->nextents,
				      &cur->extent);
		if (err)
			return err;
		cur->nextents++;
		cur->block = 0;
	}
	*b = logindex_block(&cur->log, &cur->extent, cur->block++);
	return 1;
}
