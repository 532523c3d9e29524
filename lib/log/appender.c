// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Filling logs, one after the other.
 *
 * The blocks of a log are listed first; its position is known only when the log
 * is full, because the summary precedes the blocks and its length depends on
 * their number.  Then the positions are entered in the DAT, and the log is
 * passed to the workers that fill and write it.  The content of metadata blocks
 * is taken last, since it may contain positions of the same log.
 *
 * The last logs of a checkpoint are held back until all are listed.  They
 * contain the DAT, with the positions of all of them, and the SUFILE, with the
 * block counts of each segment.
 *
 * Blocks that are contiguous in the payload and have consecutive numbers are
 * merged, across files: a new volume has one run for each file and one place
 * for all numbers between two B-tree nodes.
 */
#include "log/appender.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* Free blocks in the segment after the last closed log. */
static uint32_t rest_of_segment(const struct appender *a)
{
	uint64_t next = geometry_segment_start(a->g, a->segnum) + a->offset;

	return (uint32_t)(geometry_segment_end(a->g, a->segnum) - next);
}

uint64_t appender_room(const struct appender *a, enum appender_where where)
{
	/*
	 * No file has this inode number, so the run never continues an open
	 * finfo.
	 */
	const struct loglayout_run run = {
		.ino = UINT64_MAX, .kind = LOGLAYOUT_DATA, .count = UINT32_MAX,
	};
	uint32_t rest = rest_of_segment(a);
	struct loglayout layout;

	if (a->log && where == APPENDER_OPEN)
		return loglayout_room(&a->log->layout, &run);
	if (a->log)
		rest -= loglayout_nblocks(&a->log->layout);
	if (where == APPENDER_SEGMENT)
		rest = a->g->blocks_per_segment;
	if (a->log_blocks && a->log_blocks < rest)
		rest = a->log_blocks;
	if (rest < NILFS_PSEG_MIN_BLOCKS)
		return 0;
	loglayout_init(&layout, a->g, rest);
	return loglayout_room(&layout, &run);
}

int appender_settle(struct appender *a, struct context *cx)
{
	uint64_t next = a->nextnum;
	bool begins = !a->log && rest_of_segment(a) < NILFS_PSEG_MIN_BLOCKS;
	int ret = 0;

	if (begins) {
		if (next == APPENDER_ANY)
			ret = segments_take(a->segments, cx, &next);
		else if (a->segments->taken)
			ret = a->segments->taken(a->segments->arg, cx, next);
		if (ret)
			return ret;
		a->segnum = next;
		a->seq++;
		a->offset = 0;
	}
	if (begins || next == APPENDER_ANY) {
		ret = segments_take(a->segments, cx, &next);
		a->nextnum = ret ? a->nextnum : next;
	}
	return ret;
}

/* Opens a log at the current position unless one is open. */
static int appender_begin_log(struct appender *a, struct context *cx)
{
	struct appender_log *log;
	uint32_t limit;
	int ret = a->log ? 0 : appender_settle(a, cx);

	if (ret || a->log)
		return ret;
	log = calloc(1, sizeof(*log));
	if (!log)
		return fail(cx, -ENOMEM, "log");
	limit = rest_of_segment(a);
	if (a->log_blocks && a->log_blocks < limit)
		limit = a->log_blocks;
	loglayout_init(&log->layout, a->g, limit);
	log->segnum = a->segnum;
	log->nextnum = a->nextnum;
	log->seq = a->seq;
	log->start = geometry_segment_start(a->g, a->segnum) + a->offset;
	log->flags = a->flags | (a->first ? NILFS_SS_LOGBGN : 0);
	a->first = false;
	a->log = log;
	return 0;
}

/* NULL is accepted. */
static void free_log(struct appender_log *log)
{
	size_t i;

	if (!log)
		return;
	for (i = 0; i < log->nruns; i++)
		payload_put(log->runs[i].payload);
	loglayout_fini(&log->layout);
	free(log->runs);
	free(log->places);
	free(log->metas);
	free(log);
}

