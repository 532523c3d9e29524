// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * One log: its list, its payload, its positions.
 *
 * Blocks that are contiguous in the payload and in their numbers are merged,
 * across files: a new volume has one piece for each file and one place for each
 * run between two B-tree nodes.
 */
#include "log/appender_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

int appender_log_make(struct appender *a, struct context *cx, uint32_t limit)
{
	struct appender_log *log = calloc(1, sizeof(*log));

	if (!log)
		return fail(cx, -ENOMEM, "log");
	loglayout_init(&log->layout, a->g, limit);
	log->segnum = a->segnum;
	log->nextnum = a->nextnum;
	log->seq = a->seq;
	log->start = geometry_segment_start(a->g, a->segnum) + a->offset;
	log->flags = a->flags;
	if (a->first)
		log->flags |= NILFS_SS_LOGBGN;
	a->first = false;
	a->log = log;
	return 0;
}

int appender_log_add_piece(struct appender_log *log, struct context *cx,
			   struct payload *payload, uint64_t at,
			   uint32_t count)
{
	struct logout_piece *p = log->pieces;

	if (log->npieces) {
		p += log->npieces - 1;
		if (p->payload == payload && p->at + p->count == at) {
			p->count += count;
			return 0;
		}
	}
	if (array_reserve(cx, &log->pieces, &log->pieces_room,
			  log->npieces + 1))
		return -ENOMEM;
	p = &log->pieces[log->npieces++];
	p->payload = payload_hold(payload);
	p->at = at;
	p->count = count;
	return 0;
}

int appender_log_add_place(struct appender_log *log, struct context *cx,
			   const struct appender_place *place)
{
	struct appender_place *p = log->places;

	if (log->nplaces) {
		p += log->nplaces - 1;
		if (p->first + p->count == place->first &&
		    p->index + p->count == place->index &&
		    p->moved == place->moved) {
			p->count += place->count;
			return 0;
		}
	}
	if (array_reserve(cx, &log->places, &log->places_room,
			  log->nplaces + 1))
		return -ENOMEM;
	log->places[log->nplaces++] = *place;
	return 0;
}

int appender_log_add_meta(struct appender_log *log, struct context *cx,
			  struct metafile *m,
			  const struct metafile_block *block,
			  struct payload *payload, size_t at)
{
	if (array_reserve(cx, &log->metas, &log->metas_room, log->nmetas + 1))
		return -ENOMEM;
	log->metas[log->nmetas++] = (struct appender_meta){
		.m = m,
		.block = *block,
		.index = log->layout.npayload - 1,
		.payload = payload,
		.at = at,
	};
	return 0;
}

/* The block at index 0. */
static uint64_t payload_start(const struct appender_log *log)
{
	return log->start + loglayout_nsumblk(&log->layout);
}

int appender_log_enter(struct appender *a, struct context *cx,
		       struct appender_log *log)
{
	uint64_t base = payload_start(log);
	uint64_t end = base + log->layout.npayload;
	int32_t live = (int32_t)log->layout.npayload - log->layout.super_root;
	int ret;
	size_t i;

	for (i = 0; i < log->nplaces; i++) {
		const struct appender_place *p = &log->places[i];

		ret = p->moved ? dattable_move(a->dat, cx, p->first, p->count,
					       base + p->index) :
				 dattable_place(a->dat, cx, p->first, p->count,
						base + p->index);
		if (ret)
			return ret;
	}
	ret = segments_wrote(a->segments, cx, log->segnum,
			     (uint32_t)(end - geometry_segment_start(
						      a->g, log->segnum)));
	return ret ? ret : segments_count(a->segments, cx, log->start, live,
					  0);
}

int appender_log_enter_dat(struct appender *a, struct context *cx,
			   struct appender_log *log)
{
	uint64_t base = payload_start(log);
	int ret = 0;
	size_t i;

	for (i = 0; i < log->nmetas && !ret; i++) {
		const struct appender_meta *c = &log->metas[i];

		if (c->m == a->dat_file)
			ret = metafile_place(c->m, cx, &c->block,
					     base + c->index);
	}
	return ret;
}

static int take_content(struct appender_log *log, struct context *cx)
{
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
	return ret;
}

int appender_log_submit(struct appender *a, struct context *cx,
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
		.npieces = (uint32_t)log->npieces,
		.npayload = log->layout.npayload,
		.whole = log->layout.super_root,
	};
	int ret = take_content(log, cx);

	if (!ret)
		ret = loglayout_close(&log->layout, cx, &header, &out.summary);
	if (ret)
		return ret;
	out.pieces = log->pieces;
	log->pieces = NULL;
	log->npieces = 0;
	return logout_submit(a->out, cx, &out);
}

void appender_log_free(struct appender_log *log)
{
	size_t i;

	if (!log)
		return;
	for (i = 0; i < log->npieces; i++)
		payload_put(log->pieces[i].payload);
	loglayout_fini(&log->layout);
	free(log->pieces);
	free(log->places);
	free(log->metas);
	free(log);
}
