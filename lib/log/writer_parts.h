/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The parts of a writer, for the files of this folder.
 */
#ifndef NILFS2_LOG_WRITER_PARTS_H
#define NILFS2_LOG_WRITER_PARTS_H

#include "base/context.h"
#include "log/appender.h"
#include "log/collected.h"
#include "log/meta/bmapbuild.h"
#include "log/meta/metafile.h"
#include "log/repairwriter.h"
#include "log/tables/dattable.h"
#include "log/tables/numbers.h"
#include "log/tables/segments.h"
#include "log/writer.h"

struct writer {
	struct dev *dev;
	struct nilfs_geometry g;
	struct writer_options o;
	uint64_t cno;
	bool created;			/* a new volume */
	/* A volume to be repaired: what is known of it, whether its segments
	   were counted, and which one was written last. */
	bool repaired, counted;
	bool waits;	/* for a DAT that leads to the latest checkpoint */
	struct repairwriter_known known;
	uint64_t latest_segnum;
	struct metafile_env env;
	struct metafile *dat_file, *ifile, *cpfile, *sufile;
	struct nilfs_super_root super_root;	/* to be completed */
	struct nilfs_inode ifile_inode;
	struct dattable dat;
	struct numbers inos;
	struct segments segments;
	struct appender appender;
	struct collected collected;
	struct bmapbuild *maps;
	uint64_t inodes_count, blocks_count;	/* of the checkpoint */
	uint64_t ifile_blocks;	/* of these, as the last checkpoint had them */
	/* Where the log begins that has blocks of ifile or DAT, if open. */
	uint64_t flushed;
	/* Dirty blocks of these with which the next log gets some. */
	size_t ifile_due, dat_due;
	bool done;			/* committed, or failed in it */
};

/* A writer of checkpoint CNO without files.  To be closed also if it fails. */
int writer_make(struct writer **wp, struct context *cx, struct dev *dev,
		const struct nilfs_geometry *g, uint64_t cno,
		const struct writer_options *options);

/* An inode without blocks, as old as the checkpoint. */
struct nilfs_inode writer_new_inode(const struct writer *w, uint16_t mode,
				    uint16_t links);

/* What writer_commit() does. */
int commit_run(struct writer *w, struct context *cx, struct writer_end *end);

/* Lists metadata if enough of it is collected or changed. */
int flush_if_due(struct writer *w, struct context *cx);

/* Fills what is left of the open log with what there is. */
int flush_here(struct writer *w, struct context *cx);

/* Lists all that was collected (blocks of files and directories). */
int flush_collected(struct writer *w, struct context *cx);

#endif
