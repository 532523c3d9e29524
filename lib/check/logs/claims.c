// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Comparison of the DAT and the logs: the DAT maps virtual block v to a block,
 * and the log that contains block b lists it as v.
 *
 * They are joined without sorting.  Every block that the DAT refers to has a
 * bit (a claim).  The logs are read in the order of the device and clear the
 * bit if the entry of v leads back to b.  Logs are mostly written in the order
 * of virtual blocks, so the entry is mostly in the block of the DAT that was
 * read last.  If segments have few live blocks, the bits would take too much
 * memory.  Then the device is checked in windows, and the DAT is read once more
 * for each.  Several workers add claims.  A block that is claimed already is in
 * two entries; the other entry is found by another scan, on damaged volumes
 * only.
 *
 * A cleaner checks only whether v is live, not where it is
 * (nilfs_vdesc_is_live()).  So a number that is listed in a segment in use must
 * not be free or at another place: the kernel frees it together with the
 * segment.  Otherwise the cleaner would copy the old content of b over the
 * block that has the number next.
 *
 * Blocks of the DAT itself have no virtual number; its map gives their place.
 * The pass over the DAT reports its unreadable blocks, which are skipped here.
 */
#include "check/logs/claims.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/sort.h"
#include "check/damage.h"
#include "disk/inode.h"
#include "disk/segsum.h"
#include "vol/blockmap.h"
#include "vol/datscan.h"
#include "vol/sutable.h"

#define CHUNK_BYTES (SPARSE_CHUNK_BITS / 8)
#define MOST_NAMED 65536u	/* limit of entries that share blocks */

/*
 * The end of the window that starts at FROM, which is the start of a segment.
 * Its segments in use take half of the table memory.  The other half is for
 * wrong claims, on other segments.
 */
