// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writing metadata while data is still coming.
 *
 * Changed blocks of ifile and DAT would accumulate in memory.  Once there are
 * many, those not changed recently are written: inodes and entries come in
 * order, so nearly all of them are complete.  Of the DAT only blocks without
 * pending numbers are taken, and no descriptors: they would change again.
 *
 * Listed blocks stay dirty until their log is closed, so each log lists blocks
 * of a file only once.  A file is examined again once it has as many more
 * blocks as were not written the last time.
 */

#include <stdlib.h>

#include "log/writer_parts.h"

static bool is_settled(const struct writer *w,
		       const struct metafile_block *block)
{
	struct palloc_block what;

	palloc_locate(&w->dat.numbers.p, block->key, &what);
	return what.kind == PALLOC_BITMAP ||
	       (what.kind == PALLOC_ENTRIES &&
		dattable_is_complete(&w->dat, block->key));
}

/* Leaves the settled blocks in BLOCKS; returns how many. */
static size_t sift(const struct writer *w, struct metafile_block *blocks,
		   size_t n)
{
	size_t i, kept = 0;

	for (i = 0; i < n; i++) {
		if (is_settled(w, &blocks[i]))
			blocks[kept++] = blocks[i];
	}
	return kept;
}

/* Lists the older dirty blocks of FILE if they are more than *DUE. */
static int list_older(struct writer *w, struct context *cx,
		      const struct appender_file *file, size_t *due, bool here)
{
	struct metafile_block *blocks;
	size_t n;
	int ret;

	if (metafile_dirty(file->m) <= *due)
		return 0;
	ret = metafile_collect(file->m, cx, false, w->o.collect, &blocks, &n);
	if (ret)
		return ret;
	if (file->m == w->dat_file)
		n = sift(w, blocks, n);
	*due = metafile_dirty(file->m) - n + w->o.collect;
	if (*due < 2 * (size_t)w->o.collect)
		*due = 2 * (size_t)w->o.collect;
	ret = appender_list_file(&w->appender, cx, file, blocks, n, here);
	free(blocks);
	return ret;
}

static bool was_flushed(const struct writer *w)
{
	return w->appender.log && w->appender.log->start == w->flushed;
}

static int list_metadata(struct writer *w, struct context *cx, bool here)
{
	const struct appender_file ifile = { w->ifile, NILFS_IFILE_INO,
					     w->cno };
	const struct appender_file dat = { w->dat_file, NILFS_DAT_INO, 0 };
	int ret;

	if (was_flushed(w))
		return 0;
	ret = list_older(w, cx, &ifile, &w->ifile_due, here);
	if (!ret)
		ret = list_older(w, cx, &dat, &w->dat_due, here);
	if (w->appender.log)
		w->flushed = w->appender.log->start;
	return ret;
}

static bool is_due(const struct writer *w)
{
	return metafile_dirty(w->ifile) > w->ifile_due ||
	       metafile_dirty(w->dat_file) > w->dat_due;
}

int flush_collected(struct writer *w, struct context *cx)
{
	return collected_list(&w->collected, cx, &w->appender, false);
}

int flush_here(struct writer *w, struct context *cx)
{
	int ret = collected_list(&w->collected, cx, &w->appender, true);

	return ret ? ret : list_metadata(w, cx, true);
}

int flush_if_due(struct writer *w, struct context *cx)
{
	int ret = 0;

	if (w->collected.nblocks >= w->o.collect)
		ret = flush_collected(w, cx);
	if (!ret && is_due(w))
		ret = list_metadata(w, cx, false);
	return ret;
}