int appender_enter(struct appender *a, struct context *cx,
		   const struct appender_log *first)
{
	const struct appender_log *log;
	uint64_t base, end;
	int ret;
	size_t i;

	for (log = first; log; log = log->next) {
		base = log->start + loglayout_nsumblk(&log->layout);
		end = base + log->layout.npayload;
		for (i = 0; i < log->nplaces; i++) {
			const struct appender_place *p = &log->places[i];

			ret = dattable_place(a->dat, cx, p->first, p->count,
					     base + p->index, p->moved);
			if (ret)
				return ret;
		}
		end -= geometry_segment_start(a->g, log->segnum);
		ret = segments_wrote(a->segments, cx, log->segnum,
				     (uint32_t)end);
		if (!ret)
			ret = segments_count(a->segments, cx, log->start,
					     (int32_t)log->layout.npayload -
					     log->layout.super_root, 0);
		if (ret)
			return ret;
	}
	for (log = first; log; log = log->next) {
		base = log->start + loglayout_nsumblk(&log->layout);
		for (i = 0; i < log->nmetas; i++) {
			const struct appender_meta *c = &log->metas[i];

			ret = c->m != a->dat_file ? 0 :
			      metafile_place(c->m, cx, &c->block,
					     base + c->index);
			if (ret)
				return ret;
		}
	}
	return 0;
}

/* Takes the content of metadata blocks and submits LOG to the output. */
static int submit_log(struct appender *a, struct context *cx,
		      struct appender_log *log)
{
	const struct loglayout_header header = {
		.flags = log->flags,
		.seq = log->seq,
		.create = a->time,
		.next = geometry_segment_start(a->g, log->nextnum),
		.cno = a->cno,
	};
	struct logout_log out = {
		.blocknr = log->start,
		.nsumblk = loglayout_nsumblk(&log->layout),
		.runs = log->runs,
		.nruns = (uint32_t)log->nruns,
		.npayload = log->layout.npayload,
		.whole = log->layout.super_root,
	};
	const void *data;
	void *own;
	size_t i;
	int ret = 0;

	for (i = 0; i < log->nmetas && !ret; i++) {
		const struct appender_meta *c = &log->metas[i];

		ret = metafile_take(c->m, cx, &c->block, &own, &data);
		if (!ret)
			payload_give(c->payload, c->at, own, data);
	}
	if (!ret)
		ret = loglayout_close(&log->layout, cx, &header, &out.summary);
	if (!ret) {
		log->runs = NULL;
		log->nruns = 0;
		ret = logout_submit(a->out, cx, &out);
	}
	free_log(log);
	return ret;
}

int appender_end_log(struct appender *a, struct context *cx)
{
	struct appender_log *log = a->log;
	uint32_t nblocks;
	int ret = context_cancelled(cx);

	if (ret || !log)
		return ret;
	nblocks = loglayout_nblocks(&log->layout);
	a->offset += nblocks;
	a->blocks += nblocks;
	a->summaries += loglayout_nsumblk(&log->layout);
	a->last = log->start;
	a->log = NULL;
	if (a->holding) {
		*a->held_end = log;
		a->held_end = &log->next;
		return 0;
	}
	ret = appender_enter(a, cx, log);
	if (!ret)
		return submit_log(a, cx, log);
	free_log(log);
	return ret;
}

int appender_leave_segment(struct appender *a, struct context *cx)
{
	int ret = appender_end_log(a, cx);

	if (!ret)
		a->offset += rest_of_segment(a);
	return ret;
}

int appender_keep_together(struct appender *a, struct context *cx, uint64_t n)
{
	uint64_t rest = rest_of_segment(a);

	if (a->log)
		rest -= loglayout_nblocks(&a->log->layout);
	/* A block of a summary lists more than 16 blocks; each log begins one. */
	n += n / 16 + 1 + (a->log_blocks ? n / a->log_blocks : 0);
	return n > rest ? appender_leave_segment(a, cx) : 0;
}

/*
 * Appends COUNT blocks of PAYLOAD from AT on to LOG, which takes a reference.
 */
static int add_log_run(struct appender_log *log, struct context *cx,
		       struct payload *payload, uint64_t at, uint32_t count)
{
	struct logout_run *last =
		log->nruns ? &log->runs[log->nruns - 1] : NULL;

	if (last && last->payload == payload && last->at + last->count == at) {
		last->count += count;
		return 0;
	}
	if (array_reserve(cx, &log->runs, &log->runs_room,
			  log->nruns + 1))
		return -ENOMEM;
	log->runs[log->nruns++] = (struct logout_run){
		.payload = payload_hold(payload), .at = at, .count = count,
	};
	return 0;
}

