// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Filling logs, one after the other.
 *
 * The blocks of a log are listed first; its position is known only when the log
 * is full, because the summary precedes the blocks and is as long as their
 * list.  Then the positions are entered in the DAT, and the log is passed to
 * the workers that fill and write it.  Blocks of metadata are given to it last,
 * since they may contain positions of the same log.
 *
 * The last logs of a checkpoint are held back until all are listed.  They have
 * the DAT, with the positions of all of them, and the SUFILE, with the block
 * counts of each segment.
 */
#include "log/appender.h"

#include <errno.h>

#include "log/appender_log.h"

/* Blocks of the segment after the log that ended last. */
static uint32_t rest_of_segment(const struct appender *a)
{
	uint64_t next = geometry_segment_start(a->g, a->segnum) + a->offset;

	return (uint32_t)(geometry_segment_end(a->g, a->segnum) - next);
}

static uint32_t limit(const struct appender *a, uint32_t rest)
{
	return a->log_blocks && a->log_blocks < rest ? a->log_blocks : rest;
}

/* Data blocks of one file that a log of LIMIT blocks holds. */
static uint64_t capacity(const struct appender *a, uint32_t blocks)
{
	const struct loglayout_run run = {
		.kind = LOGLAYOUT_DATA, .count = UINT32_MAX,
	};
	struct loglayout layout;
	uint64_t room;

	if (blocks < NILFS_PSEG_MIN_BLOCKS)
		return 0;
	loglayout_init(&layout, a->g, blocks);
	room = loglayout_room(&layout, &run);
	loglayout_fini(&layout);
	return room;
}

uint64_t appender_room(const struct appender *a)
{
	/*
	 * An inode number that no file has: it never continues an open finfo.
	 */
	const struct loglayout_run run = {
		.ino = UINT64_MAX, .kind = LOGLAYOUT_DATA, .count = UINT32_MAX,
	};

	if (!a->log)
		return capacity(a, limit(a, rest_of_segment(a)));
	return loglayout_room(&a->log->layout, &run);
}

uint64_t appender_room_behind(const struct appender *a)
{
	uint32_t rest = rest_of_segment(a);

	if (a->log)
		rest -= loglayout_nblocks(&a->log->layout);
	return capacity(a, limit(a, rest));
}

uint64_t appender_capacity(const struct appender *a)
{
	return capacity(a, limit(a, a->g->blocks_per_segment));
}

/* The segment that follows becomes the current one. */
static int next_segment(struct appender *a, struct context *cx)
{
	uint64_t next = a->nextnum;
	int ret = next == APPENDER_ANY ?
			  segments_take(a->segments, cx, &next) :
			  segments_begin(a->segments, cx, next);

	if (ret)
		return ret;
	a->segnum = next;
	a->seq++;
	a->offset = 0;
	ret = segments_take(a->segments, cx, &next);
	a->nextnum = next;
	return ret;
}

int appender_settle(struct appender *a, struct context *cx)
{
	uint64_t next;
	int ret = 0;

	if (!a->log && rest_of_segment(a) < NILFS_PSEG_MIN_BLOCKS)
		return next_segment(a, cx);
	if (a->nextnum == APPENDER_ANY) {
		ret = segments_take(a->segments, cx, &next);
		if (!ret)
			a->nextnum = next;
	}
	return ret;
}

static int begin_log(struct appender *a, struct context *cx)
{
	int ret;

	if (a->log)
		return 0;
	ret = appender_settle(a, cx);
	return ret ? ret : appender_log_make(a, cx,
					     limit(a, rest_of_segment(a)));
}

static void drop_log(struct appender *a)
{
	appender_log_free(a->log);
	a->log = NULL;
}

/* Hands LOG, which has all its content, over. */
static int submit(struct appender *a, struct context *cx,
		  struct appender_log *log)
{
	int ret = appender_log_submit(a, cx, log);

	appender_log_free(log);
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
	ret = appender_log_enter(a, cx, log);
	if (!ret)
		ret = appender_log_enter_dat(a, cx, log);
	if (!ret)
		return submit(a, cx, log);
	appender_log_free(log);
	return ret;
}

int appender_leave_segment(struct appender *a, struct context *cx)
{
	int ret = appender_end_log(a, cx);

	if (!ret)
		a->offset += rest_of_segment(a);
	return ret;
}

/* Records the index of each block of RUN, whose first one is INDEX. */
static int add_place(struct appender *a, struct context *cx,
		     const struct loglayout_run *run, uint32_t index,
		     bool moved)
{
	const struct appender_place place = {
		.first = run->vblocknr,
		.index = index,
		.count = run->count,
		.moved = moved,
	};
	int ret = moved ? 0 : dattable_listed(a->dat, cx, run->vblocknr,
					      run->count);

	return ret ? ret : appender_log_add_place(a->log, cx, &place);
}

