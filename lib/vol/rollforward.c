// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Collecting the blocks of data-sync logs, as nilfs_do_roll_forward() walks.
 *
 * The search for the super root has already walked these logs; this second
 * walk goes from the first of them to the last.  Blocks count only once the
 * end of their logical log was seen.  The result is one sorted array, the
 * newest content of each block only, so that a file finds its blocks by
 * bisection.
 */
#include "vol/rollforward.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"
#include "disk/segsum.h"
#include "vol/logcheck.h"
#include "vol/recovery.h"
#include "vol/summary.h"
#include "vol/volume.h"

struct collector {
	struct volume *vol;
	const struct recovery *rec;
	struct rollforward *rf;
	size_t capacity;
	uint64_t complete;	/* blocks of logical logs whose end was seen */
	bool in_dsync;		/* inside a logical data-sync log */
};

static int add_block(struct collector *c, struct context *cx,
		     const struct segsum_block *b, uint64_t blocknr)
{
	struct rollforward *rf = c->rf;

	if (array_reserve(cx, &rf->blocks, &c->capacity, rf->count + 1))
		return -ENOMEM;
	rf->blocks[rf->count] = (struct salvaged_block){
		.ino = b->ino,
		.blkoff = b->blkoff,
		.blocknr = blocknr,
		.order = rf->count,
	};
	rf->count++;
	return 0;
}

static int add_log(struct collector *c, struct context *cx, uint64_t pseg,
		   const struct nilfs_segment_summary *ss)
{
	struct summary summary = { 0 };
	struct segsum_block b;
	int ret;

	ret = summary_read(&summary, cx, c->vol, pseg, ss);
	while (!ret && (ret = summary_next(&summary, cx, &b)) > 0)
		ret = b.is_node ? 0 : add_block(c, cx, &b, pseg + b.index);
	summary_free(&summary);
	return ret;
}

/* Takes one valid log; -EUCLEAN where the kernel gets confused. */
static int take_log(struct collector *c, struct context *cx, uint64_t pseg,
		    const struct nilfs_segment_summary *ss)
{
	const unsigned int begins = NILFS_SS_LOGBGN | NILFS_SS_SYNDT;
	unsigned int flags = le16_get(ss->ss_flags);
	int err;

	if (!c->in_dsync && (flags & begins) != begins)
		return 0;
	if ((flags & NILFS_SS_SR) || !(flags & NILFS_SS_SYNDT))
		return fail(cx, -EUCLEAN,
			    "log at block %llu: not part of the data-sync log before it",
			    (unsigned long long)pseg);
	c->in_dsync = true;
	err = add_log(c, cx, pseg, ss);
	if (err)
		return err;
	if (flags & NILFS_SS_LOGEND) {
		c->in_dsync = false;
		c->complete = c->rf->count;
	}
	return 0;
}

/* A place in the chain of logs. */
struct place {
	uint64_t pseg, seq, segnum, nextnum;
	unsigned int empty;	/* segments that ended without a log, in a row */
};

static bool past_last(const struct recovery *rec, const struct place *p)
{
	return p->segnum == rec->last_segnum && p->pseg > rec->last_pseg;
}

/* To the first block of the next segment; false at the end of the chain. */
static bool feed_segment(const struct nilfs_geometry *geo, struct place *p)
{
	if (p->empty++ || p->nextnum >= geo->nsegments)
		return false;
	p->seq++;
	p->segnum = p->nextnum;
	p->pseg = geometry_segment_start(geo, p->segnum);
	return true;
}

/* After the log just taken; false at the end of the chain. */
static bool step_over(const struct nilfs_geometry *geo, struct place *p,
		      const struct nilfs_segment_summary *ss)
{
	p->nextnum = geometry_segment_of(geo, le64_get(ss->ss_next));
	p->empty = 0;
	p->pseg += le32_get(ss->ss_nblocks);
	if (p->pseg + 1 < geometry_segment_end(geo, p->segnum))
		return true;
	return feed_segment(geo, p);
}

static int walk_logs(struct collector *c, struct context *cx)
{
	const struct nilfs_geometry *geo = &c->vol->geo;
	const struct recovery *rec = c->rec;
	struct place p = {
		.pseg = rec->orphans_start,
		.seq = rec->orphans_start_seq,
		.segnum = geometry_segment_of(geo, rec->orphans_start),
	};
	struct nilfs_segment_summary ss;
	bool more = true;
	int err;

	p.nextnum = p.segnum;
	while (more && !past_last(rec, &p)) {
		bool last = p.pseg == rec->orphans_end;

		err = logcheck_read(c->vol, cx, p.pseg, p.seq, &ss);
		if (err && err != -EUCLEAN)
			return err;
		if (err) {
			fail_clear(cx);
			more = !last && feed_segment(geo, &p);
			continue;
		}
		err = take_log(c, cx, p.pseg, &ss);
		if (err)
			return err;
		more = !last && step_over(geo, &p, &ss);
	}
	return 0;
}

/* By inode and block, the newest of equals first. */
static int compare_block(const void *a, const void *b)
{
	const struct salvaged_block *x = a, *y = b;

	if (x->ino != y->ino)
		return x->ino < y->ino ? -1 : 1;
	if (x->blkoff != y->blkoff)
		return x->blkoff < y->blkoff ? -1 : 1;
	return x->order > y->order ? -1 : x->order < y->order;
}

void rollforward_sort(struct rollforward *rf)
{
	uint64_t from, to = 0;

	if (rf->count)
		qsort(rf->blocks, rf->count, sizeof(*rf->blocks),
		      compare_block);
	for (from = 0; from < rf->count; from++) {
		const struct salvaged_block *b = &rf->blocks[from];

		if (to && rf->blocks[to - 1].ino == b->ino &&
		    rf->blocks[to - 1].blkoff == b->blkoff)
			continue;
		rf->blocks[to++] = *b;
	}
	rf->count = to;
}

int rollforward_collect(struct volume *vol, struct context *cx,
			const struct recovery *rec, struct rollforward **rfp)
{
	struct collector c = { .vol = vol, .rec = rec };
	int err = 0;

	c.rf = calloc(1, sizeof(*c.rf));
	if (!c.rf)
		return fail(cx, -ENOMEM, "list of salvaged blocks");
	if (rec->orphans_start && rec->orphans_end)
		err = walk_logs(&c, cx);
	if (err) {
		rollforward_free(c.rf);
		return err;
	}
	c.rf->count = c.complete;
	rollforward_sort(c.rf);
	*rfp = c.rf;
	return 0;
}

void rollforward_free(struct rollforward *rf)
{
	if (rf) {
		free(rf->blocks);
		free(rf->lost);
	}
	free(rf);
}

const struct salvaged_block *
rollforward_find(const struct rollforward *rf, uint64_t ino, uint64_t blkoff)
{
	struct salvaged_block key = {
		.ino = ino,
		.blkoff = blkoff,
		.order = UINT64_MAX,
	};
	uint64_t low = 0, high = rf ? rf->count : 0;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (compare_block(&rf->blocks[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (!rf || low == rf->count || rf->blocks[low].ino != ino)
		return NULL;
	return &rf->blocks[low];
}