int appender_list(struct appender *a, struct context *cx,
		  const struct loglayout_run *run, struct payload *payload,
		  uint64_t at, bool moved, uint32_t *done)
{
	struct appender_place place = {
		.first = run->vblocknr, .moved = moved,
	}, *last;
	struct loglayout_run part = *run;
	struct appender_log *log;
	int ret = appender_begin_log(a, cx);

	*done = 0;
	if (ret)
		return ret;
	log = a->log;
	part.count = loglayout_room(&log->layout, run);
	if (!part.count)
		return 0;
	place.count = part.count;
	ret = loglayout_add(&log->layout, cx, &part, &place.index);
	if (!ret)
		ret = add_log_run(log, cx, payload, at, part.count);
	if (!ret && part.vblocknr && !moved)
		ret = dattable_count_waiting(a->dat, cx, part.vblocknr,
					     part.count, -1);
	if (ret)
		return ret;
	*done = part.count;
	if (!part.vblocknr)
		return 0;
	last = log->nplaces ? &log->places[log->nplaces - 1] : NULL;
	if (last && last->moved == moved &&
	    last->first + last->count == place.first &&
	    last->index + last->count == place.index)
		last->count += place.count;
	else
		ret = array_push(cx, &log->places, &log->nplaces,
				 &log->places_room, place);
	return ret;
}

int appender_list_file(struct appender *a, struct context *cx,
		       const struct appender_file *file,
		       const struct metafile_block *blocks, size_t n,
		       bool here)
{
	bool dat = file->ino == NILFS_DAT_INO;
	enum loglayout_kind data = dat ? LOGLAYOUT_DAT_DATA : LOGLAYOUT_DATA;
	enum loglayout_kind node = dat ? LOGLAYOUT_DAT_NODE : LOGLAYOUT_NODE;
	struct payload *payload = payload_given(n, a->g->block_size);
	uint32_t done = 1;
	size_t i;
	int ret = 0;

	if (!payload)
		return fail(cx, -ENOMEM, "blocks of metadata");
	for (i = 0; i < n && !ret; i += done) {
		const struct metafile_block *b = &blocks[i];
		const struct loglayout_run run = {
			.ino = file->ino,
			.cno = file->cno,
			.kind = b->level ? node : data,
			.level = (uint8_t)b->level,
			.vblocknr = b->ptr,
			.blkoff = b->key,
			.count = 1,
		};

		if (here && !a->log)
			break;
		ret = appender_list(a, cx, &run, payload, i, false, &done);
		if (ret || (!done && here))
			break;
		if (!done) {
			ret = appender_end_log(a, cx);
			continue;
		}
		ret = array_push(cx, &a->log->metas, &a->log->nmetas,
				 &a->log->metas_room, (struct appender_meta){
			.m = file->m,
			.block = *b,
			.index = a->log->layout.npayload - 1,
			.payload = payload,
			.at = i,
		});
	}
	payload_put(payload);
	return ret;
}

int appender_list_super_root(struct appender *a, struct context *cx,
			     void **block)
{
	struct payload *payload;
	int ret = appender_begin_log(a, cx);

	if (!ret && !loglayout_add_super_root(&a->log->layout)) {
		ret = appender_end_log(a, cx);
		if (!ret)
			ret = appender_begin_log(a, cx);
		if (!ret && !loglayout_add_super_root(&a->log->layout))
			ret = fail(cx, -EINVAL, "no room for a super root");
	}
	if (ret)
		return ret;
	payload = payload_memory(NULL, 1, a->g->block_size, block);
	if (!payload)
		return fail(cx, -ENOMEM, "super root");
	a->log->flags |= NILFS_SS_LOGEND;
	ret = add_log_run(a->log, cx, payload, 0, 1);
	payload_put(payload);
	return ret ? ret : appender_end_log(a, cx);
}

int appender_submit(struct appender *a, struct context *cx)
{
	struct appender_log *log;
	int ret = 0;

	while (!ret && a->held) {
		log = a->held;
		a->held = log->next;
		ret = submit_log(a, cx, log);
	}
	return ret;
}

void appender_fini(struct appender *a)
{
	struct appender_log *log;

	free_log(a->log);
	while (a->held) {
		log = a->held;
		a->held = log->next;
		free_log(log);
	}
	logout_close(a->out);
	a->out = NULL;
}
