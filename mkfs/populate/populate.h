/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One layer on the new volume: files from a source become inodes, blocks and
 * directories of the writer's checkpoint.
 *
 * Sources (walk.h, tarsource.h) pass files in the order in which they are placed on
 * the volume.  The files are merged with the lower layer here: an existing directory
 * keeps its inode, and any other file is replaced.  A source may also delete a name
 * of the lower layer, or all names of a directory.
 *
 * Owner, maps and times of the rules are applied here to every entry; sources do not
 * pass excluded files.
 */
#ifndef NILFS2_MKFS_POPULATE_H
#define NILFS2_MKFS_POPULATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "log/newfile.h"
#include "log/writer.h"
#include "mkfs/populate/entry.h"
#include "vol/symlink.h"
#include "vol/volume.h"

struct populate;

/* Counted for one layer, including files that were replaced in it. */
struct populate_counts {
	uint64_t files, directories, symlinks, specials, links;
	uint64_t whiteouts;			/* of these, whiteouts by name */
	uint64_t replaced_links;		/* lower symbolic links, by directories */
	uint64_t bytes;				/* of regular files */
	uint64_t losses[ENTRY_LOSSES];		/* files with a lost attribute */
};

struct populate_options {
	const struct entry_rules *rules;	/* borrowed; NULL: none */
	int64_t time;		/* seconds, for files without one */
	bool strict;		/* a lost attribute is an error */
	bool forecast;		/* contents of files are not read */
	/* Called from time to time, or NULL. */
	void (*progress)(void *arg);
	void *arg;
};

/*
 * Opens a layer in the checkpoint of W (borrowed) over BELOW (borrowed; NULL: this
 * is the first layer).
 */
int populate_open(struct populate **pp, struct context *cx, struct writer *w,
		  struct volume *below,
		  const struct populate_options *options);

/*
 * Must not be called before the writer is committed or closed: until then its
 * workers read files and may report losses.  NULL is accepted.
 */
void populate_close(struct populate *p);

/* Properties of the layer that a source must know. */
struct populate_needs {
	uint32_t block_size;	/* unit of runs of files */
	bool holes;		/* omit blocks of zeros */
	bool forecast;		/* files need blocks, but no payload */
};

const struct populate_needs *populate_needs(const struct populate *p);

/* A name of a directory of this layer. */
struct populate_name {
	const char *name;	/* LEN bytes, any but '/' and NUL */
	uint8_t len;
	uint8_t type;		/* NILFS_FT_... */
	uint64_t ino;		/* 0: the name is removed */
};

/* Which lower names of a directory stay visible in this layer. */
enum populate_over {
	POPULATE_ALL,		/* all that this layer does not replace */
	POPULATE_ATTRIBUTES,	/* no names, only the attributes */
	POPULATE_NOTHING,	/* none: a new directory */
};

/*
 * Begins directory NAME (LEN bytes) of PARENT.  *INO is its inode number, that of the
 * layer below if it exists there.  The root has NAME NULL.  Other directories may be
 * begun and ended before the end of this one.
 */
int populate_begin_dir(struct populate *p, struct context *cx,
		       uint64_t parent, const char *name, size_t len,
		       uint64_t *ino);

/*
 * Ends directory INO with NAMES, all different, merged with the lower names that
 * OVER leaves visible.  E has its attributes; NULL: those of the layer below, or
 * root:root 0755 at the options' time (a tar archive may omit a directory).  Its
 * files only need inode numbers: their contents may follow later.  -EMLINK for more
 * subdirectories than the kernel allows.
 */
int populate_end_dir(struct populate *p, struct context *cx, uint64_t ino,
		     uint64_t parent, const struct entry *e,
		     enum populate_over over,
		     const struct populate_name *names, size_t n);

/*
 * Adds a regular file with the content PAYLOAD (ownership is transferred), laid out
 * as RUNS of blocks.  With LATER the file may be placed after later files, so that it
 * has one extent; its content must stay readable.  A file without LATER has one
 * extent too, but the rest of the segment stays unused.  PAYLOAD is NULL for a file
 * without blocks, and may be NULL for any file in a forecast, which frees it.
 */
int populate_file(struct populate *p, struct context *cx,
		  const struct entry *e, const struct newfile_run *runs,
		  size_t nruns, struct payload *payload, bool later,
		  uint64_t *ino);

/*
 * Adds a symbolic link, device node, FIFO or socket.  -ENAMETOOLONG for a target
 * that does not fit into a block with a zero byte after it.
 */
int populate_special(struct populate *p, struct context *cx,
		     const struct entry *e, uint64_t *ino);

/*
 * Looks up NAME (LEN bytes) of directory PARENT in the layer below: 1 with its inode
 * number and type (NILFS_FT_...), 0 if there is no such name.
 */
int populate_old_name(struct populate *p, struct context *cx, uint64_t parent,
		      const char *name, size_t len, uint64_t *ino,
		      uint8_t *type);

/* The target of symbolic link INO of the layer below, of *LEN bytes, with a NUL. */
int populate_old_link(struct populate *p, struct context *cx, uint64_t ino,
		      char target[SYMLINK_TARGET_MAX + 1], size_t *len);

/*
 * Adds one more name to INO, a file of this layer or of the one below.  -EMLINK
 * above the limit.
 */
int populate_link(struct populate *p, struct context *cx, uint64_t ino);

/*
 * Removes one name of this layer from INO, because another file got that name.  A
 * file without a name is deleted when the layer is finished.
 */
int populate_unlink(struct populate *p, struct context *cx, uint64_t ino);

/*
 * Reports that a file of this layer has an attribute that NILFS2 cannot store.  May
 * be called by any thread.  With `strict`: -EOPNOTSUPP, naming PATH.
 */
int populate_loss(struct populate *p, struct context *cx, const char *path,
		  enum entry_loss loss);

/*
 * Places deferred files, completes link counts and deletes replaced files.  The layer
 * is then ready to commit.
 */
int populate_finish(struct populate *p, struct context *cx);

/*
 * Adds the counts so far to SUM.  The losses are complete after the commit of the
 * writer, since some are found only when a file is read.
 */
void populate_add_counts(const struct populate *p, struct populate_counts *sum);

#endif
