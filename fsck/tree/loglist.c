// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Blocks of a file, from the summaries of the logs.
 *
 * A log says of each of its blocks which file and which place in it the block
 * was written for.  So a block can be found although every pointer to it is
 * lost, and found as it was before it was written anew.  Whether it is still
 * part of the file is for the DAT to say.
 *
 * The segments are searched and not followed: a log whose summary is damaged
 * hides itself and not those behind it.
 */
#include "fsck/tree/loglist.h"

#include <errno.h>

#include "vol/logscan.h"
#include "vol/logsearch.h"

struct listing {
	struct volume *vol;
	uint64_t ino;
	loglist_visitor *visit;
	void *arg;
};

static bool is_fatal(int err)
{
	return err == -ENOMEM || err == -ENOBUFS || err == -EINTR;
}

/* Written after the latest super root: part of nothing yet. */
static bool is_behind(const struct volume *vol, const struct log *log)
{
	uint64_t seq = le64_get(log->ss.ss_seq);

	return seq > vol->latest.seq ||
	       (seq == vol->latest.seq && log->pseg > vol->latest.pseg_start);
}

static bool is_wanted(const struct listing *l, const struct segsum_block *b)
{
	return b->is_virtual && (l->ino == LOGLIST_ALL ||
				 (b->ino == l->ino && !b->is_node));
}

static int list_log(const struct listing *l, struct context *cx,
		    struct summary *summary, const struct log *log)
{
	struct segsum_block b;
	struct loglist_block block = { .seq = le64_get(log->ss.ss_seq) };
	int ret, err = 0;

	while (!err && (ret = summary_next(summary, cx, &b)) > 0) {
		if (!is_wanted(l, &b))
			continue;
		block.ino = b.ino;
		block.is_node = b.is_node;
		block.blkoff = b.blkoff;
		block.vblocknr = b.vblocknr;
		block.blocknr = log->pseg + b.index;
		err = l->visit(l->arg, cx, &block);
	}
	if (!err && ret < 0)
		fail_clear(cx);
	return err;
}

/* On to the next log: 1, 0 at the end; past blocks that cannot be read. */
static int next_log(struct logsearch *search, struct context *cx,
		    struct log *log)
{
	int ret;

	while ((ret = logsearch_next(search, cx, log)) < 0 && !is_fatal(ret)) {
		fail_clear(cx);
		search->next++;
	}
	return ret;
}

static int list_segment(const struct listing *l, struct context *cx,
			uint64_t segnum)
{
	struct logsearch search;
	struct log log;
	int ret;

	ret = logsearch_open(&search, cx, l->vol, segnum,
			     geometry_segment_start(&l->vol->geo, segnum));
	while (!ret && (ret = next_log(&search, cx, &log)) > 0) {
		ret = context_cancelled(cx);
		if (!ret && !is_behind(l->vol, &log))
			ret = list_log(l, cx, &search.summary, &log);
	}
	logsearch_close(&search);
	return ret;
}

/* Whether SEGNUM, not in use, begins with a log all the same. */
static int begins_with_log(struct volume *vol, struct context *cx,
			   uint64_t segnum)
{
	struct logscan scan;
	struct log log;
	int ret = logscan_open(&scan, cx, vol, segnum, 0);

	if (!ret)
		ret = logscan_next(&scan, cx, &log);
	if (ret < 0 && !is_fatal(ret)) {
		fail_clear(cx);
		ret = 0;
	}
	return ret;
}

int loglist_run(const struct check *c, struct context *cx, uint64_t ino,
		loglist_visitor *visit, void *arg)
{
	const struct listing l = {
		.vol = c->vol, .ino = ino, .visit = visit, .arg = arg,
	};
	uint64_t segnum;
	int ret = 0;

	for (segnum = 0; segnum < c->vol->geo.nsegments && ret >= 0; segnum++) {
		ret = bitmap_test(&c->used_segments, segnum);
		if (!ret)
			ret = begins_with_log(c->vol, cx, segnum);
		if (ret > 0)
			ret = list_segment(&l, cx, segnum);
	}
	return ret < 0 ? ret : 0;
}
