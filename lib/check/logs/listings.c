// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The logs of the current and earlier uses of a segment, and the blocks that
 * all logs list.
 *
 * A segment is written from its beginning, so logs of an earlier use follow
 * those of the current one.  All logs of a use have the sequence number of its
 * first log.  A greater number later in the segment is not newer if the volume
 * returned to an older checkpoint.  If the first log is lost, the next one
 * counts, unless it is after the blocks in use by the SUFILE.
 *
 * Segments are searched block by block (logindex.h), so that a damaged summary
 * hides only its own log.  The SUFILE may be wrong, so a clean segment that
 * begins with a log is searched too; mostly that takes one read.
 *
 * For a table, the logs of all segments are read in the order of the device.  A
 * list grows to twice its number of distinct blocks and is then reduced to the
 * newest of each, so memory does not depend on the history.  Virtual blocks are
 * taken from the current use only, because older numbers may have been reused.
 */
#include "check/logs/listings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "check/damage.h"
#include "vol/sutable.h"

#define FIRST_CUT 4096u

/* listings_open(), where the SUFILE is known to be right or not. */
static int open_segment(struct listings_walk *l, struct context *cx,
			const struct check *c, uint64_t segnum, bool knows)
{
	struct volume *vol = c->vol;
	uint64_t start = geometry_segment_start(&vol->geo, segnum);
	bool known = c->used_segments.bits && knows;
	struct nilfs_segment_usage_ext su;
	struct context quiet;
	int err;

	*l = (struct listings_walk){
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
	if (segnum != vol->latest.nextnum && knows &&
	    !sutable_read(vol, &quiet, segnum, &su) &&
	    le32_get(su.su.su_nblocks))
		l->end = start + le32_get(su.su.su_nblocks);
	return 1;
}

int listings_open(struct listings_walk *l, struct context *cx,
		  const struct check *c, uint64_t segnum)
{
	return open_segment(l, cx, c, segnum, check_knows_sufile(c));
}

/* Whether LOG, the first one found, may be of a former life. */
static bool is_behind(const struct listings_walk *l, const struct logindex_log *log)
{
	return log->seq > l->c->vol->latest.seq ||
	       (l->end && log->pseg >= l->end);
}

int listings_next(struct listings_walk *l, struct context *cx,
		  struct logindex_log *log)
{
	int err = context_cancelled(cx);

	while (!err && l->log < l->segment.n) {
		err = logindex_log(l->segment.ix, cx,
				   l->segment.first + l->log, log);
		/* The latest state has no logs after the limit. */
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
		l->current = (struct logindex_cursor){ .log = *log };
		return 1;
	}
	if (!err)
		l->partial |= l->is_used && l->next < l->end;
	return err;
}

int listings_block(struct listings_walk *l, struct context *cx,
		   struct segsum_block *b)
{
	return logindex_next_block(l->segment.ix, cx, &l->current, b);
}

int listings_find_block(struct context *cx, const struct check *c,
			uint64_t blocknr, struct segsum_block *b)
{
	const struct nilfs_geometry *geo = &c->vol->geo;
	struct logindex_extent e;
	struct logindex_log log;
	struct listings_walk l;
	int ret;

	if (!geometry_has_block(geo, blocknr))
		return 0;
	ret = listings_open(&l, cx, c, geometry_segment_of(geo, blocknr));
	if (ret <= 0 || !l.segment.n)
		return ret < 0 ? ret : 0;
	/* Finds the log of this use that contains the block or is before it. */
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
	return 1;
}

bool listings_has_log(const struct check *c, struct context *cx,
		      uint64_t blocknr)
{
	uint64_t segnum = geometry_segment_of(&c->vol->geo, blocknr);
	struct logindex_log log;
	struct listings_walk l;
	struct context quiet;

	context_child(cx, &quiet);
	if (listings_open(&l, &quiet, c, segnum) <= 0 || !l.segment.n ||
	    logindex_log(l.segment.ix, &quiet, l.segment.first, &log))
		return false;
	if (log.seq > c->vol->latest.seq)
		return segnum != c->vol->latest.segnum;
	return logindex_find_log(&quiet, &l.segment, l.segment.nsame, blocknr,
				 &log) > 0 &&
	       blocknr - log.pseg < log.nblocks;
}

/* Orders by number; listings of one number by rank, the best first. */
static int compare_listing(const void *a, const void *b)
{
	const struct listing *x = a, *y = b;

	return sort_order(x->number, y->number) ?:
	       sort_order(y->is_used, x->is_used) ?:
	       sort_order(y->seq, x->seq) ?:
	       sort_order(y->blocknr, x->blocknr);
}

/* Keeps only the newest listing of each number. */
static void leave_newest(struct listings *l)
{
	size_t i, kept = 0;

	sort_in_place(l->items, l->n, sizeof(*l->items), compare_listing);
	for (i = 0; i < l->n; i++)
		if (!kept || l->items[kept - 1].number != l->items[i].number)
			l->items[kept++] = l->items[i];
	l->n = kept;
}

/* Adds the wanted blocks of E, an extent of the current log of LIFE. */
static int take_extent(struct listings *l, struct context *cx,
		       const struct listings_walk *life,
		       const struct logindex_extent *e)
{
	const struct logindex_log *log = &life->current.log;
	size_t at;
	uint32_t i;
	int err = 0;

	if (l->of_file ? e->ino != l->of_file || e->is_node : !e->is_virtual)
		return 0;
	if (l->inos) {
		at = search_lower_bound(l->inos, l->ninos, e->ino);
		if (at == l->ninos || l->inos[at] != e->ino)
			return 0;
	}
	for (i = 0; i < e->count && !err; i++) {
		struct listing one = {
			.number = e->vblocknr + i,
			.blocknr = e->blocknr + i,
			.seq = log->seq,
			.cno = e->cno ? e->cno : log->cno,
			.ino = e->ino,
			.blkoff = e->is_node ? e->blkoff : e->blkoff + i,
			.is_node = e->is_node,
			.is_used = life->is_used,
			.is_former = life->is_former,
		};

		if ((l->wanted && !sparse_test(l->wanted, one.number)) ||
		    (l->end &&
		     (one.number < l->from || one.number >= l->end)))
			continue;
		if (l->of_file) {
			one.number = one.blkoff;
			/* In these files the newest counts, in any segment. */
			one.is_used = true;
		}
		if (l->visit) {
			err = l->visit(l->arg, cx, &one);
			continue;
		}
		if (l->n >= l->cut) {
			leave_newest(l);
			/* If even the newest listings are too many, the range
			   is shortened. */
			if (l->end && l->n >= l->most / 4 * 3) {
				l->end = l->items[l->most / 2].number;
				l->n = listings_from(l, l->end);
			}
			l->cut = l->n < FIRST_CUT / 2 ? FIRST_CUT : 2 * l->n;
			if (l->end && l->cut > l->most)
				l->cut = l->most;
			if (l->inos && l->n > 2 * l->most)
				return fail(cx, -EFBIG, "blocks of files, as "
					    "the logs list them");
		}
		err = array_push(cx, &l->items, &l->n, &l->room, one);
	}
	return err;
}

int listings_gather(struct listings *l, struct context *cx,
		    const struct check *c)
{
	struct logindex_extent e;
	struct logindex_log log;
	bool knows = check_knows_sufile(c);
	struct listings_walk life;
	uint64_t segnum;
	uint32_t i;
	int ret, err = 0;

	l->most = cx->max_memory / 4 / sizeof(struct listing);
	if (l->most < 2ull * FIRST_CUT)
		l->most = 2ull * FIRST_CUT;
	l->cut = FIRST_CUT;
	if (!c->logindex)
		return fail(cx, -EINVAL, "no index of the logs");
	for (segnum = 0; segnum < c->vol->geo.nsegments && !err; segnum++) {
		segnum = logindex_skip(c->logindex, c->vol, segnum,
				       knows ? &c->used_segments : NULL);
		ret = open_segment(&life, cx, c, segnum, knows);
		while (ret > 0 && !err &&
		       (ret = listings_next(&life, cx, &log)) > 0) {
			if (life.is_former && !l->visit)
				continue;
			for (i = 0; i < log.nextents && !err; i++)
				err = logindex_extent(life.segment.ix, cx,
						      log.first + i, &e) ?:
				      take_extent(l, cx, &life, &e);
			if (log.verdict && life.is_used &&
			    log.verdict != RULE_LOG_SUMBYTES_UNUSED)
				l->partial = true;
		}
		l->partial |= life.partial;
		if (life.partial && l->partial_segments.bits)
			bitmap_set(&l->partial_segments, segnum);
		err = !err && ret < 0 ? ret : err;
	}
	leave_newest(l);
	if (l->end)
		l->n = listings_from(l, l->end);
	return err;
}

int listings_visit(const struct check *c, struct context *cx,
		   listings_visitor *visit, void *arg)
{
	struct listings all = { .visit = visit, .arg = arg };

	return listings_gather(&all, cx, c);
}

/* The first repair excludes a segment with unreadable logs. */
bool listings_are_whole(const struct check *c)
{
	return !findings_have(c->findings, RULE_HIDES_LOGS) &&
	       !c->logs_shut && bitmap_next_set(&c->broken_segments, 0) >=
					c->broken_segments.bits;
}

void listings_fini(struct listings *l)
{
	free(l->items);
	bitmap_fini(&l->partial_segments);
	memset(l, 0, sizeof(*l));
}

const struct listing *listings_find(const struct listings *l, uint64_t number)
{
	size_t i = listings_from(l, number);

	return i < l->n && l->items[i].number == number ? &l->items[i] : NULL;
}
