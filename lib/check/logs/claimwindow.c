// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The blocks that the DAT claims, a window of the device at a time.
 *
 * A block takes a bit near others in use.  Where segments have many live
 * blocks, that is little beside the DAT, and one window has all of them.  Where
 * they have few, the bits would take more memory than everything else: the DAT
 * is read once more for each window then.
 *
 * Several workers add them.  A block that is claimed already is in two entries;
 * finding the other one takes another pass, on damaged volumes only.
 */
#include "check/logs/claimwindow.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/sort.h"
#include "base/sparse.h"
#include "check/damage.h"
#include "disk/geometry.h"
#include "vol/blockmap.h"
#include "vol/datscan.h"

#define CHUNK_BYTES (SPARSE_CHUNK_BITS / 8)
#define MOST_NAMED 65536u	/* of entries that share blocks */

/*
 * Where the window from FROM on ends, the start of a segment: its segments in
 * use take half of the table memory.  The other half is for claims on others,
 * which are wrong.
 */
static uint64_t end_of(const struct check *c, uint64_t from)
{
	const struct nilfs_geometry *geo = &c->vol->geo;
	const struct bitmap *used = &c->used_segments;
	uint64_t taken = 0, first, end, last = UINT64_MAX;
	uint64_t segnum = from ? geometry_segment_of(geo, from) : 0;

	segnum = bitmap_next_set(used, segnum);
	while (segnum < used->bits) {
		/* The chunks of the set that its bits are in; it may share the
		   first with the segment before. */
		first = geometry_segment_start(geo, segnum) /
			SPARSE_CHUNK_BITS;
		end = (geometry_segment_end(geo, segnum) - 1) /
		      SPARSE_CHUNK_BITS;
		taken += (end - first + (first != last)) * CHUNK_BYTES;
		last = end;
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

int claimwindow_open(struct claimer *claimer, struct context *cx, struct check *c)
{
	*claimer = (struct claimer){ .c = c };
	return sparse_init(&claimer->shared, cx, c->claimed.bits);
}

void claimwindow_close(struct claimer *claimer)
{
	sparse_fini(&claimer->shared);
}

int claimwindow_flush(struct claimer *claimer, struct context *cx,
		  struct claimer_pending *pending)
{
	uint64_t had, ignored;
	int err = sparse_add_word(&claimer->c->claimed, cx, pending->first,
				  pending->bits, &had);

	pending->bits = 0;
	if (err || !had)
		return err;
	__atomic_store_n(&claimer->any_shared, true, __ATOMIC_RELAXED);
	return sparse_add_word(&claimer->shared, cx, pending->first, had,
			       &ignored);
}

/* The entries that name a block named twice, 0 for the DAT itself. */
struct owner {
	uint64_t blocknr, vblocknr;
};

struct owners {
	const struct claimer *claimer;
	struct owner *list;
	size_t count, room;
};

static int add_owner(struct owners *o, struct context *cx, uint64_t blocknr,
		     uint64_t vblocknr)
{
	if (!sparse_test(&o->claimer->shared, blocknr) ||
	    o->count == MOST_NAMED)
		return 0;
	if (array_reserve(cx, &o->list, &o->room, o->count + 1))
		return -ENOMEM;
	o->list[o->count++] = (struct owner){ blocknr, vblocknr };
	return 0;
}

static int own_entry(void *arg, struct context *cx, unsigned int worker,
		     uint64_t vblocknr, const struct nilfs_dat_entry *de)
{
	(void)worker;
	return vblocknr ? add_owner(arg, cx, le64_get(de->de_blocknr),
				    vblocknr) : 0;
}

static int own_block(void *arg, struct context *cx,
		     const struct blockmap_item *item)
{
	return add_owner(arg, cx, item->ptr, 0);
}

static int compare_owners(const void *a, const void *b)
{
	const struct owner *x = a, *y = b;

	if (x->blocknr != y->blocknr)
		return x->blocknr < y->blocknr ? -1 : 1;
	if (x->vblocknr != y->vblocknr)
		return x->vblocknr < y->vblocknr ? -1 : 1;
	return 0;
}

int claimwindow_report(struct claimer *claimer, struct context *cx)
{
	struct owners o = { .claimer = claimer };
	const struct datscan_visitor visitor = {
		.used = own_entry,
		.own_block = own_block,
		.unreadable = check_skip_unreadable,
		.arg = &o,
	};
	const struct owner *first = NULL, *other;
	char text[80];
	size_t i;
	int err = 0;

	if (claimer->any_shared)
		err = datscan_run_alone(claimer->c->vol, cx, &visitor);
	sort_in_place(o.list, o.count, sizeof(*o.list), compare_owners);
	/* One finding for each but the first that name a block. */
	for (i = 0; i < o.count && !err; i++) {
		other = &o.list[i];
		if (!first || other->blocknr != first->blocknr) {
			first = other;
			continue;
		}
		snprintf(text, sizeof(text), "the DAT itself has that block");
		if (first->vblocknr)
			snprintf(text, sizeof(text),
				 "virtual block %llu has that block",
				 (unsigned long long)first->vblocknr);
		findings_add(claimer->c->findings, &(struct finding){
			.rule = RULE_DAT_DOUBLE,
			.place = place_number(PLACE_VBLOCK, other->vblocknr),
			.has_got = true,
			.got = other->blocknr,
			.detail = text,
		});
	}
	free(o.list);
	return err;
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
				err = claimwindow_add(claimer, cx, &pending,
						  blocknr);
		}
	}
	return err ? err : claimwindow_flush(claimer, cx, &pending);
}

/*
 * Fills the window from FROM on with the blocks of the DAT itself, and those of
 * its entries; REPORT: what is there twice.
 */
static int fill(struct check *c, struct context *cx, uint64_t from, bool report)
{
	struct blockmap_cursor cur;
	struct blockmap_item item;
	struct claimer claimer;
	const struct datscan_visitor visitor = {
		.entries = claim_entries,
		.unreadable = check_skip_unreadable,
		.arg = &claimer,
	};
	int ret;

	c->claimed_from = from;
	c->claimed_end = end_of(c, from);
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
	ret = damage_forgive(cx, ret);
	if (ret || c->dat_broken)
		return ret;

	ret = claimwindow_open(&claimer, cx, c);
	if (!ret)
		ret = datscan_run(c->vol, cx, &visitor);
	if (!ret && report)
		ret = claimwindow_report(&claimer, cx);
	claimwindow_close(&claimer);
	return damage_forgive(cx, ret);
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
