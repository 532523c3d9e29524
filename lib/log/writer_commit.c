// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The end of a checkpoint.
 *
 * The order is that of nilfs_segctor_collect_blocks(): blocks of files, the
 * ifile with their inodes, cpfile, SUFILE, DAT, super root.  Each describes the
 * ones before it, and the last two also themselves: listing a block enters its
 * position in the DAT, and beginning a segment changes the SUFILE, which may
 * add blocks of either.  So all blocks that may change are made dirty first,
 * repeatedly until none is added.  Then the logs are listed, all positions
 * entered and contents completed, and only then is the first log written.
 */

#include <errno.h>
#include <stdlib.h>

#include "disk/superroot.h"
#include "log/checkpoints.h"
#include "log/lineend.h"
#include "log/newsupers.h"
#include "log/writer_parts.h"

/* Blocks that settle_metadata() usually adds at most, and the super root. */
#define SETTLE_MOST 8

static int list_file(struct writer *w, struct context *cx, struct metafile *m,
		     uint64_t ino, uint64_t cno)
{
	const struct appender_file file = { m, ino, cno };
	struct metafile_block *blocks;
	size_t n;
	int ret = metafile_collect(m, cx, true, 0, &blocks, &n);

	if (ret)
		return ret;
	ret = appender_list_file(&w->appender, cx, &file, blocks, n, false);
	free(blocks);
	return ret;
}

static size_t count_dirty(const struct writer *w)
{
	return metafile_dirty(w->cpfile) + metafile_dirty(w->sufile) +
	       metafile_dirty(w->dat_file);
}

/*
 * Makes all blocks dirty that listing would change, until a round adds none.
 * The number of segments to begin depends on the number of blocks and the super
 * root; a few extra blocks can make a summary a block longer.
 */
static int settle_metadata(struct writer *w, struct context *cx)
{
	const struct appender *a = &w->appender;
	const struct appender_log *log = a->log;
	uint64_t capacity = appender_room(a, APPENDER_SEGMENT);
	struct metafile *const files[] = { w->cpfile, w->sufile };
	struct metafile_block *blocks;
	size_t before, i, n;
	unsigned int k;
	bool changed;
	int ret;

	capacity -= capacity > 1;
	do {
		before = count_dirty(w);
		ret = segments_enter_counts(&w->segments, cx, &changed);
		if (!ret)
			ret = segments_enter_header(&w->segments, cx, w->cno);
		if (!ret)
			ret = segments_set(&w->segments, cx, a->segnum,
					   SEGMENTS_SAME);
		if (!ret)
			ret = segments_set(&w->segments, cx, a->nextnum,
					   SEGMENTS_SAME);
		if (!ret)
			ret = segments_touch(&w->segments, cx,
					     (count_dirty(w) + 1) / capacity +
					     2);
		for (i = 0; log && i < log->nplaces && !ret; i++)
			ret = dattable_touch(&w->dat, cx, log->places[i].first,
					     log->places[i].count);
		/* The DAT entries of the numbers of dirty blocks change, too. */
		for (k = 0; k < 2 && !ret; k++) {
			ret = metafile_collect(files[k], cx, true, 0, &blocks, &n);
			for (i = 0; !ret && i < n; i++)
				ret = dattable_touch(&w->dat, cx, blocks[i].ptr, 1);
			free(blocks);
		}
		if (!ret)
			ret = numbers_sync(&w->dat.numbers, cx);
	} while (!ret && (changed || count_dirty(w) != before));
	return ret;
}

/*
 * Once all logs are listed: completes the counts and positions in the metadata.
 * No further block may become dirty.
 */
static int complete_metadata(struct writer *w, struct context *cx)
{
	struct segments *s = &w->segments;
	struct appender *a = &w->appender;
	size_t before = count_dirty(w);
	uint64_t nsegments;
	bool changed;
	int ret;

	if (w->o.nsegments) {
		nsegments = w->o.nsegments(w->o.arg, s->used);
		if (nsegments < s->used)
			return fail(cx, -ENOSPC, "%llu segments are in use",
				    (unsigned long long)s->used);
		s->nclean += nsegments - s->g->nsegments;
		w->g.nsegments = nsegments;
	}
	ret = appender_enter(a, cx, a->held);
	if (!ret)
		ret = segments_enter_counts(s, cx, &changed);
	if (!ret && w->created)
		ret = segments_set(s, cx, a->segnum, SEGMENTS_ACTIVE);
	if (!ret && w->created)
		ret = segments_set(s, cx, a->nextnum, SEGMENTS_ACTIVE);
	if (!ret)
		ret = segments_enter_header(s, cx, w->cno);
	if (!ret)
		ret = checkpoints_complete(w, cx);
	if (!ret && count_dirty(w) != before)
		ret = fail(cx, -EIO, "metadata changed while it was listed");
	return ret;
}

