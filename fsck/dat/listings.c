// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the logs list.
 *
 * The logs of all segments are read once, in the order of the device.  A list
 * grows until it is twice as long as what it knows of, and is cut then to the
 * newest of each number; so the history that the logs hold costs nothing.
 *
 * Which segments are in use is what the SUFILE says, and that may be the very
 * thing that is wrong, so clean ones are read as well if they begin with a
 * log: mostly a look at one block.  What was written after the latest super
 * root is not part of the volume.
 */
#include "fsck/dat/listings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "fsck/check.h"
#include "vol/logsearch.h"
#include "vol/sutable.h"

#define FIRST_CUT 4096u

struct gather {
	struct listings *l;
	struct check *c;
	const struct sparse *wanted;	/* NULL: the DAT's own blocks */
	size_t cut;			/* items with which to cut */
	bool is_used;			/* the segment at hand */
};

/* By number; of one number the one to be believed first. */
static int compare(const void *a, const void *b)
{
	const struct listing *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	if (x->is_used != y->is_used)
		return x->is_used ? -1 : 1;
	if (x->seq != y->seq)
		return x->seq > y->seq ? -1 : 1;
	return x->blocknr > y->blocknr ? -1 : x->blocknr < y->blocknr;
}

static void cut(struct listings *l)
{
	size_t i, kept = 0;

	sort_in_place(l->items, l->n, sizeof(*l->items), compare);
	for (i = 0; i < l->n; i++)
		if (!kept || l->items[kept - 1].number != l->items[i].number)
			l->items[kept++] = l->items[i];
	l->n = kept;
}

static int add(struct gather *g, struct context *cx, const struct listing *one)
{
	struct listings *l = g->l;
	struct listing *grown;

	if (l->n >= g->cut) {
		cut(l);
		g->cut = l->n < FIRST_CUT / 2 ? FIRST_CUT : 2 * l->n;
	}
	grown = array_grow(cx, l->items, &l->room, l->n + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	l->items = grown;
	grown[l->n++] = *one;
	return 0;
}

static bool is_wanted(const struct gather *g, const struct segsum_block *b)
{
	if (g->wanted)
		return b->is_virtual && sparse_test(g->wanted, b->vblocknr);
	return !b->is_virtual && b->ino == NILFS_DAT_INO && !b->is_node;
}

static int take_log(struct gather *g, struct context *cx,
		    const struct log *log, struct summary *summary)
{
	struct segsum_block b;
	struct listing one;
	int err = 0;

	while (!err && segsum_iter_next(&summary->iter, &b)) {
		if (!is_wanted(g, &b))
			continue;
		one = (struct listing){
			.number = g->wanted ? b.vblocknr : b.blkoff,
			.blocknr = log->pseg + b.index,
			.seq = le64_get(log->ss.ss_seq),
			.cno = b.cno ? b.cno : segsum_cno(&log->ss),
			.ino = b.ino,
			.blkoff = b.blkoff,
			.is_node = b.is_node,
			/* Of the DAT the newest counts, wherever it is. */
			.is_used = g->is_used || !g->wanted,
		};
		err = add(g, cx, &one);
	}
	if (summary->iter.verdict && g->is_used &&
	    summary->iter.verdict != RULE_LOG_SUMBYTES_UNUSED)
		g->l->partial = true;
	return err;
}

/* One past the last block that the logs of SEGNUM reach; 0: not known. */
static uint64_t known_end(struct gather *g, struct context *cx,
			  uint64_t segnum)
{
	struct volume *vol = g->c->vol;
	uint64_t start = geometry_segment_start(&vol->geo, segnum);
	struct nilfs_segment_usage_ext su;
	struct context quiet;

	if (segnum == vol->latest.segnum)
		return start + vol->latest.offset;
	context_child(cx, &quiet);
	if (segnum == vol->latest.nextnum ||
	    sutable_read(vol, &quiet, segnum, &su))
		return 0;
	return start + le32_get(su.su.su_nblocks);
}

/* Logs that follow one another to the end leave nothing unread. */
static int take_segment(struct gather *g, struct context *cx, uint64_t segnum)
{
	struct volume *vol = g->c->vol;
	uint64_t end = known_end(g, cx, segnum);
	uint64_t next = geometry_segment_start(&vol->geo, segnum), seq = 0;
	struct logsearch search;
	struct log log;
	int ret = logsearch_open(&search, cx, vol, segnum, next);

	if (segnum == vol->latest.segnum)
		search.end = end;
	while (!ret && (ret = logsearch_next(&search, cx, &log)) > 0) {
		ret = context_cancelled(cx);
		if (!seq)
			seq = le64_get(log.ss.ss_seq);
		/* What is left from the segment's former life. */
		if (ret || seq > vol->latest.seq ||
		    seq != le64_get(log.ss.ss_seq))
			break;
		if (log.pseg != next && g->is_used)
			g->l->partial = true;
		next = log.pseg + log.nblocks;
		ret = take_log(g, cx, &log, &search.summary);
	}
	logsearch_close(&search);
	if (g->is_used && next < end)
		g->l->partial = true;
	return ret < 0 ? ret : 0;
}

/* Whether a log begins SEGNUM. */
static bool has_log(const struct check *c, struct context *cx, uint64_t segnum)
{
	const struct nilfs_geometry *geo = &c->vol->geo;
	uint64_t start = geometry_segment_start(geo, segnum);
	struct nilfs_segment_summary ss;
	struct context quiet;

	context_child(cx, &quiet);
	return !dev_read(c->vol->dev, &quiet, start << geo->block_bits, &ss,
			 sizeof(ss)) &&
	       segsum_check(geo, &ss, start) == RULE_OK;
}

static int gather(struct gather *g, struct context *cx)
{
	struct check *c = g->c;
	bool known = c->used_segments.bits &&
		     !findings_count(c->findings, RULE_SU_UNREADABLE);
	uint64_t segnum;
	int err = 0;

	g->cut = FIRST_CUT;
	for (segnum = 0; segnum < c->vol->geo.nsegments && !err; segnum++) {
		g->is_used = !known || bitmap_test(&c->used_segments, segnum) ||
			     segnum == c->vol->latest.segnum;
		if ((known && g->is_used) || has_log(c, cx, segnum))
			err = take_segment(g, cx, segnum);
		if (err == -EIO || err == -EUCLEAN) {
			fail_clear(cx);
			g->l->partial |= g->is_used;
			err = 0;
		}
	}
	cut(g->l);
	return err;
}

int listings_of_vblocks(struct listings *l, struct context *cx,
			struct check *c, const struct sparse *wanted)
{
	struct gather g = { .l = l, .c = c, .wanted = wanted };

	return gather(&g, cx);
}

int listings_of_dat(struct listings *l, struct context *cx, struct check *c)
{
	struct gather g = { .l = l, .c = c };

	return gather(&g, cx);
}

void listings_fini(struct listings *l)
{
	free(l->items);
	memset(l, 0, sizeof(*l));
}

static bool is_below(const void *item, const void *key)
{
	const struct listing *listing = item;

	return listing->number < *(const uint64_t *)key;
}

size_t listings_from(const struct listings *l, uint64_t number)
{
	return search_first(l->items, l->n, sizeof(*l->items), is_below,
			    &number);
}

const struct listing *listings_find(const struct listings *l, uint64_t number)
{
	size_t i = listings_from(l, number);

	return i < l->n && l->items[i].number == number ? &l->items[i] : NULL;
}
