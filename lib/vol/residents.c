// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The blocks of a segment.
 *
 * The logs of the segment list what each block was when it was written; the DAT
 * shows whether it still is: a block with a virtual number is current if its
 * entry points to it, a block of the DAT if the DAT's map does.
 */
#include "vol/residents.h"

#include <errno.h>
#include <string.h>

#include "vol/blockmap.h"
#include "vol/translate.h"
#include "vol/volume.h"

int residents_open(struct residents *r, struct context *cx,
		   struct volume *vol, const struct liveness *l,
		   uint64_t segnum, uint32_t nblocks)
{
	memset(r, 0, sizeof(*r));
	r->vol = vol;
	r->liveness = l;
	return logscan_open(&r->scan, cx, vol, segnum, nblocks);
}

/* Whether virtual block RES->block is the one at RES->blocknr: 1, 0. */
static int find_virtual(struct residents *r, struct context *cx,
			struct resident *res)
{
	struct nilfs_dat_entry de;
	int err = translate_entry(r->vol, cx, res->block.vblocknr, &de);

	if (err == -ENOENT) {
		fail_clear(cx);
		return 0;
	}
	if (err)
		return err;
	res->start = le64_get(de.de_start);
	res->end = le64_get(de.de_end);
	res->kind = liveness_of_entry(r->liveness, &de);
	return le64_get(de.de_blocknr) == res->blocknr;
}

/* The same for a block of the DAT: nilfs_bdesc_is_live(). */
static int find_physical(struct residents *r, struct context *cx,
			 struct resident *res)
{
	uint64_t blocknr;
	int ret = blockmap_lookup_at_level(&r->vol->dat.map, cx,
					   res->block.blkoff,
					   res->block.level, &blocknr);

	res->kind = LIVENESS_CURRENT;
	return ret <= 0 ? ret : blocknr == res->blocknr;
}

/* The next block of the open log that is still there: 1, 0 at its end. */
static int next_in_log(struct residents *r, struct context *cx,
		       struct resident *res)
{
	int ret;

	while ((ret = summary_next(&r->summary, cx, &res->block)) > 0) {
		res->blocknr = r->log.pseg + res->block.index;
		ret = res->block.is_virtual ? find_virtual(r, cx, res) :
					      find_physical(r, cx, res);
		if (ret)
			return ret;
	}
	return ret;
}

static int next_log(struct residents *r, struct context *cx)
{
	int ret = logscan_next(&r->scan, cx, &r->log);

	if (ret > 0)
		ret = summary_read(&r->summary, cx, r->vol, r->log.pseg,
				   &r->log.ss);
	else
		return ret;
	r->inside = !ret;
	return ret ? ret : 1;
}

int residents_next(struct residents *r, struct context *cx,
		   struct resident *res)
{
	int ret;

	for (;;) {
		ret = r->inside ? next_in_log(r, cx, res) : 0;
		if (ret)
			return ret;
		r->inside = false;
		ret = next_log(r, cx);
		if (ret <= 0)
			return ret;
	}
}

void residents_close(struct residents *r)
{
	summary_free(&r->summary);
}
