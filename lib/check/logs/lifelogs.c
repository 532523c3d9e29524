// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The logs of a segment's present and former life.
 *
 * A segment is written from its beginning, so logs of a former life are after
 * those of this one.  Those of one life have one sequence number, which the
 * first log has: a greater number later is not newer, if the volume once went
 * back to an older checkpoint.  If the first log is lost the next one counts,
 * unless it is after the blocks that the SUFILE has in use.
 *
 * Segments are searched block by block and not followed from log to log
 * (logindex.h): a damaged summary hides only its own log.  Which segments are in
 * use is recorded in the SUFILE, which may be wrong, so a clean one is searched
 * as well if it begins with a log: mostly one block is read.
 */
#include "check/logs/lifelogs.h"

#include <errno.h>

#include "check/damage.h"
#include "vol/sutable.h"

int lifelogs_open(struct lifelogs *l, struct context *cx,
		  const struct check *c, uint64_t segnum)
{
	struct volume *vol = c->vol;
	uint64_t start = geometry_segment_start(&vol->geo, segnum);
	bool known = c->used_segments.bits && check_knows_sufile(c);
	struct nilfs_segment_usage_ext su;
	struct context quiet;
	int err;

	*l = (struct lifelogs){
		.c = c, .next = start, .limit = UINT64_MAX,
	};
	if (!c->logindex)
		return fail(cx, -EINVAL, "no index of the logs");
	l->is_used = !known || bitmap_test(&c->used_segments, segnum) ||
		     segnum == vol->latest.segnum;
	if (!(known && l->is_used) &&
	    !logindex_begins(c->logindex, cx, vol, segnum))
		return 0;
	err = logindex_segment(c->logindex, cx, vol, segnum, &l->segment);
	if (err)
		return err;
	if (segnum == vol->latest.segnum) {
		l->end = l->limit = start + vol->latest.offset;
		return 1;
	}
	context_child(cx, &quiet);
	if (segnum != vol->latest.nextnum && check_knows_sufile(c) &&
	    !sutable_read(vol, &quiet, segnum, &su) &&
	    le32_get(su.su.su_nblocks))
		l->end = start + le32_get(su.su.su_nblocks);
	return 1;
}

/* Whether LOG, the first one found, may be of a former life. */
static bool is_behind(const struct lifelogs *l, const struct logindex_log *log)
{
	return log->seq > l->c->vol->latest.seq ||
	       (l->end && log->pseg >= l->end);
}

int lifelogs_next(struct lifelogs *l, struct context *cx,
		  struct logindex_log *log)
{
	int err = context_cancelled(cx);

	while (!err && l->log < l->segment.n) {
		err = logindex_log(l->segment.ix, cx,
				   l->segment.first + l->log, log);
		/* None of the latest state begins after the limit. */
		if (err || log->pseg + NILFS_PSEG_MIN_BLOCKS > l->limit)
			break;
		l->log++;
		if (!l->any) {
			l->any = true;
			l->seq = log->seq;
			l->is_former = is_behind(l, log);
		}
		l->is_former |= log->seq != l->seq;
		if (!l->is_former) {
			l->partial |= l->is_used && log->pseg != l->next;
			l->next = log->pseg + log->nblocks;
		}
		if (log->seq > l->c->vol->latest.seq)
			continue;
		l->current = *log;
		l->nextents = l->block = l->extent.count = 0;
		return 1;
	}
	if (!err)
		l->partial |= l->is_used && l->next < l->end;
	return err;
}

int lifelogs_extent(struct lifelogs *l, struct context *cx,
		    struct logindex_extent *e)
{
	int err;

	if (l->nextents == l->current.nextents)
		return 0;
	err = logindex_extent(l->segment.ix, cx,
			      l->current.first + l->nextents, e);
	if (err)
		return err;
	l->nextents++;
	return 1;
}

int lifelogs_block(struct lifelogs *l, struct context *cx,
		   struct segsum_block *b)
{
	int ret;

	if (l->block == l->extent.count) {
		ret = lifelogs_extent(l, cx, &l->extent);
		if (ret <= 0)
			return ret;
		l->block = 0;
	}
	*b = logindex_block(&l->current, &l->extent, l->block++);
	return 1;
}

int lifelogs_find_block(struct context *cx, const struct check *c,
			uint64_t blocknr, struct segsum_block *b,
			uint64_t *cno)
{
	const struct nilfs_geometry *geo = &c->vol->geo;
	struct logindex_extent e;
	struct logindex_log log;
	struct lifelogs l;
	int ret;

	if (!geometry_has_block(geo, blocknr))
		return 0;
	ret = lifelogs_open(&l, cx, c, geometry_segment_of(geo, blocknr));
	if (ret <= 0 || !l.segment.n)
		return ret < 0 ? ret : 0;
	/* The log of this life that has the block or ends before it. */
	ret = logindex_log(l.segment.ix, cx, l.segment.first, &log);
	if (ret || is_behind(&l, &log))
		return ret;
	ret = logindex_find_log(cx, &l.segment, l.segment.nsame, blocknr,
				&log);
	if (ret <= 0 || log.pseg + NILFS_PSEG_MIN_BLOCKS > l.limit)
		return ret < 0 ? ret : 0;
	ret = logindex_find_extent(l.segment.ix, cx, &log, blocknr, &e);
	if (ret <= 0)
		return ret;
	*b = logindex_block(&log, &e, (uint32_t)(blocknr - e.blocknr));
	if (cno)
		*cno = b->cno ? b->cno : log.cno;
	return 1;
}
