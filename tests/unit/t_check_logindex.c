// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The index of the logs against the summaries themselves: all that a search
 * through the segments finds, and nothing else, in memory and past it.
 */
#include "check/logs/logindex.h"

#include <stdlib.h>
#include <string.h>

#include "dev/overlay.h"
#include "fsck_volume.h"
#include "tap.h"
#include "tests/testdev/fault.h"
#include "vol/logsearch.h"
#include "vol/volume.h"

struct rig {
	struct log_volume v;
	struct volume *vol;
	struct logindex *ix;
	unsigned int logs, blocks, runs, bad;
};

static bool is_same(const struct segsum_block *a, const struct segsum_block *b)
{
	return a->ino == b->ino && a->cno == b->cno &&
	       a->vblocknr == b->vblocknr && a->blkoff == b->blkoff &&
	       a->index == b->index && a->finfo == b->finfo &&
	       a->level == b->level && a->is_node == b->is_node &&
	       a->is_virtual == b->is_virtual;
}

/* The blocks of LOG, which the index has as IN_INDEX. */
static void compare_blocks(struct rig *r, const struct logindex_segment *s,
			   const struct logindex_log *in_index,
			   struct segsum_iter *iter)
{
	struct context *cx = &r->v.cx;
	struct logindex_extent e = { .count = 0 }, found;
	struct logindex_log log;
	struct segsum_block b, is;
	uint32_t n = 0, at = 0;

	while (segsum_iter_next(iter, &b)) {
		if (at == e.count) {
			r->bad += n == in_index->nextents ||
				  logindex_extent(r->ix, cx,
						  in_index->first + n++, &e);
			at = 0;
		}
		is = logindex_block(in_index, &e, at++);
		r->bad += !is_same(&is, &b);
		r->bad += logindex_find_log(cx, s, s->n,
					    in_index->pseg + b.index,
					    &log) != 1 ||
			  log.pseg != in_index->pseg;
		r->bad += logindex_find_extent(r->ix, cx, &log,
					       log.pseg + b.index,
					       &found) != 1 ||
			  memcmp(&found, &e, sizeof(e));
		r->blocks++;
	}
	r->runs += n;
	r->bad += at != e.count || n != in_index->nextents ||
		  in_index->verdict != iter->verdict;
	/* Its summary is listed by nothing. */
	r->bad += logindex_find_extent(r->ix, cx, in_index, in_index->pseg,
				       &found) != 0;
}

static void compare_segment(struct rig *r, uint64_t segnum)
{
	struct context *cx = &r->v.cx;
	uint64_t start = geometry_segment_start(&r->v.g, segnum);
	struct logindex_segment s;
	struct logindex_log is;
	struct logsearch search;
	struct log log;
	uint32_t n = 0;

	r->bad += logindex_segment(r->ix, cx, r->vol, segnum, &s) != 0;
	logsearch_open(&search, cx, r->vol, segnum, start);
	while (logsearch_next(&search, cx, &log) > 0) {
		if (!n)
			r->bad += logindex_find_log(cx, &s, s.n,
						    log.pseg - 1, &is) != 0;
		r->bad += n == s.n ||
			  logindex_log(r->ix, cx, s.first + n++, &is) ||
			  is.pseg != log.pseg || is.nblocks != log.nblocks ||
			  is.seq != le64_get(log.ss.ss_seq) ||
			  is.cno != segsum_cno(&log.ss) ||
			  is.create != le64_get(log.ss.ss_create) ||
			  is.flags != le16_get(log.ss.ss_flags);
		compare_blocks(r, &s, &is, &search.summary.iter);
		r->logs++;
	}
	logsearch_close(&search);
	r->bad += n != s.n || s.nsame > s.n;
	r->bad += logindex_begins(r->ix, cx, r->vol, segnum) != (n > 0);
}

