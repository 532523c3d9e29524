// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Blocks that their logs list by a wrong number.
 *
 * Where DAT and log disagree about a block there is a third witness.  The log
 * also says of which file the block is, and where in it; if the map of that
 * file has the number there that the DAT has, in any checkpoint, DAT and map
 * agree on the block, and on it the log agrees as well, but for the number.
 */
#include "fsck/dat/mislisted.h"

#include "check/lifelogs.h"

int mislisted_find(struct datlife *life, struct context *cx,
		   const struct check *c, uint64_t vblocknr, uint64_t blocknr,
		   struct listing *l)
{
	struct datlife_span span;
	struct segsum_block b;
	uint64_t cno;
	int ret;

	if (!geometry_has_block(&c->vol->geo, blocknr))
		return 0;
	ret = lifelogs_find_block(cx, c, blocknr, &b, &cno);
	if (ret <= 0 || !b.is_virtual)
		return ret < 0 ? ret : 0;
	*l = (struct listing){
		.number = vblocknr,
		.blocknr = blocknr,
		.cno = cno,
		.ino = b.ino,
		.blkoff = b.blkoff,
		.is_node = b.is_node,
		.is_used = true,
	};
	ret = datlife_find(life, cx, l, &span);
	return ret <= 0 ? ret : span.start < span.end;
}
