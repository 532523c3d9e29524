/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The log writer, which makes every change of a volume.
 *
 * A writer makes one checkpoint.  It appends logs after the latest one (or at
 * the beginning of a new volume), and until the caller writes superblocks that
 * name the last of them the volume is unchanged.  Data is laid out in the order
 * in which it is given.  Metadata is collected, and written together after
 * data: once it has as many blocks as the options allow, before a file that
 * would not fit, and at the end.
 *
 * One thread uses a writer; CX->threads workers fill and write the logs.
 */
#ifndef NILFS2_LOG_WRITER_H
#define NILFS2_LOG_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"
#include "disk/geometry.h"
#include "disk/ondisk.h"
#include "log/write/logout.h"

#define WRITER_COLLECT_DEFAULT 512

struct recovery;
struct volume;
struct writer;

struct writer_options {
	uint64_t time;		/* seconds; of checkpoint, logs, segments */
	uint32_t collect;	/* most collected metadata blocks; 0: the default */
	uint32_t log_blocks;	/* maximum blocks of a log; 0: a segment */
	bool sequential;	/* zones: write each segment front to back */
	bool digest;		/* compute one of all written blocks */
	bool snapshot;		/* the checkpoint becomes a snapshot */
	bool minor;		/* cp_flags MINOR, logs GC: for a cleaner */
	bool same_files;	/* cp_flags MINOR: as a mounted volume has chcp(8) */
	/*
	 * The commit begins a segment with the ifile, and one with the cpfile, if what
	 * follows does not fit into the rest of the current one.
	 */
	bool apart;
	/*
	 * Bytes to preallocate at once (dev_allocate()), 0: none.  Only if the
	 * space after the logs of this checkpoint is unused: the caller
	 * deallocates (dev_discard()) the rest.
	 */
	uint64_t allocate;
	/* New volume only: true where SEGNUM must never be used; or NULL. */
	bool (*unusable)(void *arg, uint64_t segnum);
	/*
	 * For a volume whose size depends on its content: returns the number of
	 * segments when the logs of this checkpoint end within the first USED
	 * segments, the next one (already allocated) included.  Called once, by
	 * the commit, before the SUFILE is completed; NULL: as in the geometry.
	 */
	uint64_t (*nsegments)(void *arg, uint64_t used);
	void *arg;		/* of both */
};

/* The position of the last log, for superblocks and the next writer. */
struct writer_end {
	uint64_t cno;		/* the new checkpoint */
	uint64_t pseg;		/* block of the log with the super root */
	uint64_t seq;
	uint64_t segnum, nextnum;
	uint64_t offset;	/* blocks of segnum in use */
	uint64_t clean_segments;
	uint64_t used_segments;	/* up to the highest one ever written */
	uint64_t blocks;	/* blocks written, summaries included */
	uint64_t summaries;	/* of these, blocks of summaries */
	struct logout_digest digest;	/* of its logs, if requested */
	struct nilfs_super_root super_root;
};

/* Sets OPTIONS for logs of layout G on zones: in sequence, one request each. */
void writer_options_zoned(struct writer_options *options,
			  const struct nilfs_geometry *g);

/* Options for the next logs of VOL, suited to its device; TIME in seconds. */
struct writer_options writer_options_on(const struct volume *vol,
					uint64_t time);

/*
 * A writer of the first checkpoint of a new volume on DEV (borrowed): its
 * metadata files are empty, inodes below first_ino are created (the root
 * without blocks), segments are allocated from 0 up.
 */
int writer_create(struct writer **wp, struct context *cx, struct dev *dev,
		  const struct nilfs_geometry *g,
		  const struct writer_options *options);

/*
 * A writer of the next checkpoint of VOL (borrowed, not used again).  -EUCLEAN
 * if VOL must be rolled forward first, or is broken.
 */
int writer_open(struct writer **wp, struct context *cx, struct volume *vol,
		const struct writer_options *options);

const struct nilfs_geometry *writer_geometry(const struct writer *w);
uint64_t writer_cno(const struct writer *w);

/*
 * Writes all metadata, the super root last, and waits until everything is on
 * the device (not flushed).  Afterwards the writer can only be closed.
 * -ENOSPC, -EIO, -ENOMEM, -EINTR.
 */
int writer_commit(struct writer *w, struct context *cx,
		  struct writer_end *end);

/*
 * Converts END for volume_open_at(), so that the next writer can continue
 * although no superblock points there yet; the geometry is writer_geometry()
 * after the commit.
 */
void writer_recovery(const struct writer *w, const struct writer_end *end,
		     struct recovery *rec);

/* Without a commit the volume is unchanged.  NULL is accepted. */
void writer_close(struct writer *w);

#endif