static void test_index(struct rig *r, uint64_t memory, const char *what)
{
	struct context *cx = &r->v.cx;
	uint64_t before = cx->max_memory, segnum, reads;
	struct logindex_segment s;

	cx->max_memory = memory;
	r->logs = r->blocks = r->runs = r->bad = 0;
	is_int(logindex_open(&r->ix, cx, &r->v.g, NULL), 0, what);
	cx->max_memory = before;
	for (segnum = r->v.g.nsegments; segnum--;)
		compare_segment(r, segnum);
	is_int(r->bad, 0, "is what the summaries say");
	ok(r->logs > 5 && r->blocks > 500, "%u blocks in %u logs", r->blocks,
	   r->logs);
	ok(r->runs < r->blocks / 2, "%u runs", r->runs);
	reads = r->v.dev->stats.reads;
	for (segnum = 0; segnum < r->v.g.nsegments; segnum++) {
		logindex_segment(r->ix, cx, r->vol, segnum, &s);
		logindex_begins(r->ix, cx, r->vol, segnum);
	}
	is_int(r->v.dev->stats.reads, reads, "nothing is read twice");
	logindex_close(r->ix);
}

/* The first log of a segment has no sum that is right: the next one counts. */
static void test_lost(struct rig *r)
{
	struct context *cx = &r->v.cx;
	struct logindex_segment whole, s;
	struct logindex_log log;
	uint64_t segnum = 0, at;
	uint32_t bad = 0;

	logindex_open(&r->ix, cx, &r->v.g, NULL);
	do {
		segnum++;
		logindex_segment(r->ix, cx, r->vol, segnum, &whole);
	} while (whole.n < 2 && segnum + 1 < r->v.g.nsegments);
	logindex_close(r->ix);
	at = geometry_segment_start(&r->v.g, segnum) << r->v.g.block_bits;
	dev_read(r->v.dev, cx, at + 64, &bad, sizeof(bad));
	bad ^= 1;
	dev_write(r->v.dev, cx, at + 64, &bad, sizeof(bad));
	volume_close(r->vol);
	is_int(volume_open(&r->vol, cx, r->v.dev, NULL), 0, "opened again");
	logindex_open(&r->ix, cx, &r->v.g, NULL);
	ok(logindex_begins(r->ix, cx, r->vol, segnum),
	   "a log begins segment %u, sound or not", (unsigned int)segnum);
	is_int(logindex_segment(r->ix, cx, r->vol, segnum, &s), 0,
	       "the others are found");
	is_int(s.n, whole.n - 1, "but for that one");
	is_int(logindex_find_log(cx, &s, s.n,
				 geometry_segment_start(&r->v.g, segnum) + 1,
				 &log), 0, "no log has its blocks");
	logindex_close(r->ix);
	logindex_close(NULL);
}

/* The log at the beginning of segment SEGNUM, as IX has it: its blocks or 0. */
static uint32_t first_log(struct rig *r, struct logindex *ix,
			  struct volume *vol, uint64_t segnum)
{
	struct logindex_segment s;
	struct logindex_log log;

	if (logindex_segment(ix, &r->v.cx, vol, segnum, &s) || !s.n ||
	    logindex_log(s.ix, &r->v.cx, s.first, &log))
		return 0;
	return log.pseg == geometry_segment_start(&r->v.g, segnum) ?
		       log.nblocks : 0;
}

