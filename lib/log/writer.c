// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A writer: its parts put together.
 *
 * The four metadata files change in memory and allocate numbers from the DAT;
 * the appender lists blocks and fills logs; the commit writes the rest after
 * the data.  This file has what they share, and the initial state: empty, or
 * that of the latest checkpoint.
 */
#include "log/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "disk/inode.h"
#include "log/inherit.h"
#include "log/inodes.h"
#include "log/writer_parts.h"
#include "vol/volume.h"

#define ROOT_LINKS 2

/* So that a log, which a worker writes in one piece, needs little memory. */
#define ZONED_LOG_BYTES (4u << 20)

void writer_options_zoned(struct writer_options *options,
			  const struct nilfs_geometry *g)
{
	options->sequential = true;
	options->log_blocks = ZONED_LOG_BYTES / g->block_size;
}

struct writer_options writer_options_on(const struct volume *vol, uint64_t time)
{
	struct writer_options options = { .time = time };

	if (vol->dev->zones)
		writer_options_zoned(&options, &vol->geo);
	return options;
}

static int env_alloc(void *arg, struct context *cx, uint64_t *vblocknr)
{
	struct writer *w = arg;
	uint32_t count;

	return dattable_take(&w->dat, cx, 1, vblocknr, &count);
}

static int env_end(void *arg, struct context *cx, uint64_t vblocknr,
		   enum metafile_kind kind)
{
	struct writer *w = arg;

	return dattable_end(&w->dat, cx, vblocknr, 1, kind);
}

static int env_superseded(void *arg, struct context *cx, uint64_t blocknr)
{
	struct writer *w = arg;

	return segments_count(&w->segments, cx, blocknr, -1, 0);
}

/* What was handed over may not be on the device yet. */
static int env_read(void *arg, struct context *cx, enum metafile_kind kind,
		    uint64_t ptr, void *buf)
{
	struct writer *w = arg;
	struct nilfs_dat_entry de;
	uint64_t blocknr = ptr;
	int ret;

	if (kind != METAFILE_DAT) {
		ret = dattable_read(&w->dat, cx, ptr, &de);
		if (ret)
			return ret;
		blocknr = le64_get(de.de_blocknr);
	}
	if (!geometry_has_block(&w->g, blocknr))
		return fail(cx, -EUCLEAN,
			    "block %llu of metadata: outside the segments",
			    (unsigned long long)blocknr);
	ret = logout_wait_for(w->appender.out, cx, blocknr);
	return ret ? ret : dev_read(w->dev, cx, blocknr << w->g.block_bits,
				    buf, w->g.block_size);
}

static void set_env(struct writer *w)
{
	w->env = (struct metafile_env){
		.arg = w,
		.alloc = env_alloc,
		.end = env_end,
		.superseded = env_superseded,
		.read = env_read,
	};
}

static int open_output(struct writer *w, struct context *cx)
{
	const struct logout_options how = {
		.sequential = w->o.sequential,
		.allocate = w->o.allocate,
		.digest = w->o.digest,
	};
	int ret = logout_open(&w->appender.out, cx, w->dev, &w->g, &how);

	return ret ? ret : bmapbuild_open(&w->maps, cx, w->g.block_size);
}

int writer_make(struct writer **wp, struct context *cx, struct dev *dev,
		const struct nilfs_geometry *g, uint64_t cno,
		const struct writer_options *options)
{
	struct writer *w = calloc(1, sizeof(*w));

	*wp = w;
	if (!w)
		return fail(cx, -ENOMEM, "writer");
	w->dev = dev;
	w->g = *g;
	w->o = *options;
	w->cno = cno;
	if (!w->o.collect)
		w->o.collect = WRITER_COLLECT_DEFAULT;
	w->ifile_due = w->dat_due = 2 * (size_t)w->o.collect;
	set_env(w);
	w->dat.segments = &w->segments;
	w->dat.cno = cno;
	w->segments.g = &w->g;
	w->segments.time = w->o.time;
	w->appender.g = &w->g;
	w->appender.segments = &w->segments;
	w->appender.dat = &w->dat;
	w->appender.cno = cno;
	w->appender.time = w->o.time;
	w->appender.log_blocks = w->o.log_blocks;
	w->appender.flags = w->o.minor ? NILFS_SS_GC : 0;
	w->appender.first = true;
	w->appender.held_end = &w->appender.held;
	return open_output(w, cx);
}

struct nilfs_inode writer_new_inode(const struct writer *w, uint16_t mode,
				    uint16_t links)
{
	return (struct nilfs_inode){
		.i_ctime = le64_make(w->o.time),
		.i_mtime = le64_make(w->o.time),
		.i_mode = le16_make(mode),
		.i_links_count = le16_make(links),
	};
}

