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
 * Segments are searched block by block and not followed from log to log: a
 * damaged summary hides only its own log.  Which segments are in use is
 * recorded in the SUFILE, which may be wrong, so a clean one is searched as
 * well if it begins with a log: mostly one block is read.
 */
#include "check/logs/lifelogs.h"

#include <errno.h>

#include "check/damage.h"
#include "vol/sutable.h"

/* Whether a log begins the segment, or something that cannot be read. */
static bool begins_with_log(const struct lifelogs *l, struct context *cx)
{
	const struct nilfs_geometry *geo = &l->c->vol->geo;
	const uint64_t off = l->start << geo->block_bits;
	struct dev *dev = l->c->vol->dev;
	struct nilfs_segment_summary ss;
	struct context quiet;

	if (dev_is_hole(dev, off, sizeof(ss)))
		return false;
	context_child(cx, &quiet);
	return dev_read(dev, &quiet, off, &ss, sizeof(ss)) ||
	       segsum_check(geo, &ss, l->start) == RULE_OK;
}

/* The same; a segment without a log is read only once. */
static bool has_log(const struct lifelogs *l, struct context *cx,
		    uint64_t segnum)
{
	struct bitmap *logless = l->c->logless;

	if (logless && bitmap_test(logless, segnum))
		return false;
	if (begins_with_log(l, cx))
		return true;
	if (logless)
		bitmap_set(logless, segnum);
	return false;
}

/* One past the last block that logs of SEGNUM reach; 0: not known. */
static uint64_t known_end(const struct lifelogs *l, struct context *cx,
			  uint64_t segnum)
{
	struct volume *vol = l->c->vol;
	struct nilfs_segment_usage_ext su;
	struct context quiet;

	if (segnum == vol->latest.segnum)
		return l->start + vol->latest.offset;
	context_child(cx, &quiet);
	if (segnum == vol->latest.nextnum || !check_knows_sufile(l->c) ||
	    sutable_read(vol, &quiet, segnum, &su) ||
	    !le32_get(su.su.su_nblocks))
		return 0;
	return l->start + le32_get(su.su.su_nblocks);
}

int lifelogs_open(struct lifelogs *l, struct context *cx,
		  const struct check *c, uint64_t segnum)
{
	struct volume *vol = c->vol;
	bool known = c->used_segments.bits && check_knows_sufile(c);
	int err;

	*l = (struct lifelogs){
		.c = c,
		.start = geometry_segment_start(&vol->geo, segnum),
	};
	l->next = l->start;
	l->is_used = !known || bitmap_test(&c->used_segments, segnum) ||
		     segnum == vol->latest.segnum;
	if (!(known && l->is_used) && !has_log(l, cx, segnum))
		return 0;
	l->end = known_end(l, cx, segnum);
	err = logsearch_open(&l->search, cx, vol, segnum, l->start);
	if (!err && segnum == vol->latest.segnum)
		l->search.end = l->end;
	return err ? err : 1;
}

/* Whether LOG, the first one found, may be of a former life. */
static bool is_behind(const struct lifelogs *l, const struct log *log)
{
	return le64_get(log->ss.ss_seq) > l->c->vol->latest.seq ||
	       (l->end && log->pseg >= l->end);
}

static void judge_log(struct lifelogs *l, const struct log *log)
{
	uint64_t seq = le64_get(log->ss.ss_seq);

	if (!l->any) {
		l->any = true;
		l->seq = seq;
		l->is_former = is_behind(l, log);
	}
	l->is_former |= seq != l->seq;
	if (l->is_former)
		return;
	l->partial |= l->is_used && log->pseg != l->next;
	l->next = log->pseg + log->nblocks;
}

/* On to a log with a sound summary, past what cannot be read. */
static int search_log(struct lifelogs *l, struct context *cx, struct log *log)
{
	int ret;

	while ((ret = logsearch_next(&l->search, cx, log)) < 0 &&
	       !damage_is_fatal(ret)) {
		fail_clear(cx);
		l->search.next++;
	}
	return ret;
}

int lifelogs_next(struct lifelogs *l, struct context *cx, struct log *log)
{
	uint64_t latest = l->c->vol->latest.seq;
	int ret;

	do {
		ret = context_cancelled(cx);
		if (!ret)
			ret = search_log(l, cx, log);
		if (ret <= 0)
			break;
		judge_log(l, log);
	} while (le64_get(log->ss.ss_seq) > latest);
	if (!ret)
		l->partial |= l->is_used && l->next < l->end;
	return ret;
}

void lifelogs_close(struct lifelogs *l)
{
	logsearch_close(&l->search);
}

int lifelogs_find_block(struct context *cx, const struct check *c,
			uint64_t blocknr, struct segsum_block *b,
			uint64_t *cno)
{
	const struct nilfs_geometry *geo = &c->vol->geo;
	bool found = false;
	struct lifelogs l;
	struct log log = { .pseg = 0 };
	int ret;

	if (!geometry_has_block(geo, blocknr))
		return 0;
	ret = lifelogs_open(&l, cx, c, geometry_segment_of(geo, blocknr));
	while (ret > 0 && !found && (ret = lifelogs_next(&l, cx, &log)) > 0)
		while (!l.is_former && !found &&
		       segsum_iter_next(&l.search.summary.iter, b))
			found = log.pseg + b->index == blocknr;
	lifelogs_close(&l);
	if (found && cno)
		*cno = b->cno ? b->cno : segsum_cno(&log.ss);
	return ret < 0 ? ret : found;
}
