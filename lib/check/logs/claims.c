// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Two lists of the same blocks: the DAT says where virtual block v is, a log
 * says that its block b is v.  They are joined without sorting either.  Every
 * block that the DAT names has a bit, and the logs, read in the order of the
 * device, take bits out where the entry of v leads back to b.  Logs are mostly
 * written in the order of virtual blocks, so the entry stands in the block of
 * the DAT that was looked at last.
 *
 * A cleaner asks the DAT only whether v lives, not where (nilfs_vdesc_is_live()).
 * So a number that is listed in a segment in use is never free, nor another
 * block's: the kernel frees it together with the segment.  Otherwise it would
 * copy the old content of b over that of the block which has the number next.
 *
 * Blocks of the DAT itself have no virtual number; its map says where they
 * are.  An old one that an entry names is unused.  A block of the DAT that
 * cannot be read was reported by the pass over it, and its content is not
 * needed here.
 */
#include "check/logs/claims.h"

#include "check/damage.h"
#include "disk/inode.h"
#include "disk/segsum.h"
#include "vol/blockmap.h"
#include "vol/datscan.h"
#include "vol/sutable.h"

void claims_init(struct claims *claims, struct check *c, struct volume *vol)
{
	claims->c = c;
	vblocks_init(&claims->vblocks, vol, &c->datruns);
}

void claims_fini(struct claims *claims)
{
	vblocks_fini(&claims->vblocks);
}

/*
 * 1 if the DAT has VBLOCKNR at BLOCKNR, or cannot be read; 2 and *VB if it is in
 * use there; 0, failure.
 */
static inline int is_at(struct claims *claims, struct context *cx,
			uint64_t vblocknr, uint64_t blocknr, struct vblock *vb)
{
	int state = vblocks_find(&claims->vblocks, cx, vblocknr, vb);

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

/* No entry names block BLOCKNR: notes that, unless the DAT cannot be read. */
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

/* Whether a block that is_at() says RET of lives now or in a snapshot, as far as
   is known. */
static inline bool is_needed(struct claims *claims, int ret,
			     const struct vblock *vb)
{
	bool needed = ret == 1 ||
		      (ret > 1 && (vb->end == NILFS_CNO_MAX ||
				   check_snapshot_of(claims->c, vb->start,
						     vb->end)));

	claims->any_needed |= needed;
	return needed;
}

/*
 * The N blocks of file INO from BLOCKNR on, which share a word of the set; ITEMS
 * is what the log lists them as.
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
		ret = is_at(claims, cx, number, blocknr + i, &vb);
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

static int settle_block(struct claims *claims, struct context *cx,
			uint64_t blocknr, const struct segsum_block *b)
{
	struct check *c = claims->c;
	struct sparse *listed = check_listed(c, b->ino);
	struct vblock vb;
	uint64_t at;
	int ret;

	if (!sparse_test(&c->claimed, blocknr))
		return b->is_virtual ? note_unclaimed(claims, cx, b->vblocknr,
						      blocknr) : 0;
	if (b->is_virtual) {
		ret = is_at(claims, cx, b->vblocknr, blocknr, &vb);
	} else {
		/* A block of the DAT: 1 also where its map cannot be read. */
		ret = blockmap_lookup_at_level(&claims->vblocks.vol->dat.map,
					       cx, b->blkoff, b->level, &at);
		if (ret < 0) {
			ret = damage_forgive(cx, ret);
			ret = ret ? ret : 1;
		} else {
			ret = ret && at == blocknr;
		}
	}
	if (ret <= 0)
		return ret;
	if (is_needed(claims, ret, &vb) && ret > 1 && !b->is_node &&
	    !inode_is_metadata(b->ino))
		mapsum_add(&claims->sum, b->vblocknr, b->ino, b->blkoff);
	sparse_remove(&c->claimed, blocknr);
	ret = listed && b->vblocknr < listed->bits ?
		sparse_add(listed, cx, b->vblocknr) : 0;
	return ret < 0 ? ret : 0;
}

int claims_settle_log(struct claims *claims, struct context *cx,
		      struct summary *summary)
{
	struct segsum_block b;
	struct segsum_run run;
	uint64_t blocknr;
	uint32_t i, n;
	int ret = 0;

