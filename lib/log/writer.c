// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A writer: its parts put together.
 *
 * The four metadata files change in memory and allocate numbers from the DAT;
 * the appender lists blocks and fills logs; the commit writes the rest after
 * the data.  This file contains shared functions, and how a writer begins.
 */
#include "log/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "disk/inode.h"
#include "log/inodes.h"
#include "log/writer_parts.h"
#include "vol/cptable.h"
#include "vol/root.h"
#include "vol/volume.h"

#define ROOT_LINKS 2

/* A worker writes a log with one request: a short log needs little memory. */
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

/* Submitted blocks may not be on the device yet. */
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

int writer_make(struct writer **wp, struct context *cx, struct dev *dev,
		const struct nilfs_geometry *g, uint64_t cno,
		const struct writer_options *options)
{
	struct writer *w = calloc(1, sizeof(*w));
	struct logout_options how = {
		.sequential = options->sequential,
		.allocate = options->allocate,
	};
	int ret;

	if (!w)
		return fail(cx, -ENOMEM, "writer");
	if (options->digest)
		how.digest = &w->digest;
	w->dev = dev;
	w->g = *g;
	w->o = *options;
	w->cno = cno;
	if (!w->o.collect)
		w->o.collect = WRITER_COLLECT_DEFAULT;
	w->ifile_due = w->dat_due = 2 * (size_t)w->o.collect;
	w->env = (struct metafile_env){
		.arg = w,
		.alloc = env_alloc,
		.end = env_end,
		.superseded = env_superseded,
		.read = env_read,
	};
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
	ret = logout_open(&w->appender.out, cx, dev, &w->g, &how);
	if (!ret)
		ret = bmapbuild_open(&w->maps, cx, g->block_size);
	if (ret)
		writer_close(w);
	else
		*wp = w;
	return ret;
}

int writer_create(struct writer **wp, struct context *cx, struct dev *dev,
		  const struct nilfs_geometry *g,
		  const struct writer_options *options)
{
	struct nilfs_inode reserved, root;
	uint64_t invalid, first, ino;
	struct writer *w;
	uint32_t count;
	int ret;

	*wp = NULL;
	if (options->unusable && options->nsegments)
		return fail(cx, -EINVAL,
			    "unusable segments in a volume without a size");
	ret = writer_make(&w, cx, dev, g, NILFS_CNO_MIN, options);
	if (ret)
		return ret;
	w->created = true;
	w->segments.unusable = options->unusable;
	w->segments.arg = options->arg;
	w->segments.nclean = g->nsegments;
	w->segments.last_alloc = g->nsegments - 1;
	reserved = writer_new_inode(w, S_IFREG, 1);
	root = writer_new_inode(w, S_IFDIR | 0755, ROOT_LINKS);
	w->ifile_inode = reserved;
	w->super_root.sr_dat = reserved;
	w->super_root.sr_cpfile = reserved;
	w->super_root.sr_sufile = reserved;
	ret = inherit_files(w, cx, true);
	if (!ret)
		ret = numbers_take(&w->dat.numbers, cx, 1, &invalid, &count);
	/* Reserved inodes; those of metadata files are stored elsewhere. */
	if (!ret)
		ret = numbers_take(&w->inos, cx, g->first_ino, &first, &count);
	if (!ret && count < g->first_ino)
		ret = fail(cx, -EINVAL, "%u reserved inodes are too many",
			   g->first_ino);
	for (ino = 1; ino < g->first_ino && !ret; ino++) {
		if (ino == NILFS_ROOT_INO)
			ret = inodes_write(w, cx, ino, &root);
		else if (!inode_is_metadata(ino))
			ret = inodes_write(w, cx, ino, &reserved);
	}
	w->inodes_count = 1;
	if (!ret)
		ret = segments_take(&w->segments, cx, &w->appender.segnum);
	if (!ret)
		ret = segments_take(&w->segments, cx, &w->appender.nextnum);
	if (ret)
		writer_close(w);
	else
		*wp = w;
	return ret;
}

int writer_open(struct writer **wp, struct context *cx, struct volume *vol,
		const struct writer_options *options)
{
	const struct recovery *latest = &vol->latest;
	struct writer *w;
	struct root root;
	int ret = writer_make(&w, cx, vol->dev, &vol->geo, latest->cno + 1,
			      options);

	*wp = NULL;
	if (ret)
		return ret;
	if (latest->orphans_start)
		ret = fail(cx, -EUCLEAN, "block %llu: logs after the latest "
			   "super root have not been rolled forward",
			   (unsigned long long)latest->orphans_start);
	else if (latest->nextnum >= w->g.nsegments ||
		 latest->nextnum == latest->segnum)
		ret = fail(cx, -EUCLEAN, "segment %llu: cannot be the next one",
			   (unsigned long long)latest->nextnum);
	/* The kernel's cursor: nilfs_store_log_cursor(), nilfs_shift_to_next() */
	w->appender.segnum = latest->segnum;
	w->appender.nextnum = latest->nextnum;
	w->appender.seq = latest->seq;
	w->appender.offset = (uint32_t)latest->offset;
	if (!ret)
		ret = root_open(&root, cx, vol, 0);
	if (!ret)
		ret = inherit_metadata(w, cx, vol, &root.cp, 0);
	if (!ret)
		ret = cptable_list(vol, cx, true, &w->dat.snapshots,
				   &w->dat.nsnapshots);
	if (!ret)
		ret = inherit_segments(w, cx, vol);
	if (ret)
		writer_close(w);
	else
		*wp = w;
	return ret;
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

void writer_close(struct writer *w)
{
	if (!w)
		return;
	appender_fini(&w->appender);
	flush_drop(&w->collected);
	bmapbuild_close(w->maps);
	numbers_fini(&w->inos);
	dattable_fini(&w->dat);
	tally_fini(&w->segments.live);
	tally_fini(&w->segments.snapshot);
	metafile_close(w->ifile);
	metafile_close(w->cpfile);
	metafile_close(w->sufile);
	metafile_close(w->dat_file);
	free(w);
}
