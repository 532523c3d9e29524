// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The pass over the DAT: from virtual block numbers to blocks.
 *
 * It checks the map of the file, whose pointers are blocks of the device that
 * belong to no other file; its allocator; and its entries.  All blocks that
 * these refer to are recorded as claimed (claims.h).  The pass over logs checks
 * whether they are in segments in use and have the right content.  Later passes
 * check whether they are needed.
 *
 * A damaged map may look valid, such as that of a B-tree taken for a direct
 * map, and lead to wrong blocks.  Then everything looks lost, and a repair
 * would lose it.  But the logs list each block of the DAT, and the newest log
 * is right, so implausible findings cause a comparison of the map with the
 * logs.  A hole may be a block that was deleted later, which logs do not
 * record; but descriptors are never deleted.  If the map is broken, its content
 * is not reported as missing, and the DAT counts as broken.
 *
 * Several workers read the entries in one pass.  A few comparisons show that an
 * entry is valid; the broken rule is determined only for an invalid one.  An
 * entry without a block was allocated and never written.  Entries not in use
 * keep their old content and are ignored.
 */
#include <errno.h>

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

#define RUNS_SHARE 8u		/* share of the table memory for runs of entries */

struct scan {
	struct check *c;
	const struct nilfs_geometry *geo;
	uint64_t cno;
	uint64_t first_block, end_block;	/* range of the segments */
	uint64_t own_blocks;	/* blocks of its map, including nodes */
	uint64_t nblocks;	/* blocks of the DAT visited */
	uint64_t live;		/* entries that are live now */
	uint64_t ended;		/* entries that snapshots have */
};

/* Reports the rule that the entry of VBLOCKNR breaks. */
static void report_dat_entry(struct scan *s, uint64_t vblocknr,
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

static int visit_dat_entries(void *arg, struct context *cx, unsigned int worker,
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
				report_dat_entry(s, block->first + i, de);
		}
	}
	__atomic_add_fetch(&s->live, live, __ATOMIC_RELAXED);
	__atomic_add_fetch(&s->ended, ended, __ATOMIC_RELAXED);
	return claims_entries(s->c, cx, worker, block);
}

static int pass_dat_count_block(void *arg, struct context *cx,
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

	return check_damage(s->c->findings, cx, -EIO, RULE_DEV_UNREADABLE,
			    place_map(0, NILFS_DAT_INO, blkoff, 0));
}

/*
 * Reports the first block of the DAT that has another place in the logs than in
 * the map, which is broken then (C->dat_broken).  It reads all logs, so it is
 * called only for a DAT in doubt.  0, -ENOMEM, -EINTR.
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
		ret = claims_add_dat_block(s->c, cx, p->ptr);
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
		.entries = visit_dat_entries,
		.own_block = pass_dat_count_block,
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
	/* Wrong blocks may have caused the findings.  Only the SUFILE, of all
	   files, was read so far. */
	asked = findings_have(c->findings, RULE_DOUBTS_DAT);
	if (!c->dat_broken) {
		ret = groups_check(&groups, cx);
		c->dat_bitmaps_lost = findings_count(c->findings,
						RULE_PALLOC_BITMAP_MISSING);
		/* Its entries have the numbers of other entries. */
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
						      &c->nsnapshots)) ?:
		      vblocks_runs_begin(&c->datruns, cx, cx->threads,
					 c->table_memory / RUNS_SHARE) ?:
		      datscan_run(c->vol, cx, &visitor);
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