int writer_commit(struct writer *w, struct context *cx, struct writer_end *end)
{
	struct segments *s = &w->segments;
	struct appender *a = &w->appender;
	struct nilfs_super_root *sr = &w->super_root;
	const struct {
		struct metafile *m;
		struct nilfs_inode *inode;
	} files[] = {
		{ w->dat_file, &sr->sr_dat },
		{ w->cpfile, &sr->sr_cpfile },
		{ w->sufile, &sr->sr_sufile },
	};
	void *super_root = NULL;
	unsigned int i;
	char *place;
	uint64_t n;
	int ret;

	if (w->done)
		return fail(cx, -EINVAL, "checkpoint %llu: committed before",
			    (unsigned long long)w->cno);
	w->done = true;
	ret = flush_collected(w, cx, false);
	if (!ret)
		ret = numbers_sync(&w->inos, cx);
	/*
	 * Blocks of the ifile that are listed in the open log stay dirty until
	 * it is closed.
	 */
	if (!ret && a->log && a->log->start == w->flushed)
		ret = appender_end_log(a, cx);
	if (!ret && w->o.apart)
		ret = appender_keep_together(a, cx, metafile_dirty(w->ifile) +
					     count_dirty(w) + SETTLE_MOST);
	if (!ret)
		ret = list_file(w, cx, w->ifile, NILFS_IFILE_INO, w->cno);
	if (!ret)
		ret = checkpoints_make(w, cx);
	/* Segments that are never written are neither clean nor dirty. */
	for (n = 0; w->created && s->unusable && n < w->g.nsegments && !ret; n++)
		if (s->unusable(s->arg, n))
			ret = segments_set(s, cx, n, SEGMENTS_ERROR);
	/* The caller may have changed the segments of the last logs. */
	if (!ret && w->direct && !w->counted)
		ret = directwriter_changed(w, cx);
	if (!ret && w->direct)
		ret = appender_settle(a, cx);
	if (!ret && w->direct)
		ret = segments_set(s, cx, a->segnum, SEGMENTS_CURRENT);
	if (!ret && w->direct)
		ret = segments_set(s, cx, a->nextnum, SEGMENTS_CURRENT);
	if (!ret)
		ret = dattable_make_holes(&w->dat, cx);
	if (!ret)
		ret = settle_metadata(w, cx);
	if (!ret && w->o.apart)
		ret = appender_keep_together(a, cx, count_dirty(w) + 1);
	if (!ret && w->o.apart)
		ret = settle_metadata(w, cx);
	a->holding = true;
	if (!ret)
		ret = list_file(w, cx, w->cpfile, NILFS_CPFILE_INO, 0);
	if (!ret)
		ret = list_file(w, cx, w->sufile, NILFS_SUFILE_INO, 0);
	if (!ret)
		ret = list_file(w, cx, w->dat_file, NILFS_DAT_INO, 0);
	if (!ret)
		ret = appender_list_super_root(a, cx, &super_root);
	if (!ret)
		ret = complete_metadata(w, cx);
	if (ret)
		return ret;
	sr->sr_bytes = le16_make((uint16_t)superroot_bytes(&w->g));
	sr->sr_flags = le16_make(0);
	if (!w->o.minor)
		sr->sr_nongc_ctime = le64_make(w->o.time);
	place = (char *)super_root + offsetof(struct nilfs_super_root, sr_dat);
	for (i = 0; i < 3; i++, place += w->g.inode_size) {
		metafile_inode(files[i].m, files[i].inode);
		memcpy(place, files[i].inode, sizeof(*files[i].inode));
	}
	memcpy(super_root, sr, offsetof(struct nilfs_super_root, sr_dat));
	sr->sr_sum = le32_make(superroot_checksum(&w->g, super_root));
	memcpy(super_root, &sr->sr_sum, sizeof(sr->sr_sum));
	/* If the superblocks do not come to name the super root, a mount finds it. */
	ret = w->named ? logout_wait(a->out, cx) : 0;
	if (!ret && w->named)
		ret = newsupers_begin(cx, w->dev, w->named);
	if (!ret)
		ret = appender_submit(a, cx);
	if (!ret)
		ret = logout_wait(a->out, cx);
	if (ret)
		return ret;
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
		.digest = w->digest,
		.super_root = w->super_root,
	};
	return lineend_make(w->dev, cx, &w->g, end);
}
