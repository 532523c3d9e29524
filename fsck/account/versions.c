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
#include "vol/logcheck.h"
#include "vol/logsearch.h"
#include "vol/volume.h"

void versions_init(struct versions *v, struct volume *vol,
		   const struct bitmap *used)
{
	*v = (struct versions){
		.vol = vol,
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

/* Inodes come mostly in order, from a walk through an ifile. */
static bool has_range(const struct versions *v, uint64_t first, uint64_t end)
{
	const struct version_range *last;

	if (!v->nranges)
		return false;
	last = &v->ranges[v->nranges - 1];
	return last->first <= first && end <= last->end;
}

int versions_want(struct versions *v, struct context *cx, uint64_t first,
		  uint64_t end)
{
	if (has_range(v, first, end))
		return 0;
	if (v->nranges && v->ranges[v->nranges - 1].end == first) {
		v->ranges[v->nranges - 1].end = end;
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

static bool is_wanted(const struct versions *v, const struct version *one)
{
	size_t i;

	i = search_first(v->ranges, v->nranges, sizeof(*v->ranges), ends_before,
			 &one->ino);
	return i < v->nranges && v->ranges[i].first <= one->ino;
}

static int add_version(struct versions *v, struct context *cx,
		       const struct version *one)
{
	if (array_reserve(cx, &v->items, &v->room, v->n + 1))
		return -ENOMEM;
	v->items[v->n++] = *one;
	return 0;
}

static int take_log(struct versions *v, struct context *cx,
		    struct logsearch *search, const struct log *log)
{
	struct segsum_block b;
	struct version one = {.seq = le64_get(log->ss.ss_seq)};
	bool is_beyond = segsum_cno(&log->ss) > v->beyond;
	int err = 0;

	if (segsum_has_super_root(&log->ss) && segsum_cno(&log->ss) > v->newest)
		v->newest = segsum_cno(&log->ss);
	if (is_beyond) {
		err = logcheck_payload(v->vol, cx, log->pseg, &log->ss);
		one.is_suspect = damage_is(err);
		err = damage_forgive(cx, err);
	}
	while (!err && segsum_iter_next(&search->summary.iter, &b)) {
		if (!b.is_virtual || b.is_node)
			continue;
		one.ino = b.ino;
		one.blkoff = b.blkoff;
		one.cno = b.cno ? b.cno : segsum_cno(&log->ss);
		one.vblocknr = b.vblocknr;
		one.blocknr = log->pseg + b.index;
		if (is_beyond || is_wanted(v, &one))
			err = add_version(v, cx, &one);
	}
	return err;
}

/* Whether a log can begin at the first block of a segment. */
static bool begins_with_log(const struct versions *v, struct context *cx,
			    uint64_t start)
{
	struct nilfs_segment_summary ss;
	struct context quiet;

	context_child(cx, &quiet);
	return !dev_read(v->vol->dev, &quiet, start << v->vol->geo.block_bits,
			 &ss, sizeof(ss)) &&
	       segsum_check(&v->vol->geo, &ss, start) == RULE_OK;
}

static int take_segment(struct versions *v, struct context *cx, uint64_t segnum)
{
	uint64_t start = geometry_segment_start(&v->vol->geo, segnum);
	struct logsearch search;
	struct log log;
	int ret;

	if (!(v->used->bits && bitmap_test(v->used, segnum)) &&
	    !begins_with_log(v, cx, start))
		return 0;
	ret = logsearch_open(&search, cx, v->vol, segnum, start);
	while (!ret || ret == 1) {
		ret = logsearch_next(&search, cx, &log);
		if (!ret)
			break;
		if (ret > 0) {
			ret = take_log(v, cx, &search, &log);
		} else if (!damage_is_fatal(ret)) {
			fail_clear(cx);
			search.next++;
			ret = 0;
		}
	}
	logsearch_close(&search);
	return ret;
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
