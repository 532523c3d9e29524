// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The pass over the DAT: from virtual block numbers to blocks.
 *
 * Checked are the map of the file, whose pointers are blocks of the device and
 * belong to no other file; its allocator; its entries.  All blocks that are
 * named on the way are noted as claimed.
 *
 * Whether they lie in segments in use, and hold what they are said to hold, is
 * asked by the pass over logs, which reads what was written there.  Whether
 * anybody needs them is left to the passes after that one.
 *
 * A damaged map may look valid, as that of a B-tree which is taken for a direct
 * one, and lead to wrong blocks.  Everything looks lost then, and a repair would
 * lose it.  But the logs list each block of the DAT, and the newest log is right:
 * where findings make little sense the map is held against the logs.  A hole may
 * be where a block was deleted since, which logs do not record; but descriptors
 * are never deleted.  With a broken map nothing is said of what it should lead
 * to, and the DAT counts as broken.
 *
 * Entries are read in one pass by several workers.  Most are valid, so a few
 * comparisons decide that, and only for an invalid one the broken rule is
 * determined.  The block of an entry is added to the set of claimed ones
 * (claims.h).  An entry without a block was allocated and never written.
 * Entries that are not in use keep their old content and are ignored.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/context.h"
#include "check/check.h"
#include "check/damage.h"
#include "check/groups.h"
#include "check/logs/claims.h"
#include "check/logs/listings.h"
#include "check/mapcheck.h"
#include "check/pass/passes.h"
#include "disk/dat.h"
#include "disk/palloc.h"
#include "vol/cptable.h"
#include "vol/datscan.h"

#define RUNS_SHARE 8u		/* of the table memory, for entries as runs */

struct scan {
	struct check *c;
	const struct nilfs_geometry *geo;
	uint64_t cno;
	uint64_t first_block, end_block;	/* where segments are */
	uint64_t own_blocks;	/* of its map, nodes too */
	uint64_t nblocks;	/* of the DAT that were met */
	uint64_t live;		/* entries */
	uint64_t ended;		/* entries that snapshots have */
};

/* Names the rule that the entry of VBLOCKNR breaks. */
static void report_entry(struct scan *s, uint64_t vblocknr,
			 const struct nilfs_dat_entry *de)
{
	struct place place = place_number(PLACE_VBLOCK, vblocknr);
	struct findings *f = s->c->findings;
	enum rule rule = dat_check(s->geo, de, s->cno);
	uint64_t start = le64_get(de->de_start), end = le64_get(de->de_end);

	if (rule == RULE_DAT_LIFETIME)
		findings_differ(f, rule, place, start, end);
	else if (rule == RULE_DAT_START || rule == RULE_DAT_END)
		findings_differ(f, rule, place, s->cno,
				rule == RULE_DAT_START ? start : end);
	else if (rule != RULE_OK)
		findings_got(f, rule, place, le64_get(de->de_blocknr));
}

static int visit_entries(void *arg, struct context *cx, unsigned int worker,
			 const struct datscan_block *block)
{
	struct scan *s = arg;
	const struct check *c = s->c;
	const struct nilfs_dat_entry *de;
	uint32_t i = 0, last, live = 0, ended = 0;
	uint64_t blocknr, start, end;

	vblocks_runs_add(&s->c->datruns, worker, block);
	if (!block->first) {
		if (!datscan_is_used(block, 0))
			findings_broken(c->findings, RULE_DAT_RESERVED,
					place_number(PLACE_VBLOCK, 0));
		i = 1;
	}
	for (i = datscan_next_used(block, i); i < block->count;
	     i = datscan_next_used(block, last)) {
		last = datscan_next_free(block, i);
		for (; i < last; i++) {
			de = datscan_entry(block, i);
			blocknr = le64_get(de->de_blocknr);
			start = le64_get(de->de_start);
			end = le64_get(de->de_end);
			live += dat_is_current(de);
			ended += c->nsnapshots && !dat_is_current(de) &&
				 check_snapshot_of(c, start, end);
			if (start > end || start > s->cno ||
			    (end > s->cno && ~end) ||
			    (blocknr && (blocknr < s->first_block ||
					 blocknr >= s->end_block)))
				report_entry(s, block->first + i, de);
		}
	}
	__atomic_add_fetch(&s->live, live, __ATOMIC_RELAXED);
	__atomic_add_fetch(&s->ended, ended, __ATOMIC_RELAXED);
	return claims_entries(s->c, cx, worker, block);
}

static int count_block(void *arg, struct context *cx,
		       const struct blockmap_item *item)
{
	struct scan *s = arg;

	(void)cx;
	(void)item;
	check_progress(s->c, ++s->nblocks);
	return 0;
}

static int report_unreadable(void *arg, struct context *cx, uint64_t blkoff)
{
	struct scan *s = arg;

	return check_damage(s->c, cx, -EIO, RULE_DEV_UNREADABLE,
			    place_map(0, NILFS_DAT_INO, blkoff, 0));
}

