// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The pass over the DAT: from virtual block numbers to blocks.
 *
 * Checked are the map of the file, whose pointers are blocks of the device
 * and belong to nobody else; its allocator; its entries.  All blocks that are
 * named on the way are noted as claimed.
 *
 * Whether they lie in segments in use, and hold what they are said to hold, is
 * asked by the pass over logs, which reads what was written there.  Whether
 * anybody needs them is left to the passes after that one.
 *
 * Where that makes little sense the map is held against the logs.
 *
 * With a broken map nothing is said of what it should lead to, and the DAT
 * counts as broken.
 */
#include "check/check.h"
#include "check/claims.h"
#include "check/datentries.h"
#include "check/datnewest.h"
#include "check/groups.h"
#include "check/mapcheck.h"
#include "check/metacount.h"
#include "check/passes.h"

struct own {
	struct check *c;
	uint64_t blocks;	/* nodes too */
};

static int claim_own(void *arg, struct context *cx,
		     const struct mapcheck_pointer *p, uint64_t *blocknr,
		     struct lifetime *life)
{
	struct own *own = arg;
	struct check *c = own->c;
	enum rule rule = RULE_DAT_MAP_BLOCKNR;
	int ret;

	own->blocks++;
	if (geometry_has_block(&c->vol->geo, p->ptr)) {
		ret = sparse_add(&c->claimed, cx, p->ptr);
		*blocknr = p->ptr;
		*life = p->within;
		if (ret)
			return ret;
		rule = RULE_DAT_MAP_DOUBLE;
	}
	findings_add(c->findings, &(struct finding){
		.rule = rule,
		.place = place_map(0, NILFS_DAT_INO, p->key, p->level),
		.has_got = true, .got = p->ptr,
	});
	c->dat_broken = true;
	return 0;
}

static int check_map(struct check *c, struct context *cx, uint64_t *blocks)
{
	struct own own = { .c = c };
	const struct mapcheck m = {
		.vol = c->vol,
		.findings = c->findings,
		.ino = NILFS_DAT_INO,
		.within = { 0, UINT64_MAX },
		.visit = claim_own,
		.arg = &own,
	};
	int ret = mapcheck_run(&m, cx, &c->vol->dat.inode);

	if (ret > 0)
		c->dat_broken = true;
	*blocks = own.blocks;
	return ret < 0 ? ret : 0;
}

static int check_groups(struct check *c, struct context *cx)
{
	const struct groups groups = {
		.file = &c->vol->dat,
		.palloc = &c->vol->dat_palloc,
		.findings = c->findings,
		.reserved = 1,
	};
	int err = groups_check(&groups, cx);

	c->dat_bitmaps_lost = findings_count(c->findings,
					     RULE_PALLOC_BITMAP_MISSING);
	/* Its entries have the numbers of others. */
	if (findings_count(c->findings, RULE_PALLOC_BLOCK))
		c->dat_broken = true;
	return err;
}

/*
 * What was found may come of blocks that are none of the DAT.  Of files only
 * the SUFILE was read so far.
 */
static bool is_doubtful(const struct check *c)
{
	return findings_have(c->findings, RULE_DOUBTS_DAT);
}

static int check_entries(struct check *c, struct context *cx)
{
	bool asked = is_doubtful(c);
	int err = datentries_check(c, cx);

	return !err && !asked && is_doubtful(c) ? datnewest_check(c, cx) : err;
}

uint64_t pass_dat_work(const struct check *c)
{
	return le64_get(c->vol->dat.inode.i_blocks) >>
	       (c->vol->geo.block_bits - 9);
}

int pass_dat(struct check *c, struct context *cx)
{
	const struct nilfs_geometry *geo = &c->vol->geo;
	uint64_t blocks;
	int err;

	err = sparse_init(&c->claimed, cx,
			  geometry_segment_end(geo, geo->nsegments - 1));
	if (!err)
		err = check_map(c, cx, &blocks);
	if (!err && !c->dat_broken)
		err = check_groups(c, cx);
	if (!err && !c->dat_broken && is_doubtful(c))
		err = datnewest_check(c, cx);
	if (!err && !c->dat_broken) {
		metacount_check(c, 0, NILFS_DAT_INO, &c->vol->dat.inode,
				blocks);
		err = check_entries(c, cx);
	}
	return err ? err : claims_mark_segments(c, cx);
}