static uint64_t end_of(const struct check *c, uint64_t from)
{
	const struct nilfs_geometry *geo = &c->vol->geo;
	const struct bitmap *used = &c->used_segments;
	uint64_t taken = 0, first, end, last = UINT64_MAX;
	uint64_t segnum = from ? geometry_segment_of(geo, from) : 0;

	segnum = bitmap_next_set(used, segnum);
	while (segnum < used->bits) {
		/* The chunks of the set with its bits; the first may be shared
		   with the segment before. */
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

int claims_begin(struct check *c, struct context *cx)
{
	const struct nilfs_geometry *geo = &c->vol->geo;
	int err;

	err = sparse_init(&c->claimed, cx,
			  geometry_segment_end(geo, geo->nsegments - 1)) ?:
	      sparse_init(&c->claimed_twice, cx, c->claimed.bits) ?:
	      bitmap_init(&c->live_segments, cx, geo->nsegments);
	c->claimed_from = 0;
	if (!err)
		c->claimed_end = end_of(c, 0);
	return err;
}

int claims_add_dat_block(struct check *c, struct context *cx, uint64_t blocknr)
{
	if (blocknr - c->claimed_from >= c->claimed_end - c->claimed_from)
		return 1;
	return sparse_add(&c->claimed, cx, blocknr);
}

/* The entries that refer to a block claimed twice; 0: the DAT itself. */
struct owner {
	uint64_t blocknr, vblocknr;
};

struct owners {
	const struct check *c;
	struct owner *list;
	size_t count, room;
};

static int add_owner(void *arg, struct context *cx, uint64_t blocknr,
		     uint64_t vblocknr, const struct nilfs_dat_entry *de,
		     const struct blockmap_item *own)
{
	struct owners *o = arg;

	(void)own;
	if ((de && !vblocknr) || o->count == MOST_NAMED ||
	    !sparse_test(&o->c->claimed_twice, blocknr))
		return 0;
	return array_push(cx, &o->list, &o->count, &o->room,
			  (struct owner){ blocknr, vblocknr });
}

static int compare_owners(const void *a, const void *b)
{
	const struct owner *x = a, *y = b;

	return sort_order(x->blocknr, y->blocknr) ?:
	       sort_order(x->vblocknr, y->vblocknr);
}

int claims_report_twice(struct check *c, struct context *cx)
{
	struct owners o = { .c = c };
	const struct datscan_visitor visitor = {
		.block = add_owner,
		.unreadable = check_skip_unreadable,
		.arg = &o,
	};
	const struct owner *first = NULL, *other;
	char text[80];
	size_t i;
	int err = 0;

	if (c->claimed_twice.allocated)
		err = datscan_run_alone(c->vol, cx, &visitor);
	sort_in_place(o.list, o.count, sizeof(*o.list), compare_owners);
	/* One finding for each entry but the first. */
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
		findings_add(c->findings, &(struct finding){
			.rule = RULE_DAT_DOUBLE,
			.place = place_number(PLACE_VBLOCK, other->vblocknr),
			.has_got = true,
			.got = other->blocknr,
			.want = first->vblocknr,	/* the repair needs it */
			.detail = text,
		});
	}
	free(o.list);
	return err;
}

/* Claims those of the 64 blocks from FIRST on whose bits are set in BITS. */
static int claim_word(struct check *c, struct context *cx, uint64_t first,
		      uint64_t bits)
{
	uint64_t had, ignored;
	int err = sparse_add_word(&c->claimed, cx, first, bits, &had);

	return err || !had ? err :
		sparse_add_word(&c->claimed_twice, cx, first, had, &ignored);
}

int claims_entries(void *check, struct context *cx, unsigned int worker,
		   const struct datscan_block *block)
{
	struct check *c = check;
	uint64_t from = c->claimed_from ? c->claimed_from :
					  c->vol->geo.first_data_block;
	uint64_t n = c->claimed_end - from, first = 0, bits = 0, blocknr, bit;
	uint32_t i, end;
	int err = 0;

	(void)worker;
	for (i = datscan_next_used(block, !block->first);
	     i < block->count && !err; i = datscan_next_used(block, end)) {
		end = datscan_next_free(block, i);
		for (; i < end && !err; i++) {
			blocknr = le64_get(datscan_entry(block, i)->de_blocknr);
			if (blocknr - from >= n)
				continue;
			/* Neighbouring blocks mostly have neighbouring entries. */
			bit = UINT64_C(1) << blocknr % 64;
			if (blocknr - blocknr % 64 != first || bits & bit) {
				err = claim_word(c, cx, first, bits);
				first = blocknr - blocknr % 64;
				bits = 0;
			}
			bits |= bit;
		}
	}
	return err ? err : claim_word(c, cx, first, bits);
}

/*
 * Fills the window that starts at FROM with the blocks of the DAT and those of
 * its entries; with REPORT, reports blocks claimed twice.
 */
static int fill_window(struct check *c, struct context *cx, uint64_t from,
		       bool report)
{
	struct blockmap_cursor cur;
	struct blockmap_item item;
	const struct datscan_visitor visitor = {
		.entries = claims_entries,
		.unreadable = check_skip_unreadable,
		.arg = c,
	};
	int ret;

	sparse_clear(&c->claimed_twice);
	c->claimed_from = from;
	c->claimed_end = end_of(c, from);
	ret = blockmap_cursor_open(&cur, cx, &c->vol->dat.map, 0, true);
	while (!ret && (ret = blockmap_cursor_next(&cur, cx, &item)) > 0) {
		ret = context_cancelled(cx);
		if (ret || !geometry_has_block(&c->vol->geo, item.ptr))
			continue;
		ret = claims_add_dat_block(c, cx, item.ptr);
		if (!ret && report) {
			findings_got(c->findings, RULE_DAT_MAP_DOUBLE,
				     place_map(0, NILFS_DAT_INO, item.key,
					       item.level), item.ptr);
			c->dat_broken = true;
		}
		ret = ret < 0 ? ret : 0;
	}
	blockmap_cursor_close(&cur);
	ret = damage_forgive(cx, ret);
	if (ret || c->dat_broken)
		return ret;

	ret = datscan_run(c->vol, cx, &visitor);
	if (!ret && report)
		ret = claims_report_twice(c, cx);
	return damage_forgive(cx, ret);
}

int claims_survey(struct check *c, struct context *cx)
{
	const struct nilfs_geometry *geo = &c->vol->geo;
	uint64_t b, end, segnum;
	bool several = false;
	int err = 0;

	for (;;) {
		end = c->claimed_end;
		b = sparse_next(&c->claimed, c->claimed_from, end);
		while (b < end) {
			segnum = geometry_segment_of(geo, b);
			bitmap_set(&c->live_segments, segnum);
			b = sparse_next(&c->claimed,
					geometry_segment_end(geo, segnum), end);
		}
		if (err || end >= c->claimed.bits)
			break;
		several = true;
		sparse_clear(&c->claimed);
		err = fill_window(c, cx, end, true);
	}
	if (!several)
		return 0;
	sparse_clear(&c->claimed);
	return err ? err : fill_window(c, cx, 0, false);
}

int claims_next(struct check *c, struct context *cx)
{
	int err;

	sparse_trim(&c->claimed);
	if (c->claimed_end >= c->claimed.bits)
		return 0;
	err = fill_window(c, cx, c->claimed_end, false);
	return err ? err : 1;
}

/*
 * 2 and *VB if VBLOCKNR is in use at BLOCKNR by the DAT, 1 if its entry is
 * there but not in use or cannot be read; 0; or a failure.
 */
static inline int is_at(struct vblocks *vblocks, struct context *cx,
			uint64_t vblocknr, uint64_t blocknr, struct vblock *vb)
{
	int state = vblocks_find(vblocks, cx, vblocknr, vb);

	switch (state) {
	case VBLOCKS_USED:
		return vb->blocknr == blocknr ? 2 : 0;
	case VBLOCKS_FREE:
		return vb->blocknr == blocknr;
	case VBLOCKS_MISSING:
		return 0;
	case VBLOCKS_UNKNOWN:
		return 1;
	default:
		return state;
	}
}

/* Records that BLOCKNR is listed with a number that the DAT has free or
   elsewhere, unless the DAT cannot be read. */
static int note_unclaimed(struct claims *claims, struct context *cx,
			  uint64_t vblocknr, uint64_t blocknr)
{
	struct vblock vb;
	int state;

	if (claims->any_unclaimed)
		return 0;
	state = vblocks_find(&claims->vblocks, cx, vblocknr, &vb);
	claims->any_unclaimed = state == VBLOCKS_FREE ||
				state == VBLOCKS_MISSING ||
				(state == VBLOCKS_USED && vb.blocknr &&
				 vb.blocknr != blocknr);
	return state < 0 ? state : 0;
}

/* Whether a block with the result RET of is_at() is live now or in a snapshot,
   as far as is known. */
static inline bool is_needed(struct claims *claims, int ret,
			     const struct vblock *vb)
{
	bool needed = ret == 1 ||
		      (ret > 1 && (vb->life.end == NILFS_CNO_MAX ||
				   check_snapshot_of(claims->c, vb->life.start,
						     vb->life.end)));

	claims->any_needed |= needed;
	return needed;
}

/*
 * Settles N blocks of file INO from BLOCKNR on that share a word of the set.
 * ITEMS is their listing.
 */
static int settle_word(struct claims *claims, struct context *cx,
		       uint64_t blocknr, uint64_t ino,
		       const struct nilfs_binfo_v *items, uint32_t n)
{
	struct sparse *claimed = &claims->c->claimed;
	uint32_t shift = blocknr % 64, i;
	uint64_t had = sparse_word(claimed, blocknr - shift) >> shift;
	uint64_t settled = 0, number;
	struct vblock vb;
	int ret;

	for (i = 0; i < n; i++) {
		number = le64_get(items[i].bi_vblocknr);
		if (!(had >> i & 1)) {
			ret = note_unclaimed(claims, cx, number, blocknr + i);
			if (ret)
				return ret;
			continue;
		}
		ret = is_at(&claims->vblocks, cx, number, blocknr + i, &vb);
		if (ret < 0)
			return ret;
		if (is_needed(claims, ret, &vb) && ret > 1)
			mapsum_add(&claims->sum, number, ino,
				   le64_get(items[i].bi_blkoff));
		settled |= (uint64_t)(ret > 0) << i;
	}
	sparse_remove_word(claimed, blocknr - shift, settled << shift);
	return 0;
}

int claims_find_owner(struct vblocks *vblocks, struct context *cx, uint64_t blocknr,
		      const struct segsum_block *b, struct vblock *vb)
{
	uint64_t at;
	int ret;

	if (b->is_virtual)
		return is_at(vblocks, cx, b->vblocknr, blocknr, vb);
	ret = blockmap_lookup_at_level(&vblocks->vol->dat.map, cx, b->blkoff,
				       b->level, &at);
	if (ret >= 0)
		return ret && at == blocknr;
	ret = damage_forgive(cx, ret);
	return ret ? ret : 1;
}

int claims_settle_log(struct claims *claims, struct context *cx,
		      struct summary *summary)
{
	struct check *c = claims->c;
	struct sparse *listed;
	struct segsum_block b;
	struct segsum_run run;
	struct vblock vb;
	uint64_t blocknr;
	uint32_t i, n;
	int ret = 0;

	while (!ret && segsum_iter_next(&summary->iter, &b)) {
		blocknr = summary->pseg + b.index;
		listed = check_listed(c, b.ino);
		claims->sum = (struct mapsum){ 0 };
		if (sparse_test(&c->claimed, blocknr))
			ret = claims_find_owner(&claims->vblocks, cx, blocknr, &b,
						&vb);
		else if (b.is_virtual)
			ret = note_unclaimed(claims, cx, b.vblocknr, blocknr);
		if (ret > 0) {
			if (is_needed(claims, ret, &vb) && ret > 1 &&
			    !b.is_node && !inode_is_metadata(b.ino))
				mapsum_add(&claims->sum, b.vblocknr, b.ino,
					   b.blkoff);
			sparse_remove(&c->claimed, blocknr);
			ret = listed && b.vblocknr < listed->bits ?
				sparse_add(listed, cx, b.vblocknr) : 0;
			ret = ret < 0 ? ret : 0;
		}
		while (!ret && !listed &&
		       segsum_iter_run(&summary->iter, &run)) {
			blocknr = summary->pseg + run.index;
			for (i = 0; i < run.count && !ret; i += n) {
				n = 64 - (blocknr + i) % 64;
				if (n > run.count - i)
					n = run.count - i;
				ret = settle_word(claims, cx, blocknr + i,
						  b.ino, run.items + i, n);
			}
		}
		if (claims->sum.blocks && c->sums)
			mapsums_add(c->sums->listed, b.ino, &claims->sum);
	}
	return ret;
}

uint64_t claims_drop(struct check *c, uint64_t from, uint64_t end,
		     uint64_t *last)
{
	uint64_t b, n = 0;

	for (b = sparse_next(&c->claimed, from, end); b < end;
	     b = sparse_next(&c->claimed, b + 1, end)) {
		sparse_remove(&c->claimed, b);
		if (last)
			*last = b;
		n++;
	}
	return n;
}

static int name_block(void *arg, struct context *cx, uint64_t blocknr,
		      uint64_t vblocknr, const struct nilfs_dat_entry *de,
		      const struct blockmap_item *own)
{
	struct check *c = arg;

	(void)cx;
	(void)de;
	if (sparse_test(&c->claimed, blocknr))
		findings_add(c->findings, &(struct finding){
			.rule = RULE_LOG_UNLISTED,
			.place = own ? place_number(PLACE_BLOCK, blocknr) :
				       place_number(PLACE_VBLOCK, vblocknr),
			.has_got = !own, .got = own ? 0 : blocknr,
		});
	return 0;
}

int claims_report(struct check *c, struct context *cx)
{
	const struct nilfs_geometry *geo = &c->vol->geo;
	const struct datscan_visitor visitor = {
		.block = name_block,
		.unreadable = check_skip_unreadable,
		.arg = c,
	};
	const uint64_t all = c->claimed.bits, latest = c->vol->latest.segnum;
	struct nilfs_segment_usage_ext su;
	struct nilfs_segment_summary ss;
	uint64_t b, end, start, counted, segnum, n, last = 0;
	struct place place;
	bool any = false;
	int err = 0;

	/* Whole segments get one finding. */
	for (b = sparse_next(&c->claimed, 0, all);
	     !err && b < all && geometry_has_block(geo, b);
	     b = sparse_next(&c->claimed, end, all)) {
		segnum = geometry_segment_of(geo, b);
		start = geometry_segment_start(geo, segnum);
		end = geometry_segment_end(geo, segnum);
		place = place_number(PLACE_SEGMENT, segnum);
		err = sutable_read(c->vol, cx, segnum, &su);
		if (err)
			break;
		/* Blocks after the latest log are not counted. */
		counted = segnum == latest ?
			end : start + le32_get(su.su.su_nblocks);
		if (!segusage_is_dirty(&su.su) && segnum != latest) {
			n = claims_drop(c, start, end, &last);
			findings_differ(c->findings, RULE_SU_CLEAN_HOLDS, place,
					0, n);
		} else if (counted < end &&
			   !dev_read(c->dev, cx, counted << geo->block_bits,
				     &ss, sizeof(ss)) &&
			   segsum_check(geo, &ss, counted) == RULE_OK &&
			   claims_drop(c, counted, end, &last)) {
			/* A log begins there. */
			findings_differ(c->findings, RULE_SU_BEHIND, place,
					last + 1 - start, counted - start);
		}
		fail_clear(cx);
		any |= sparse_next(&c->claimed, b, end) < end;
		err = context_cancelled(cx);
	}
	if (!err && any)
		err = datscan_run(c->vol, cx, &visitor);
	return check_damage(c->findings, cx, err, RULE_LOG_UNLISTED,
			    place_number(PLACE_VOLUME, 0));
}