static int list_blocks(struct appender *a, struct context *cx,
		       const struct loglayout_run *run, struct payload *payload,
		       uint64_t at, bool moved, uint32_t *done)
{
	struct loglayout_run part = *run;
	uint32_t index;
	int ret = begin_log(a, cx);

	*done = 0;
	if (ret)
		return ret;
	part.count = loglayout_room(&a->log->layout, run);
	if (!part.count)
		return 0;
	ret = loglayout_add(&a->log->layout, cx, &part, &index);
	if (!ret)
		ret = appender_log_add_piece(a->log, cx, payload, at,
					     part.count);
	if (!ret && part.vblocknr)
		ret = add_place(a, cx, &part, index, moved);
	if (ret)
		return ret;
	*done = part.count;
	return 0;
}

int appender_list(struct appender *a, struct context *cx,
		  const struct loglayout_run *run, struct payload *payload,
		  uint64_t at, uint32_t *done)
{
	return list_blocks(a, cx, run, payload, at, false, done);
}

int appender_move_all(struct appender *a, struct context *cx,
		      const struct loglayout_run *run,
		      struct payload *payload, uint64_t at)
{
	struct loglayout_run rest = *run;
	uint32_t done;
	int ret;

	while (rest.count) {
		ret = list_blocks(a, cx, &rest, payload, at, true, &done);
		if (!ret && !done)
			ret = appender_end_log(a, cx);
		if (ret)
			return ret;
		if (rest.vblocknr)
			rest.vblocknr += done;
		rest.blkoff += done;
		rest.count -= done;
		at += done;
	}
	return 0;
}

static enum loglayout_kind kind_of(const struct appender_file *file,
				   const struct metafile_block *block)
{
	if (file->ino == NILFS_DAT_INO)
		return block->level ? LOGLAYOUT_DAT_NODE : LOGLAYOUT_DAT_DATA;
	return block->level ? LOGLAYOUT_NODE : LOGLAYOUT_DATA;
}

/* Lists BLOCK at TO, block AT of PAYLOAD: 1; 0 where HERE has no room. */
static int list_block(struct appender *a, struct context *cx,
		      const struct appender_file *file,
		      const struct metafile_block *block,
		      struct payload *payload, size_t at, bool here)
{
	const struct loglayout_run run = {
		.ino = file->ino,
		.cno = file->cno,
		.kind = kind_of(file, block),
		.level = (uint8_t)block->level,
		.vblocknr = block->ptr,
		.blkoff = block->key,
		.count = 1,
	};
	uint32_t done = 0;
	int ret = 0;

	if (here && !a->log)
		return 0;
	while (!ret && !done) {
		ret = appender_list(a, cx, &run, payload, at, &done);
		if (!ret && !done && here)
			return 0;
		if (!ret && !done)
			ret = appender_end_log(a, cx);
	}
	return ret ? ret : 1;
}

int appender_list_file(struct appender *a, struct context *cx,
		       const struct appender_file *file,
		       const struct metafile_block *blocks, size_t n,
		       bool here)
{
	struct payload *payload = payload_given(n, a->g->block_size);
	size_t i;
	int ret = 0;

	if (!payload)
		return fail(cx, -ENOMEM, "blocks of metadata");
	for (i = 0; i < n && !ret; i++) {
		ret = list_block(a, cx, file, &blocks[i], payload, i, here);
		if (ret <= 0)
			break;
		ret = appender_log_add_meta(a->log, cx, file->m, &blocks[i],
					    payload, i);
	}
	payload_put(payload);
	return ret;
}

int appender_list_super_root(struct appender *a, struct context *cx,
			     void **block)
{
	struct payload *payload;
	int ret = begin_log(a, cx);

	if (!ret && !loglayout_add_super_root(&a->log->layout)) {
		ret = appender_end_log(a, cx);
		if (!ret)
			ret = begin_log(a, cx);
		if (!ret && !loglayout_add_super_root(&a->log->layout))
			ret = fail(cx, -EINVAL, "no room for a super root");
	}
	if (ret)
		return ret;
	payload = payload_memory(NULL, 1, a->g->block_size, block);
	if (!payload)
		return fail(cx, -ENOMEM, "super root");
	a->log->flags |= NILFS_SS_LOGEND;
	ret = appender_log_add_piece(a->log, cx, payload, 0, 1);
	payload_put(payload);
	return ret ? ret : appender_end_log(a, cx);
}

int appender_enter(struct appender *a, struct context *cx)
{
	struct appender_log *log;
	int ret = 0;

	for (log = a->held; log && !ret; log = log->next)
		ret = appender_log_enter(a, cx, log);
	for (log = a->held; log && !ret; log = log->next)
		ret = appender_log_enter_dat(a, cx, log);
	return ret;
}

int appender_submit(struct appender *a, struct context *cx)
{
	struct appender_log *log;
	int ret = 0;

	while (!ret && a->held) {
		log = a->held;
		a->held = log->next;
		ret = submit(a, cx, log);
	}
	return ret;
}

void appender_fini(struct appender *a)
{
	struct appender_log *log;

	drop_log(a);
	while (a->held) {
		log = a->held;
		a->held = log->next;
		appender_log_free(log);
	}
	logout_close(a->out);
	a->out = NULL;
}
