// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The blocks that the DAT claims, a window of the device at a time.
 *
 * A block takes a bit near others in use.  Where segments have many live
 * blocks, that is little beside the DAT, and one window has all of them.  Where
 * they have few, the bits would take more memory than everything else: the DAT
 * is read once more for each window then.
 */
#include "check/logs/claimwindow.h"

#include "base/sparse.h"
#include "check/damage.h"
#include "check/logs/claimer.h"
#include "disk/geometry.h"
#include "vol/blockmap.h"
#include "vol/datscan.h"

#define CHUNK_BYTES (SPARSE_CHUNK_BITS / 8)

/* Adds the bytes that the bits of segment SEGNUM take, beside those of chunk
   *LAST, to what is taken already. */
static uint64_t add_bytes(const struct nilfs_geometry *geo, uint64_t segnum,
			  uint64_t *last, uint64_t taken)
{
	uint64_t first = geometry_segment_start(geo, segnum) /
			 SPARSE_CHUNK_BITS;
	uint64_t end = (geometry_segment_end(geo, segnum) - 1) /
		       SPARSE_CHUNK_BITS;

	taken += (end - first + (first != *last)) * CHUNK_BYTES;
	*last = end;
	return taken;
}

/*
 * Where the window from FROM on ends, the start of a segment: its segments in
 * use take half of the table memory.  The other half is for claims on others,
 * which are wrong.
 */
static uint64_t end_of(const struct check *c, uint64_t from)
{
	const struct nilfs_geometry *geo = &c->vol->geo;
	uint64_t taken = 0, last = UINT64_MAX, segnum;
	const struct bitmap *used = &c->used_segments;

	segnum = from ? geometry_segment_of(geo, from) : 0;
	segnum = bitmap_next_set(used, segnum);
	while (segnum < used->bits) {
		taken = add_bytes(geo, segnum, &last, taken);
		segnum = bitmap_next_set(used, segnum + 1);
		if (taken >= c->table_memory / 2 && segnum < used->bits)
			return geometry_segment_start(geo, segnum);
	}
	return c->claimed.bits;
}

int claimwindow_init(struct check *c, struct context *cx)
{
	const struct nilfs_geometry *geo = &c->vol->geo;
	int err;

	err = sparse_init(&c->claimed, cx,
			  geometry_segment_end(geo, geo->nsegments - 1));
	if (!err)
		err = bitmap_init(&c->live_segments, cx, geo->nsegments);
	c->claimed_from = 0;
	if (!err)
		c->claimed_end = end_of(c, 0);
	return err;
}

int claimwindow_own(struct check *c, struct context *cx, uint64_t blocknr)
{
	if (blocknr - c->claimed_from >= c->claimed_end - c->claimed_from)
		return 1;
	return sparse_add(&c->claimed, cx, blocknr);
}

void claimwindow_blame(struct check *c, enum rule rule, uint64_t ptr,
		       uint64_t key, unsigned int level)
{
	findings_add(c->findings, &(struct finding){
		.rule = rule,
		.place = place_map(0, NILFS_DAT_INO, key, level),
		.has_got = true, .got = ptr,
	});
	c->dat_broken = true;
}

/* The blocks of the DAT itself; REPORT: those that it has twice. */
static int fill_own(struct check *c, struct context *cx, bool report)
{
	struct blockmap_cursor cur;
	struct blockmap_item item;
	int ret;

	ret = blockmap_cursor_open(&cur, cx, &c->vol->dat.map, 0, true);
	while (!ret && (ret = blockmap_cursor_next(&cur, cx, &item)) > 0) {
		ret = context_cancelled(cx);
		if (ret || !geometry_has_block(&c->vol->geo, item.ptr))
			continue;
		ret = claimwindow_own(c, cx, item.ptr);
		if (!ret && report)
			claimwindow_blame(c, RULE_DAT_MAP_DOUBLE, item.ptr,
					  item.key, item.level);
		ret = ret < 0 ? ret : 0;
	}
	blockmap_cursor_close(&cur);
	return damage_forgive(cx, ret);
}

static int claim_entries(void *arg, struct context *cx, unsigned int worker,
			 const struct datscan_block *block)
{
	struct claimer *claimer = arg;
	const struct check *c = claimer->c;
	struct claimer_pending pending = { 0 };
	uint32_t i, end;
	uint64_t blocknr;
	int err = 0;

	(void)worker;
	for (i = datscan_next_used(block, !block->first);
	     i < block->count && !err; i = datscan_next_used(block, end)) {
		end = datscan_next_free(block, i);
		for (; i < end && !err; i++) {
			blocknr = le64_get(datscan_entry(block, i)->de_blocknr);
			if (blocknr >= c->vol->geo.first_data_block &&
			    blocknr < c->claimed.bits)
				err = claimer_add(claimer, cx, &pending,
						  blocknr);
		}
	}
	return err ? err : claimer_flush(claimer, cx, &pending);
}

static int fill_entries(struct check *c, struct context *cx, bool report)
{
	struct claimer claimer;
	const struct datscan_visitor visitor = {
		.entries = claim_entries,
		.unreadable = check_skip_unreadable,
		.arg = &claimer,
	};
	int err = claimer_init(&claimer, cx, c);

	if (!err)
		err = datscan_run(c->vol, cx, &visitor);
	if (!err && report)
		err = claimer_report(&claimer, cx);
	claimer_fini(&claimer);
	return damage_forgive(cx, err);
}

static void mark_segments(struct check *c)
{
	const struct nilfs_geometry *geo = &c->vol->geo;
	const uint64_t end = c->claimed_end;
	uint64_t b = sparse_next(&c->claimed, c->claimed_from, end), segnum;

	while (b < end) {
		segnum = geometry_segment_of(geo, b);
		bitmap_set(&c->live_segments, segnum);
		b = sparse_next(&c->claimed, geometry_segment_end(geo, segnum),
				end);
	}
}

static int fill(struct check *c, struct context *cx, uint64_t from, bool report)
{
	int err;

	c->claimed_from = from;
	c->claimed_end = end_of(c, from);
	err = fill_own(c, cx, report);
	if (!err && !c->dat_broken)
		err = fill_entries(c, cx, report);
	return err;
}

int claimwindow_survey(struct check *c, struct context *cx)
{
	int err = 0;

	mark_segments(c);
	if (c->claimed_end == c->claimed.bits)
		return 0;
	while (!err && c->claimed_end < c->claimed.bits) {
		sparse_clear(&c->claimed);
		err = fill(c, cx, c->claimed_end, true);
		mark_segments(c);
	}
	sparse_clear(&c->claimed);
	return err ? err : fill(c, cx, 0, false);
}

int claimwindow_next(struct check *c, struct context *cx)
{
	int err;

	sparse_trim(&c->claimed);
	if (c->claimed_end >= c->claimed.bits)
		return 0;
	err = fill(c, cx, c->claimed_end, false);
	return err ? err : 1;
}
