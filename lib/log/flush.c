// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writing metadata before all data is listed.
 *
 * Complete blocks are copied into payloads of a few blocks each, so that
 * listing them needs no other copy, and memory is freed as soon as they are
 * written.
 *
 * Changed blocks of ifile and DAT would accumulate in memory.  Once there are
 * many, those not changed recently are written: inodes and entries are created
 * in order, so nearly all of these blocks are complete.  Of the DAT only blocks
 * without pending numbers are written, and no descriptors: they would change
 * again.
 *
 * Listed blocks stay dirty until their log is closed, so each log lists blocks
 * of a file only once.  A file is examined again when its dirty blocks have
 * grown by the number of blocks that the last examination kept.
 */
#include "log/flush.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "log/writer_parts.h"

#define PAYLOAD_MIN 4u
#define PAYLOAD_MAX 64u

int flush_add(struct writer *w, struct context *cx,
	      const struct loglayout_run *run, const void *block)
{
	struct collected *c = &w->collected;
	const uint32_t block_size = w->g.block_size;
	struct collected_run *r = NULL;
	struct loglayout_run *last;
	void *data;

	if (c->used == c->size) {
		c->size = c->size ? 4 * c->size : PAYLOAD_MIN;
		if (c->size > PAYLOAD_MAX)
			c->size = PAYLOAD_MAX;
		payload_put(c->payload);
		c->used = 0;
		c->payload = payload_memory(NULL, c->size, block_size, &data);
		if (!c->payload) {
			c->size = 0;
			return fail(cx, -ENOMEM, "blocks of metadata");
		}
		c->data = data;
	}
	memcpy(c->data + (size_t)c->used * block_size, block, block_size);
	c->nblocks++;
	if (c->nruns > c->first)
		r = &c->runs[c->nruns - 1];
	last = r ? &r->run : NULL;
	if (r && last->ino == run->ino && last->cno == run->cno &&
	    last->kind == run->kind &&
	    last->vblocknr + last->count == run->vblocknr &&
	    (last->kind == LOGLAYOUT_NODE ||
	     last->blkoff + last->count == run->blkoff) &&
	    r->payload == c->payload && r->at + last->count == c->used) {
		last->count++;
		c->used++;
		return 0;
	}
	if (array_reserve(cx, &c->runs, &c->room, c->nruns + 1))
		return -ENOMEM;
	c->runs[c->nruns++] = (struct collected_run){
		.run = *run,
		.payload = payload_hold(c->payload),
		.at = c->used++,
	};
	return 0;
}

int flush_add_new(const struct flush_file *f, struct context *cx,
		  enum loglayout_kind kind, uint64_t blkoff, const void *block,
		  uint64_t *vblocknr)
{
	struct loglayout_run run = {
		.ino = f->ino,
		.cno = f->w->cno,
		.kind = kind,
		.blkoff = blkoff,
		.count = 1,
	};
	uint32_t count;
	int ret = dattable_take(&f->w->dat, cx, 1, vblocknr, &count);

	run.vblocknr = *vblocknr;
	return ret ? ret : flush_add(f->w, cx, &run, block);
}

int flush_add_node(void *arg, struct context *cx, unsigned int level,
		   uint64_t key, const void *block, uint64_t *vblocknr)
{
	(void)level;
	(void)key;
	return flush_add_new(arg, cx, LOGLAYOUT_NODE, 0, block, vblocknr);
}

/* Lists the older dirty blocks of FILE if more than *DUE blocks are dirty. */
static int list_older(struct writer *w, struct context *cx,
		      const struct appender_file *file, size_t *due, bool here)
{
	struct metafile_block *blocks;
	struct palloc_block place;
	size_t i, n, kept = 0;
	int ret;

	if (metafile_dirty(file->m) <= *due)
		return 0;
	ret = metafile_collect(file->m, cx, false, w->o.collect, &blocks, &n);
	if (ret)
		return ret;
	for (i = 0; i < n; i++) {
		if (file->m == w->dat_file)
			palloc_locate(&w->dat.numbers.p, blocks[i].key, &place);
		if (file->m != w->dat_file || place.kind == PALLOC_BITMAP ||
		    (place.kind == PALLOC_ENTRIES &&
		     !tally_get(&w->dat.waiting, blocks[i].key)))
			blocks[kept++] = blocks[i];
	}
	*due = metafile_dirty(file->m) - kept + w->o.collect;
	if (*due < 2 * (size_t)w->o.collect)
		*due = 2 * (size_t)w->o.collect;
	ret = appender_list_file(&w->appender, cx, file, blocks, kept, here);
	free(blocks);
	return ret;
}

static int list_metadata(struct writer *w, struct context *cx, bool here)
{
	const struct appender_file ifile = { w->ifile, NILFS_IFILE_INO,
					     w->cno };
	const struct appender_file dat = { w->dat_file, NILFS_DAT_INO, 0 };
	int ret;

	if (w->appender.log && w->appender.log->start == w->flushed)
		return 0;
	ret = list_older(w, cx, &ifile, &w->ifile_due, here);
	if (!ret)
		ret = list_older(w, cx, &dat, &w->dat_due, here);
	if (w->appender.log)
		w->flushed = w->appender.log->start;
	return ret;
}

int flush_collected(struct writer *w, struct context *cx, bool here)
{
	struct collected *c = &w->collected;
	uint32_t done;
	int ret = 0;

	while (c->first < c->nruns && !ret) {
		struct collected_run *r = &c->runs[c->first];

		if (here && !w->appender.log)
			break;
		ret = appender_list(&w->appender, cx, &r->run, r->payload,
				    r->at, false, &done);
		if (!ret && !done && here)
			break;
		if (!ret && !done)
			ret = appender_end_log(&w->appender, cx);
		if (ret || !done)
			continue;
		r->run.vblocknr += done;
		r->run.blkoff += done;
		r->run.count -= done;
		r->at += done;
		c->nblocks -= done;
		if (!r->run.count) {
			payload_put(r->payload);
			r->payload = NULL;
			c->first++;
		}
	}
	if (c->first == c->nruns)
		c->first = c->nruns = 0;
	return ret || !here ? ret : list_metadata(w, cx, true);
}

int flush_if_due(struct writer *w, struct context *cx)
{
	int ret = 0;

	if (w->collected.nblocks >= w->o.collect)
		ret = flush_collected(w, cx, false);
	if (!ret && (metafile_dirty(w->ifile) > w->ifile_due ||
		     metafile_dirty(w->dat_file) > w->dat_due))
		ret = list_metadata(w, cx, false);
	return ret;
}

void flush_drop(struct collected *c)
{
	size_t i;

	for (i = c->first; i < c->nruns; i++)
		payload_put(c->runs[i].payload);
	payload_put(c->payload);
	free(c->runs);
	memset(c, 0, sizeof(*c));
}
