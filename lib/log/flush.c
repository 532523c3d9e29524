// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Metadata on its way into the logs while data is still coming.
 *
 * Blocks of ifile and DAT are changed in memory, where they would pile up.
 * Once there are many, those that have not been touched for long are written:
 * inodes and entries come in order, so nearly all of them are complete.  Of
 * the DAT only blocks without a number that waits for its place are taken,
 * and no descriptors: they would be needed again.
 *
 * Listed blocks stay dirty until their log is closed, therefore each log gets
 * its share of a file only once.
 */
#include "log/flush.h"

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

static bool has_many(const struct writer *w, const struct metafile *m)
{
	return metafile_dirty(m) > 2 * (size_t)w->o.collect;
}

/* Lists the older dirty blocks of FILE. */
static int list_older(struct writer *w, struct context *cx,
		      const struct appender_file *file, bool here)
{
	struct metafile_block *blocks;
	size_t n;
	int ret;

	if (!has_many(w, file->m))
		return 0;
	ret = metafile_collect(file->m, cx, false, w->o.collect, &blocks, &n);
	if (ret)
		return ret;
	if (file->m == w->dat_file)
		n = sift(w, blocks, n);
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
	const struct appender_file files[] = {
		{ w->ifile, NILFS_IFILE_INO, w->cno },
		{ w->dat_file, NILFS_DAT_INO, 0 },
	};
	unsigned int i;
	int ret = 0;

	if (was_flushed(w))
		return 0;
	for (i = 0; i < 2 && !ret; i++)
		ret = list_older(w, cx, &files[i], here);
	if (w->appender.log)
		w->flushed = w->appender.log->start;
	return ret;
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
	if (!ret && (has_many(w, w->ifile) || has_many(w, w->dat_file)) &&
	    !was_flushed(w))
		ret = list_metadata(w, cx, false);
	return ret;
}