	while (!ret && segsum_iter_next(&summary->iter, &b)) {
		claims->sum = (struct mapsum){ 0 };
		ret = settle_block(claims, cx, summary->pseg + b.index, &b);
		while (!ret && !check_listed(claims->c, b.ino) &&
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
		if (claims->sum.blocks && claims->c->sums)
			mapsums_add(claims->c->sums->listed, b.ino,
				    &claims->sum);
	}
	return ret;
}

/* Takes the claims of [FROM, END) out: how many, and the last in *LAST. */
static uint64_t take_out(struct check *c, uint64_t from, uint64_t end,
			 uint64_t *last)
{
	uint64_t b, n = 0;

	for (b = sparse_next(&c->claimed, from, end); b < end;
	     b = sparse_next(&c->claimed, b + 1, end)) {
		sparse_remove(&c->claimed, b);
		*last = b;
		n++;
	}
	return n;
}

void claims_drop(struct check *c, uint64_t from, uint64_t end)
{
	uint64_t last;

	take_out(c, from, end, &last);
}

/*
 * Whether a log begins at block AT, after the blocks in use of a segment, so that
 * more of them are.
 */
static bool has_more(struct check *c, struct context *cx, uint64_t at)
{
	struct nilfs_segment_summary ss;

	if (dev_read(c->dev, cx, at << c->vol->geo.block_bits, &ss,
		     sizeof(ss))) {
		fail_clear(cx);
		return false;
	}
	return segsum_check(&c->vol->geo, &ss, at) == RULE_OK;
}

/* What one finding says of a whole segment.  The rest stays claimed: *ANY. */
static int report_segments(struct check *c, struct context *cx, bool *any)
{
	const struct nilfs_geometry *geo = &c->vol->geo;
	const uint64_t all = c->claimed.bits;
	struct nilfs_segment_usage_ext su;
	uint64_t b, end, start, counted, segnum, n, last = 0;
	struct place place;
	int err = 0;

	*any = false;
	for (b = sparse_next(&c->claimed, 0, all);
	     !err && b < all && geometry_has_block(geo, b);
	     b = sparse_next(&c->claimed, end, all)) {
		segnum = geometry_segment_of(geo, b);
		start = geometry_segment_start(geo, segnum);
		end = geometry_segment_end(geo, segnum);
		place = place_number(PLACE_SEGMENT, segnum);
		err = sutable_read(c->vol, cx, segnum, &su);
		if (err)
			return err;
		counted = start + le32_get(su.su.su_nblocks);
		/* After the latest log there is none. */
		if (segnum == c->vol->latest.segnum)
			counted = end;
		if (!segusage_is_dirty(&su.su) &&
		    segnum != c->vol->latest.segnum) {
			n = take_out(c, start, end, &last);
			findings_differ(c->findings, RULE_SU_CLEAN_HOLDS, place,
					0, n);
		} else if (counted < end && has_more(c, cx, counted) &&
			   take_out(c, counted, end, &last)) {
			findings_differ(c->findings, RULE_SU_BEHIND, place,
					last + 1 - start, counted - start);
		}
		*any |= sparse_next(&c->claimed, b, end) < end;
		err = context_cancelled(cx);
	}
	return err;
}

static int name_entry(void *arg, struct context *cx, unsigned int worker,
		      uint64_t vblocknr, const struct nilfs_dat_entry *de)
{
	struct check *c = arg;
	uint64_t blocknr = le64_get(de->de_blocknr);

	(void)cx;
	(void)worker;
	if (sparse_test(&c->claimed, blocknr))
		findings_add(c->findings, &(struct finding){
			.rule = RULE_LOG_UNLISTED,
			.place = place_number(PLACE_VBLOCK, vblocknr),
			.has_got = true, .got = blocknr,
		});
	return 0;
}

static int name_own(void *arg, struct context *cx,
		    const struct blockmap_item *item)
{
	struct check *c = arg;

	(void)cx;
	if (sparse_test(&c->claimed, item->ptr))
		findings_broken(c->findings, RULE_LOG_UNLISTED,
				place_number(PLACE_BLOCK, item->ptr));
	return 0;
}

int claims_report(struct check *c, struct context *cx)
{
	const struct datscan_visitor visitor = {
		.used = name_entry,
		.own_block = name_own,
		.unreadable = check_skip_unreadable,
		.arg = c,
	};
	bool any;
	int err = report_segments(c, cx, &any);

	if (!err && any)
		err = datscan_run(c->vol, cx, &visitor);
	return check_damage(c, cx, err, RULE_LOG_UNLISTED,
			    place_number(PLACE_VOLUME, 0));
}
