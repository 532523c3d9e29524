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
	const struct volume *named;	/* its superblocks lead to the logs before */
	struct nilfs_geometry g;
	struct writer_options o;
	uint64_t cno;
	bool created;			/* a new volume */
	/*
	 * For directwriter.h: overrides of the volume, whether its segments
	 * were counted, and the last segment written.
	 */
	bool direct, counted;
	bool waits;	/* until the rebuilt DAT has the latest checkpoint */
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
	uint64_t ifile_blocks;	/* of these, the ifile's in the last checkpoint */
	/* First block of the open log if it lists blocks of ifile or DAT. */
	uint64_t flushed;
	/* Number of dirty blocks from which on the next log lists some. */
	size_t ifile_due, dat_due;
	bool done;			/* committed, or failed to */
};

/* A writer of checkpoint CNO without files.  -ENOMEM. */
int writer_make(struct writer **wp, struct context *cx, struct dev *dev,
		const struct nilfs_geometry *g, uint64_t cno,
		const struct writer_options *options);

/*
 * Opens the metadata files of W by its copies of their inodes; with FRESH as
 * new files.
 */
int inherit_files(struct writer *w, struct context *cx, bool fresh);

/*
 * Sets up the metadata files from VOL and CP; those in REBUILT (bit INO) begin
 * without blocks.  The caller sets the list of snapshots.
 */
int inherit_metadata(struct writer *w, struct context *cx,
		     const struct volume *vol,
		     const struct nilfs_checkpoint *cp, unsigned int rebuilt);

/*
 * The same for the ifile alone, which is opened again, and for the counts of
 * CP.
 */
int inherit_ifile(struct writer *w, struct context *cx,
		  const struct nilfs_checkpoint *cp);

/*
 * Reads the segment counts of VOL.  If a kernel without the extension has
 * written, counts live blocks again and records the differences.
 */
int inherit_segments(struct writer *w, struct context *cx,
		     struct volume *vol);

/* An inode without blocks, with the time of the checkpoint. */
static inline struct nilfs_inode
writer_new_inode(const struct writer *w, uint16_t mode, uint16_t links)
{
	return (struct nilfs_inode){
		.i_ctime = le64_make(w->o.time),
		.i_mtime = le64_make(w->o.time),
		.i_mode = le16_make(mode),
		.i_links_count = le16_make(links),
	};
}

#endif
