// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The map of the DAT against the logs.
 *
 * A map that was damaged can be one that makes sense, as that of a B-tree which
 * is taken for a direct one, and lead to blocks that are none of those that it
 * should.  Everything looks lost then, and whoever repairs it loses it.  But
 * the logs list each block of the DAT, and the newest log is right.
 *
 * A hole may be where a block was taken out since, which logs do not tell; but
 * nobody takes out descriptors.
 */
#include "check/datnewest.h"

#include "check/check.h"
#include "check/damage.h"
#include "check/listings.h"
#include "disk/palloc.h"

static bool is_desc(const struct palloc *p, uint64_t blkoff)
{
	struct palloc_block what;

	if (!palloc_has_block(p, blkoff))
		return false;
	palloc_locate(p, blkoff, &what);
	return what.kind == PALLOC_DESC;
}

static int compare(struct check *c, struct context *cx,
		   const struct listing *l)
{
	uint64_t blocknr = 0;
	int ret = file_lookup(&c->vol->dat, cx, l->number, &blocknr);

	if (damage_is(ret)) {
		fail_clear(cx);
		return 0;
	}
	if (ret < 0 || blocknr == l->blocknr ||
	    (!ret && !is_desc(&c->vol->dat_palloc, l->number)))
		return ret < 0 ? ret : 0;
	findings_differ(c->findings, RULE_DAT_MAP_NEWEST,
			place_map(0, NILFS_DAT_INO, l->number, 0), l->blocknr,
			blocknr);
	c->dat_broken = true;
	return 0;
}

int datnewest_check(struct check *c, struct context *cx)
{
	struct listings own = { 0 };
	size_t i;
	int err = listings_of_file(&own, cx, c, NILFS_DAT_INO);

	for (i = 0; i < own.n && !own.partial && !err && !c->dat_broken; i++)
		err = compare(c, cx, &own.items[i]);
	listings_fini(&own);
	return err;
}
