// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The end of a checkpoint.
 *
 * The order is that of nilfs_segctor_collect_blocks(): blocks of files, the
 * ifile with their inodes, cpfile, SUFILE, DAT, super root.  Each describes the
 * ones before it, and the last two also themselves: listing a block enters its
 * position in the DAT, and beginning a segment changes the SUFILE, which may
 * add blocks of either.  So all blocks that may change are made dirty first,
 * repeatedly until none is added; then the logs are listed, all positions
 * entered, contents completed; only then the first log is written.
 */

#include <errno.h>
#include <stdlib.h>

#include "disk/superroot.h"
#include "log/checkpoints.h"
#include "log/lineend.h"
#include "log/writer_parts.h"

struct blocks {
	struct metafile_block *list;
	size_t n;
};

enum { CPFILE, SUFILE, DAT, FILES };

static struct appender_file file_at(const struct writer *w, unsigned int i)
{
	const struct appender_file files[FILES] = {
		[CPFILE] = { w->cpfile, NILFS_CPFILE_INO, 0 },
		[SUFILE] = { w->sufile, NILFS_SUFILE_INO, 0 },
		[DAT] = { w->dat_file, NILFS_DAT_INO, 0 },
	};

	return files[i];
}

/* Lists all dirty blocks of FILE. */
static int list_file(struct writer *w, struct context *cx,
		     const struct appender_file *file)
{
	struct blocks b = { NULL, 0 };
	int ret = metafile_collect(file->m, cx, true, 0, &b.list, &b.n);

	if (!ret)
		ret = appender_list_file(&w->appender, cx, file, b.list, b.n,
					 false);
	free(b.list);
	return ret;
}

/*
 * Blocks of an earlier part of this checkpoint that were listed in the open
 * log are dirty still; with that log they are clean.
 */
static int list_ifile(struct writer *w, struct context *cx)
{
	const struct appender_file file = { w->ifile, NILFS_IFILE_INO,
					    w->cno };
	int ret = numbers_sync(&w->inos, cx);

	if (!ret && w->appender.log && w->appender.log->start == w->flushed)
		ret = appender_end_log(&w->appender, cx);
	return ret ? ret : list_file(w, cx, &file);
}

/* The entries of all numbers in the open log will change. */
static int touch_places(struct writer *w, struct context *cx)
{
	const struct appender_log *log = w->appender.log;
	size_t i;
	int ret = 0;

	for (i = 0; log && i < log->nplaces && !ret; i++)
		ret = dattable_touch(&w->dat, cx, log->places[i].first,
				     log->places[i].count);
	return ret;
}

/* So will those of the dirty blocks of FILE. */
static int touch_file(struct writer *w, struct context *cx,
		      struct metafile *m)
{
	struct blocks b = { NULL, 0 };
	size_t i;
	int ret = metafile_collect(m, cx, true, 0, &b.list, &b.n);

	for (i = 0; i < b.n && !ret; i++)
		ret = dattable_touch(&w->dat, cx, b.list[i].ptr, 1);
	free(b.list);
	return ret;
}

static size_t count_dirty(const struct writer *w)
{
	return metafile_dirty(w->cpfile) + metafile_dirty(w->sufile) +
	       metafile_dirty(w->dat_file);
}

/*
 * Segments that may begin while all of these, and the super root, are listed.
 * A few lists more than one can make a summary a block longer.
 */
static uint64_t count_segments(const struct writer *w)
{
	uint64_t capacity = appender_capacity(&w->appender);

	capacity -= capacity > 1;
	return (count_dirty(w) + 1) / capacity + 2;
}

/* One round of changing all that listing would change. */
static int touch_all(struct writer *w, struct context *cx, bool *changed)
{
	const struct appender *a = &w->appender;
	int ret = segments_enter_counts(&w->segments, cx, changed);

	if (!ret)
		ret = segments_enter_header(&w->segments, cx, w->cno);
	if (!ret)
		ret = segments_touch_one(&w->segments, cx, a->segnum);
	if (!ret)
		ret = segments_touch_one(&w->segments, cx, a->nextnum);
	if (!ret)
		ret = segments_touch(&w->segments, cx, count_segments(w));
	if (!ret)
		ret = touch_places(w, cx);
	if (!ret)
		ret = touch_file(w, cx, w->cpfile);
	if (!ret)
		ret = touch_file(w, cx, w->sufile);
	return ret ? ret : numbers_sync(&w->dat.numbers, cx);
}

static int settle_metadata(struct writer *w, struct context *cx)
{
	size_t before;
	bool changed;
	int ret;

	do {
		before = count_dirty(w);
		ret = touch_all(w, cx, &changed);
	} while (!ret && (changed || count_dirty(w) != before));
	return ret;
}