/* Of a device with an overlay, and of that without, each what it has. */
static void test_overlay(struct rig *r)
{
	struct context *cx = &r->v.cx;
	static const char zeros[1024];
	struct dev *over;
	struct volume *vol;
	struct logindex *first, *before, *after;
	uint64_t at = geometry_segment_start(&r->v.g, 1) << r->v.g.block_bits;
	uint64_t reads;

	is_int(overlay_open(&over, cx, r->v.dev, false), 0, "an overlay");
	is_int(volume_open(&vol, cx, over, NULL), 0, "a volume on it");
	logindex_open(&first, cx, &r->v.g, NULL);
	logindex_open(&before, cx, &r->v.g, first);
	ok(first_log(r, first, vol, 1) && first_log(r, first, vol, 2),
	   "two segments with logs");
	is_int(dev_write(over, cx, at, zeros, sizeof(zeros)), 0,
	       "the first log of one is overwritten");
	volume_close(vol);
	is_int(volume_open(&vol, cx, over, NULL), 0, "opened again");
	logindex_open(&after, cx, &r->v.g, first);
	is_int(first_log(r, after, vol, 1), 0, "it is gone afterwards");
	ok(first_log(r, before, r->vol, 1) > 0, "and there before");
	reads = over->stats.reads;
	ok(first_log(r, after, vol, 2) > 0, "the other one is there");
	is_int(over->stats.reads, reads, "and not read again");
	is_int(dev_write(over, cx, geometry_segment_start(&r->v.g, 3)
			 << r->v.g.block_bits, zeros, sizeof(zeros)), 0,
	       "one more, which was not read yet");
	is_int(first_log(r, after, vol, 3), 0, "is gone");
	ok(first_log(r, before, r->vol, 3) > 0, "and there before");
	ok(first_log(r, first, r->vol, 3) > 0, "also in the first index");
	is_int(first_log(r, after, vol, r->v.g.nsegments), 0,
	       "a segment that there is not");
	logindex_close(after);
	logindex_close(before);
	logindex_close(first);
	volume_close(vol);
	dev_close(over);
}

/* How many logs are found where PLAN happens after the volume was opened; *AT is
   how many reads that took, and *HAPPENED whether it has. */
static unsigned int logs_under(struct rig *r, struct fault_plan *plan,
			       uint64_t *at, bool *happened)
{
	struct context *cx = &r->v.cx;
	struct logindex_segment s;
	struct logindex *ix;
	struct volume *vol;
	struct dev *dev;
	unsigned int n = 0;
	uint64_t segnum;

	plan->at = *at;
	if (fault_open(&dev, cx, r->v.dev, plan) ||
	    volume_open(&vol, cx, dev, NULL))
		return 0;
	*at = fault_counted(dev);
	logindex_open(&ix, cx, &r->v.g, NULL);
	for (segnum = 0; segnum < r->v.g.nsegments; segnum++)
		n += logindex_segment(ix, cx, vol, segnum, &s) ? 0 : s.n;
	*happened = fault_happened(dev);
	logindex_close(ix);
	volume_close(vol);
	dev_close(dev);
	return n;
}

/* A log is not missed because one read has failed, only where its place has. */
static void test_unread(struct rig *r)
{
	struct fault_plan plan = { .counted = FAULT_READS };
	uint64_t opened = 0, at, unused;
	unsigned int whole, fewer = 0, tries = 0;
	bool happened;

	whole = logs_under(r, &plan, &opened, &happened);
	plan.kind = FAULT_FAIL;
	for (at = opened + 1; ; at++, tries++) {
		unused = at;
		fewer += logs_under(r, &plan, &unused, &happened) != whole;
		if (!happened)
			break;
	}
	ok(whole > 5 && tries > whole, "%u reads for %u logs", tries, whole);
	is_int(fewer, 0, "any of them may fail once");
	plan = (struct fault_plan){
		.bad_off = geometry_segment_start(&r->v.g, 1)
			   << r->v.g.block_bits,
		.bad_bytes = 512,
	};
	unused = 0;
	is_int(logs_under(r, &plan, &unused, &happened), whole - 1,
	       "what cannot be read at all is passed over");
}

int main(void)
{
	struct rig r = { .ix = NULL };

	is_int(fsck_volume_make(&r.v, NULL), 0, "a volume");
	is_int(volume_open(&r.vol, &r.v.cx, r.v.dev, NULL), 0, "opened");
	r.v.cx.scratch_dir = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
	test_index(&r, 1u << 20, "in memory");
	test_index(&r, 1u << 10, "past it");
	test_overlay(&r);
	test_unread(&r);
	test_lost(&r);
	volume_close(r.vol);
	log_volume_fini(&r.v);
	return tap_done();
}