/*
 * Reports the first block of the DAT that is elsewhere by the logs than by the
 * map, which is broken then (C->dat_broken).  It reads all logs: for a DAT in
 * doubt.  0, -ENOMEM, -EINTR.
 */
static int compare_newest(struct check *c, struct context *cx)
{
	const struct palloc *p = &c->vol->dat_palloc;
	struct listings own = { .of_file = NILFS_DAT_INO };
	struct palloc_block what;
	size_t i;
	int ret = listings_gather(&own, cx, c);

	for (i = 0; i < own.n && !own.partial && !ret && !c->dat_broken; i++) {
		const struct listing *l = &own.items[i];
		uint64_t blocknr = 0;

		ret = file_lookup(&c->vol->dat, cx, l->number, &blocknr);
		if (ret < 0) {
			ret = damage_forgive(cx, ret);
			continue;
		}
		what.kind = PALLOC_ENTRIES;
		if (palloc_has_block(p, l->number))
			palloc_locate(p, l->number, &what);
		if (blocknr != l->blocknr && (ret || what.kind == PALLOC_DESC)) {
			findings_differ(c->findings, RULE_DAT_MAP_NEWEST,
					place_map(0, NILFS_DAT_INO, l->number,
						  0), l->blocknr, blocknr);
			c->dat_broken = true;
		}
		ret = 0;
	}
	listings_fini(&own);
	return ret;
}

static int claim_own(void *arg, struct context *cx,
		     const struct mapcheck_pointer *p, uint64_t *blocknr,
		     struct lifetime *life)
{
	struct scan *s = arg;
	enum rule rule = RULE_DAT_MAP_BLOCKNR;
	int ret;

	s->own_blocks++;
	if (geometry_has_block(s->geo, p->ptr)) {
		ret = claims_own(s->c, cx, p->ptr);
		*blocknr = p->ptr;
		*life = p->within;
		if (ret)
			return ret;
		rule = RULE_DAT_MAP_DOUBLE;
	}
	findings_got(s->c->findings, rule,
		     place_map(0, NILFS_DAT_INO, p->key, p->level), p->ptr);
	s->c->dat_broken = true;
	return 0;
}

int pass_dat(struct check *c, struct context *cx)
{
	struct scan s = {
		.c = c,
		.geo = &c->vol->geo,
		.cno = c->vol->latest.cno,
		.first_block = c->vol->geo.first_data_block,
	};
	const struct datscan_visitor visitor = {
		.entries = visit_entries,
		.own_block = count_block,
		.unreadable = report_unreadable,
		.arg = &s,
	};
	struct file *dat = &c->vol->dat;
	const struct mapcheck m = {
		.vol = c->vol,
		.findings = c->findings,
		.ino = NILFS_DAT_INO,
		.within = { 0, UINT64_MAX },
		.visit = claim_own,
		.arg = &s,
	};
	const struct groups groups = {
		.file = dat,
		.palloc = &c->vol->dat_palloc,
		.findings = c->findings,
		.reserved = 1,
	};
	bool asked;
	int ret = claims_begin(c, cx);

	c->work = le64_get(dat->inode.i_blocks) >> (s.geo->block_bits - 9);
	if (!ret)
		ret = mapcheck_run(&m, cx, &dat->inode);
	if (ret < 0)
		return ret;
	c->dat_broken |= ret > 0;
	/* The findings may be caused by wrong blocks.  Of files only the SUFILE was
	   read so far. */
	asked = findings_have(c->findings, RULE_DOUBTS_DAT);
	if (!c->dat_broken) {
		ret = groups_check(&groups, cx);
		c->dat_bitmaps_lost = findings_count(c->findings,
						RULE_PALLOC_BITMAP_MISSING);
		/* Its entries have the numbers of others. */
		if (findings_count(c->findings, RULE_PALLOC_BLOCK))
			c->dat_broken = true;
		if (!ret && !c->dat_broken &&
		    findings_have(c->findings, RULE_DOUBTS_DAT))
			ret = compare_newest(c, cx);
	}
	if (ret < 0)
		return ret;
	if (!c->dat_broken) {
		pass_tree_count(c, 0, NILFS_DAT_INO, &dat->inode, s.own_blocks);
		s.end_block = c->claimed.bits;
		ret = damage_forgive(cx, cptable_list(c->vol, cx, true,
						      &c->snapshots,
						      &c->nsnapshots));
		if (!ret)
			ret = vblocks_runs_begin(&c->datruns, cx, cx->threads,
						 c->table_memory / RUNS_SHARE);
		if (!ret)
			ret = datscan_run(c->vol, cx, &visitor);
		vblocks_runs_finish(&c->datruns);
		if (!ret)
			ret = claims_report_twice(c, cx);
		c->live_entries = s.live;
		c->kept_entries = s.ended ? s.live + s.ended : 0;
		if (ret)
			return ret;
	}
	ret = claims_survey(c, cx);
	if (!ret && !c->dat_broken && !asked &&
	    findings_have(c->findings, RULE_DOUBTS_DAT))
		ret = compare_newest(c, cx);
	return ret;
}