static int list_all(struct writer *w, struct context *cx, void **super_root)
{
	unsigned int i;
	int ret = 0;

	w->appender.holding = true;
	for (i = 0; i < FILES && !ret; i++) {
		struct appender_file file = file_at(w, i);

		ret = list_file(w, cx, &file);
	}
	if (!ret)
		ret = appender_list_super_root(&w->appender, cx, super_root);
	return ret;
}

static int choose_size(struct writer *w, struct context *cx)
{
	uint64_t nsegments;

	if (!w->o.nsegments)
		return 0;
	nsegments = w->o.nsegments(w->o.arg, w->segments.used);
	if (nsegments < w->segments.used)
		return fail(cx, -ENOSPC, "%llu segments are in use",
			    (unsigned long long)w->segments.used);
	segments_resize(&w->segments, nsegments);
	w->g.nsegments = nsegments;
	return 0;
}

/* What the SUFILE says of the segments, once all logs are listed. */
static int complete_segments(struct writer *w, struct context *cx)
{
	const struct appender *a = &w->appender;
	bool changed;
	int ret = segments_enter_counts(&w->segments, cx, &changed);

	if (!ret && w->created)
		ret = segments_set_active(&w->segments, cx, a->segnum);
	if (!ret && w->created)
		ret = segments_set_active(&w->segments, cx, a->nextnum);
	if (!ret)
		ret = segments_enter_header(&w->segments, cx, w->cno);
	return ret;
}

static void fill_super_root(struct writer *w, void *block)
{
	struct {
		struct metafile *m;
		struct nilfs_inode *inode;
	} files[] = {
		{ w->dat_file, &w->super_root.sr_dat },
		{ w->cpfile, &w->super_root.sr_cpfile },
		{ w->sufile, &w->super_root.sr_sufile },
	};
	struct nilfs_super_root *sr = &w->super_root;
	unsigned int i;

	sr->sr_bytes = le16_make((uint16_t)superroot_bytes(&w->g));
	sr->sr_flags = le16_make(0);
	if (!w->o.minor)
		sr->sr_nongc_ctime = le64_make(w->o.time);
	for (i = 0; i < 3; i++) {
		char *place = (char *)block +
			      offsetof(struct nilfs_super_root, sr_dat) +
			      (size_t)i * w->g.inode_size;

		metafile_inode(files[i].m, files[i].inode);
		memcpy(place, files[i].inode, sizeof(*files[i].inode));
	}
	memcpy(block, sr, offsetof(struct nilfs_super_root, sr_dat));
	sr->sr_sum = le32_make(superroot_checksum(&w->g, block));
	memcpy(block, &sr->sr_sum, sizeof(sr->sr_sum));
}

/* Completes what is listed; nothing more may have to be. */
static int complete_all(struct writer *w, struct context *cx,
			void *super_root)
{
	size_t before = count_dirty(w);
	int ret = choose_size(w, cx);

	if (!ret)
		ret = appender_enter(&w->appender, cx);
	if (!ret)
		ret = complete_segments(w, cx);
	if (!ret)
		ret = checkpoints_complete(w, cx);
	if (ret)
		return ret;
	fill_super_root(w, super_root);
	if (count_dirty(w) != before)
		return fail(cx, -EIO, "metadata changed while it was listed");
	return 0;
}

static void fill_end(const struct writer *w, struct writer_end *end)
{
	const struct appender *a = &w->appender;

	*end = (struct writer_end){
		.cno = w->cno,
		.pseg = a->last,
		.seq = a->seq,
		.segnum = a->segnum,
		.nextnum = a->nextnum,
		.offset = a->offset,
		.clean_segments = w->segments.nclean,
		.used_segments = w->segments.used,
		.blocks = a->blocks,
		.summaries = a->summaries,
		.digest = logout_digest(a->out),
		.super_root = w->super_root,
	};
}

int commit_run(struct writer *w, struct context *cx, struct writer_end *end)
{
	void *super_root = NULL;
	int ret = flush_collected(w, cx);

	if (!ret)
		ret = list_ifile(w, cx);
	if (!ret)
		ret = checkpoints_make(w, cx);
	if (!ret && w->created)
		ret = segments_mark_unusable(&w->segments, cx);
	if (!ret && w->repaired)
		ret = repairwriter_place(w, cx);
	if (!ret)
		ret = dattable_make_holes(&w->dat, cx);
	if (!ret)
		ret = settle_metadata(w, cx);
	if (!ret)
		ret = list_all(w, cx, &super_root);
	if (!ret)
		ret = complete_all(w, cx, super_root);
	if (!ret)
		ret = appender_submit(&w->appender, cx);
	if (!ret)
		ret = logout_wait(w->appender.out, cx);
	if (ret)
		return ret;
	fill_end(w, end);
	return lineend_make(w->dev, cx, &w->g, end);
}
