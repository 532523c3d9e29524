// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Blocks of a file, from the summaries of the logs.
 *
 * A log says of each of its blocks which file and which place in it the block
 * was written for.  So a block can be found although every pointer to it is
 * lost, and found as it was before it was written anew.  Whether it is still
 * part of the file is for the DAT to say.
 */
#include "fsck/index/loglist.h"

#include "check/lifelogs.h"

struct listing {
	uint64_t ino;
	loglist_visitor *visit;
	void *arg;
};

static bool is_wanted(const struct listing *list, const struct segsum_block *b)
{
	return b->is_virtual && (list->ino == LOGLIST_ALL ||
				 (b->ino == list->ino && !b->is_node));
}

static int list_log(const struct listing *list, struct context *cx,
		    struct lifelogs *l, const struct log *log)
{
	struct segsum_block b;
	struct loglist_block block = {
		.rank = l->is_former ? 0 : le64_get(log->ss.ss_seq) + 1,
	};
	int ret, err = 0;

	while (!err &&
	       (ret = summary_next(&l->search.summary, cx, &b)) > 0) {
		if (!is_wanted(list, &b))
			continue;
		block.ino = b.ino;
		block.is_node = b.is_node;
		block.blkoff = b.blkoff;
		block.vblocknr = b.vblocknr;
		block.blocknr = log->pseg + b.index;
		err = list->visit(list->arg, cx, &block);
	}
	if (!err && ret < 0)
		fail_clear(cx);
	return err;
}

static int list_segment(const struct listing *list, struct context *cx,
			const struct check *c, uint64_t segnum)
{
	struct lifelogs l;
	struct log log;
	int ret = lifelogs_open(&l, cx, c, segnum);

	while (ret > 0 && (ret = lifelogs_next(&l, cx, &log)) > 0) {
		ret = list_log(list, cx, &l, &log);
		ret = ret ? ret : 1;
	}
	lifelogs_close(&l);
	return ret;
}

int loglist_run(const struct check *c, struct context *cx, uint64_t ino,
		loglist_visitor *visit, void *arg)
{
	const struct listing list = { .ino = ino, .visit = visit, .arg = arg };
	uint64_t segnum;
	int ret = 0;

	for (segnum = 0; segnum < c->vol->geo.nsegments && !ret; segnum++)
		ret = list_segment(&list, cx, c, segnum);
	return ret;
}

/* A segment with logs that cannot be read is shut by the first repair. */
bool loglist_is_whole(const struct check *c)
{
	return !findings_have(c->findings, RULE_HIDES_LOGS) &&
	       !c->logs_shut && bitmap_next_set(&c->broken_segments, 0) >=
					c->broken_segments.bits;
}
