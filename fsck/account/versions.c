// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Versions of blocks, from all logs.
 *
 * Which segments are in use is what the SUFILE says, and that may be what is
 * damaged; so a clean segment is searched as well if it begins with a log.  The
 * list follows the number of blocks of the wanted files that the logs have, and
 * is bounded by the memory budget.
 */
#include "fsck/account/versions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "check/damage.h"
#include "check/logs/logindex.h"
#include "vol/logcheck.h"
#include "vol/volume.h"

void versions_init(struct versions *v, struct volume *vol,
		   struct logindex *logs, const struct bitmap *used)
{
	*v = (struct versions){
		.vol = vol,
		.logs = logs,
		.used = used,
		.beyond = UINT64_MAX,
	};
}

void versions_fini(struct versions *v)
{
	free(v->ranges);
	free(v->items);
	memset(v, 0, sizeof(*v));
}

int versions_want(struct versions *v, struct context *cx, uint64_t first,
		  uint64_t end)
{
	struct version_range *last =
		v->nranges ? &v->ranges[v->nranges - 1] : NULL;

	/* Inodes come mostly in order, from a walk through an ifile. */
	if (last && last->first <= first && end <= last->end)
		return 0;
	if (last && last->end == first) {
		last->end = end;
		return 0;
	}
	if (array_reserve(cx, &v->ranges, &v->ranges_room, v->nranges + 1))
		return -ENOMEM;
	v->ranges[v->nranges++] = (struct version_range){first, end};
	return 0;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct version_range *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

/* Sorts the ranges and joins those that overlap. */
static void settle_ranges(struct versions *v)
{
	size_t i, n = 0;

	sort_in_place(v->ranges, v->nranges, sizeof(*v->ranges),
		      compare_ranges);
	for (i = 0; i < v->nranges; i++) {
		struct version_range r = v->ranges[i];

		if (!n || v->ranges[n - 1].end < r.first)
			v->ranges[n++] = r;
		else if (v->ranges[n - 1].end < r.end)
			v->ranges[n - 1].end = r.end;
	}
	v->nranges = n;
}

static bool ends_before(const void *item, const void *key)
{
	const struct version_range *range = item;

	return range->end <= *(const uint64_t *)key;
}

/* The wanted blocks of LOG; whether its checksum matches is asked for those
   past v->beyond. */
static int take_log(struct versions *v, struct context *cx,
		    struct logindex *ix, const struct logindex_log *log)
{
	bool is_beyond = log->cno > v->beyond;
	struct version one = {.seq = log->seq};
	struct nilfs_segment_summary ss;
	struct logindex_extent e;
	uint32_t i, j;
	size_t at;
	int err = 0;

	if ((log->flags & NILFS_SS_SR) && log->cno > v->newest)
		v->newest = log->cno;
	if (is_beyond) {
		err = dev_read(v->vol->dev, cx,
			       log->pseg << v->vol->geo.block_bits, &ss,
			       sizeof(ss));
		if (!err)
			err = logcheck_payload(v->vol, cx, log->pseg, &ss);
		one.is_suspect = damage_is(err);
		err = damage_forgive(cx, err);
	}
	for (i = 0; i < log->nextents && !err; i++) {
		err = logindex_extent(ix, cx, log->first + i, &e);
		if (err || !e.is_virtual || e.is_node)
			continue;
		at = search_first(v->ranges, v->nranges, sizeof(*v->ranges),
				  ends_before, &e.ino);
		if (!is_beyond &&
		    (at == v->nranges || v->ranges[at].first > e.ino))
			continue;
		if (array_reserve(cx, &v->items, &v->room, v->n + e.count))
			return -ENOMEM;
		one.ino = e.ino;
		one.cno = e.cno ? e.cno : log->cno;
		for (j = 0; j < e.count; j++) {
			one.blkoff = e.blkoff + j;
			one.vblocknr = e.vblocknr + j;
			one.blocknr = e.blocknr + j;
			v->items[v->n++] = one;
		}
	}
	return err;
}

static int take_segment(struct versions *v, struct context *cx, uint64_t segnum)
{
	struct logindex_segment s;
	struct logindex_log log;
	uint32_t i;
	int err;

	if (!(v->used->bits && bitmap_test(v->used, segnum)) &&
	    !logindex_begins(v->logs, cx, v->vol, segnum))
		return 0;
	err = logindex_segment(v->logs, cx, v->vol, segnum, &s);
	for (i = 0; i < s.n && !err; i++) {
		err = logindex_log(s.ix, cx, s.first + i, &log);
		if (!err)
			err = take_log(v, cx, s.ix, &log);
	}
	return err;
}

/* By block; of one block the newest first. */
static int compare_version(const void *a, const void *b)
{
	const struct version *x = a, *y = b;

	if (x->ino != y->ino)
		return x->ino < y->ino ? -1 : 1;
	if (x->blkoff != y->blkoff)
		return x->blkoff < y->blkoff ? -1 : 1;
	if (x->cno != y->cno)
		return x->cno > y->cno ? -1 : 1;
	if (x->seq != y->seq)
		return x->seq > y->seq ? -1 : 1;
	return x->blocknr > y->blocknr ? -1 : x->blocknr < y->blocknr;
}

int versions_gather(struct versions *v, struct context *cx)
{
	uint64_t segnum;
	int err = 0;

	settle_ranges(v);
	for (segnum = 0; segnum < v->vol->geo.nsegments && !err; segnum++) {
		err = context_cancelled(cx);
		if (!err)
			err = take_segment(v, cx, segnum);
	}
	sort_in_place(v->items, v->n, sizeof(*v->items), compare_version);
	v->gathered = true;
	return err;
}

static bool is_before(const void *item, const void *key)
{
	const struct version *x = item, *spot = key;

	return x->ino < spot->ino ||
	       (x->ino == spot->ino && x->blkoff < spot->blkoff);
}

size_t versions_from(const struct versions *v, uint64_t ino, uint64_t blkoff)
{
	const struct version spot = {.ino = ino, .blkoff = blkoff};

	return search_first(v->items, v->n, sizeof(*v->items), is_before,
			    &spot);
}

const struct version *versions_at(const struct versions *v, size_t i,
				  uint64_t ino, uint64_t blkoff)
{
	const struct version *one = i < v->n ? &v->items[i] : NULL;

	return one && one->ino == ino && one->blkoff == blkoff ? one : NULL;
}

bool versions_log(struct logindex *ix, struct context *cx, struct volume *vol,
		  uint64_t blocknr, struct logindex_segment *s,
		  struct logindex_log *log)
{
	int ret = logindex_segment(ix, cx, vol,
				   geometry_segment_of(&vol->geo, blocknr), s);

	if (!ret)
		ret = logindex_find_log(cx, s, s->n, blocknr, log);
	fail_clear(cx);
	return ret > 0 && blocknr - log->pseg < log->nblocks;
}

bool versions_listed(const struct versions *v, struct context *cx,
		     uint64_t blocknr, struct segsum_block *b)
{
	struct logindex_segment segment;
	struct logindex_extent e = {.count = 0};
	struct logindex_log log;
	int ret = 0;

	if (versions_log(v->logs, cx, v->vol, blocknr, &segment, &log))
		ret = logindex_find_extent(segment.ix, cx, &log, blocknr, &e);
	if (ret > 0)
		*b = logindex_block(&log, &e, (uint32_t)(blocknr - e.blocknr));
	fail_clear(cx);
	return ret > 0;
}
