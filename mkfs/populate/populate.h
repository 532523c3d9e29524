/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One layer on the new volume: files from a source become inodes, blocks and
 * directories of the writer's checkpoint.
 *
 * Sources (walk.h, tarsource.h) pass files in the order in which they are to be
 * on the volume; they are merged with the lower layer here: an existing
 * directory keeps its inode, and any other file is replaced.  A source may also
 * delete a name of the lower layer, or all names of a directory.
 *
 * Owner, maps and times of the rules are applied here to every entry; excluded
 * files are not passed.
 */
#ifndef NILFS2_MKFS_POPULATE_H
#define NILFS2_MKFS_POPULATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "log/newfile.h"
#include "log/writer.h"
#include "mkfs/populate/entry.h"
#include "vol/volume.h"

struct populate;

/* Counted over one layer, with files that others of it replaced. */
struct populate_counts {
	uint64_t files, directories, symlinks, specials, links;
	uint64_t whiteouts;			/* of these, by their names */
	uint64_t bytes;				/* of regular files */
	uint64_t losses[ENTRY_LOSSES];		/* files that lose something */
};

struct populate_options {
	const struct entry_rules *rules;	/* borrowed; NULL: none */
	int64_t time;		/* seconds, for files without a time */
	bool strict;		/* a loss is an error */
	bool forecast;		/* contents of files are not read */
	/* Called now and then, or NULL. */
	void (*progress)(void *arg);
	void *arg;
};

/*
 * A layer in the checkpoint of W (borrowed) over BELOW (borrowed; NULL: none,
 * the first layer).
 */
int populate_open(struct populate **pp, struct context *cx, struct writer *w,
		  struct volume *below,
		  const struct populate_options *options);

/*
 * Not before the writer is committed or closed: until then its workers read
 * files and may report losses.  NULL is accepted.
 */
void populate_close(struct populate *p);

/* What a source must know of the layer. */
struct populate_needs {
	uint32_t block_size;	/* what runs of files are rounded to */
	bool holes;		/* blocks of zeros are to be left out of files */
	bool forecast;		/* files need blocks, but no payload */
};

const struct populate_needs *populate_needs(const struct populate *p);

/* A name of a directory of this layer. */
struct populate_name {
	const char *name;	/* LEN bytes, any but '/' and NUL */
	uint8_t len;
	uint8_t type;		/* NILFS_FT_... */
	uint64_t ino;		/* 0: the name is gone */
};

/* What of a directory in the layer below is seen in this layer. */
enum populate_over {
	POPULATE_ALL,		/* what this layer does not replace */
	POPULATE_ATTRIBUTES,	/* no name */
	POPULATE_NOTHING,	/* it is a new directory */
};

/*
 * Directory NAME (LEN bytes) of PARENT begins: *INO is its inode number, that
 * of the layer below where that has one.  The root has NAME NULL.  Between
 * this and the end of the directory anything may happen to others.
 */
int populate_begin_dir(struct populate *p, struct context *cx,
		       uint64_t parent, const char *name, size_t len,
		       uint64_t *ino);

/*
 * Ends directory INO with NAMES, all different, over those visible in the layer
 * below (OVER).  E has its attributes; NULL: as below, or root:root 0755 at the
 * options' time (a tar archive may never mention a directory).  Its files need
 * only have numbers: their contents may come later.  -EMLINK for more
 * subdirectories than the kernel allows.
 */
int populate_end_dir(struct populate *p, struct context *cx, uint64_t ino,
		     uint64_t parent, const struct entry *e,
		     enum populate_over over,
		     const struct populate_name *names, size_t n);

/*
 * A regular file with the content PAYLOAD (given over), laid out
 * as RUNS of blocks.  With LATER the file may be placed after others that come
 * after it, so that it has one extent: its content must stay readable.  A
 * file without LATER has one extent too, at the price of the room that is left
 * in the segment.  PAYLOAD is NULL for a file without blocks, and may be for
 * any in a forecast, which lets go of it.
 */
int populate_file(struct populate *p, struct context *cx,
		  const struct entry *e, const struct newfile_run *runs,
		  size_t nruns, struct payload *payload, bool later,
		  uint64_t *ino);

/*
 * A symbolic link, device node, FIFO or socket.  -ENAMETOOLONG for a target
 * that does not fit into a block with a zero byte after it.
 */
int populate_special(struct populate *p, struct context *cx,
		     const struct entry *e, uint64_t *ino);

/*
 * The inode number and type (NILFS_FT_...) of NAME, LEN bytes, of directory
 * PARENT in the layer below: 1, 0 if there is none.
 */
int populate_old_name(struct populate *p, struct context *cx, uint64_t parent,
		      const char *name, size_t len, uint64_t *ino,
		      uint8_t *type);

/*
 * One more name for INO, a file of this layer or of the one below.  -EMLINK
 * above the limit.
 */
int populate_link(struct populate *p, struct context *cx, uint64_t ino);

/*
 * One name less for INO, of which this layer had one: another file got it.  A
 * file without a name ends, once the layer is finished.
 */
int populate_unlink(struct populate *p, struct context *cx, uint64_t ino);

/*
 * A file of this layer has something that NILFS2 cannot hold.  Any thread may
 * call it.  With `strict` -EOPNOTSUPP, naming PATH.
 */
int populate_loss(struct populate *p, struct context *cx, const char *path,
		  enum entry_loss loss);

/*
 * Places what was put off, completes links, lets go of what was replaced; the
 * layer is ready to commit.
 */
int populate_finish(struct populate *p, struct context *cx);

/*
 * Adds the counts so far to SUM; the losses are complete once the writer is
 * committed, since some are found only where a file is read.
 */
void populate_add_counts(const struct populate *p, struct populate_counts *sum);

#endif