/* Inodes below first_ino; those of metadata files have theirs elsewhere. */
static int make_inodes(struct writer *w, struct context *cx)
{
	struct nilfs_inode reserved = writer_new_inode(w, S_IFREG, 1);
	struct nilfs_inode root = writer_new_inode(w, S_IFDIR | 0755,
						   ROOT_LINKS);
	uint64_t first, ino;
	uint32_t count;
	int ret = numbers_take(&w->inos, cx, w->g.first_ino, &first, &count);

	if (!ret && count < w->g.first_ino)
		ret = fail(cx, -EINVAL, "%u reserved inodes are too many",
			   w->g.first_ino);
	for (ino = 1; ino < w->g.first_ino && !ret; ino++) {
		if (ino == NILFS_ROOT_INO)
			ret = inodes_write(w, cx, ino, &root);
		else if (!inode_is_metadata(ino))
			ret = inodes_write(w, cx, ino, &reserved);
	}
	w->inodes_count = 1;
	return ret;
}

/* A new volume's files, and its first two segments. */
static int create(struct writer *w, struct context *cx)
{
	const struct inherit_inodes none = { NULL, NULL, NULL, NULL };
	struct appender *a = &w->appender;
	uint64_t invalid;
	uint32_t count;
	int ret;

	w->created = true;
	w->segments.unusable = w->o.unusable;
	w->segments.arg = w->o.arg;
	w->segments.nclean = w->g.nsegments;
	w->segments.last_alloc = w->g.nsegments - 1;
	w->ifile_inode = writer_new_inode(w, S_IFREG, 1);
	w->super_root.sr_dat = w->ifile_inode;
	w->super_root.sr_cpfile = w->ifile_inode;
	w->super_root.sr_sufile = w->ifile_inode;
	ret = inherit_files(w, cx, &none);
	if (!ret)
		ret = numbers_take(&w->dat.numbers, cx, 1, &invalid, &count);
	if (!ret)
		ret = make_inodes(w, cx);
	if (!ret)
		ret = segments_take(&w->segments, cx, &a->segnum);
	return ret ? ret : segments_take(&w->segments, cx, &a->nextnum);
}

static int finish(struct writer **wp, int ret)
{
	if (ret) {
		writer_close(*wp);
		*wp = NULL;
	}
	return ret;
}

int writer_create(struct writer **wp, struct context *cx, struct dev *dev,
		  const struct nilfs_geometry *g,
		  const struct writer_options *options)
{
	int ret;

	*wp = NULL;
	if (options->unusable && options->nsegments)
		return fail(cx, -EINVAL,
			    "unusable segments in a volume without a size");
	ret = writer_make(wp, cx, dev, g, NILFS_CNO_MIN, options);
	if (!ret)
		ret = create(*wp, cx);
	return finish(wp, ret);
}

int writer_open(struct writer **wp, struct context *cx, struct volume *vol,
		const struct writer_options *options)
{
	int ret;

	*wp = NULL;
	ret = writer_make(wp, cx, vol->dev, &vol->geo, vol->latest.cno + 1,
			  options);
	if (!ret)
		ret = inherit_volume(*wp, cx, vol);
	return finish(wp, ret);
}

void writer_recovery(const struct writer *w, const struct writer_end *end,
		     struct recovery *rec)
{
	*rec = (struct recovery){
		.cno = end->cno,
		.super_root = geometry_segment_start(&w->g, end->segnum) +
			      end->offset - 1,
		.pseg_start = end->pseg,
		.seq = end->seq,
		.segnum = end->segnum,
		.nextnum = end->nextnum,
		.offset = end->offset,
		.ctime = w->o.time,
	};
}

const struct nilfs_geometry *writer_geometry(const struct writer *w)
{
	return &w->g;
}

uint64_t writer_cno(const struct writer *w)
{
	return w->cno;
}

int writer_commit(struct writer *w, struct context *cx, struct writer_end *end)
{
	if (w->done)
		return fail(cx, -EINVAL, "checkpoint %llu: committed before",
			    (unsigned long long)w->cno);
	w->done = true;
	return commit_run(w, cx, end);
}

void writer_close(struct writer *w)
{
	if (!w)
		return;
	appender_fini(&w->appender);
	collected_fini(&w->collected);
	bmapbuild_close(w->maps);
	numbers_fini(&w->inos);
	dattable_fini(&w->dat);
	segments_fini(&w->segments);
	metafile_close(w->ifile);
	metafile_close(w->cpfile);
	metafile_close(w->sufile);
	metafile_close(w->dat_file);
	free(w);
}
