/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The parts of a writer, for the files of this folder.
 */
#ifndef NILFS2_LOG_WRITER_PARTS_H
#define NILFS2_LOG_WRITER_PARTS_H

#include "base/context.h"
#include "log/appender.h"
#include "log/directwriter.h"
#include "log/flush.h"
#include "log/meta/bmapbuild.h"
#include "log/meta/metafile.h"
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
	/* Of directwriter.h: what is known of the volume, whether its segments
	   were counted, and which one was written last. */
	bool direct, counted;
	bool waits;	/* for a DAT that leads to the latest checkpoint */
	struct directwriter_known known;
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
	struct logout_digest digest;
	struct bmapbuild *maps;
	uint64_t inodes_count, blocks_count;	/* of the checkpoint */
	uint64_t ifile_blocks;	/* of these, as the last checkpoint had them */
	/* Where the log begins that has blocks of ifile or DAT, if open. */
	uint64_t flushed;
	/* Dirty blocks of these with which the next log gets some. */
	size_t ifile_due, dat_due;
	bool done;			/* committed, or failed in it */
};

/* A writer of checkpoint CNO without files.  -ENOMEM. */
int writer_make(struct writer **wp, struct context *cx, struct dev *dev,
		const struct nilfs_geometry *g, uint64_t cno,
		const struct writer_options *options);

/*
 * Opens the metadata files of W by the inodes that it has of them; with FRESH
 * they are new.
 */
int inherit_files(struct writer *w, struct context *cx, bool fresh);

/*
 * What VOL and CP say of the metadata files, but those in REBUILT (bit INO) begin
 * without blocks.  Which checkpoints are snapshots is left to the caller.
 */
int inherit_metadata(struct writer *w, struct context *cx,
		     const struct volume *vol,
		     const struct nilfs_checkpoint *cp, unsigned int rebuilt);

/*
 * The same of the ifile alone, which is opened again, and of the counts that
 * CP has.
 */
int inherit_ifile(struct writer *w, struct context *cx,
		  const struct nilfs_checkpoint *cp);

/*
 * The counts of segments of VOL, and the live ones again where a kernel without
 * the extension has written: by how much they are wrong.
 */
int inherit_segments(struct writer *w, struct context *cx,
		     struct volume *vol);

/* An inode without blocks, as old as the checkpoint. */
struct nilfs_inode writer_new_inode(const struct writer *w, uint16_t mode,
				    uint16_t links);

#endif
