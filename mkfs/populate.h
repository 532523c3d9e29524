/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One layer on the new volume: files from a source become inodes, blocks and
 * directories of the writer's checkpoint.
 *
 * Sources (walk.h, tarsource.h) say what there is, in the order in which it is
 * to be on the volume; here is decided what becomes of it, above all over a
 * lower layer: a name that is there already keeps its directory's inode, and
 * replaces anything else.
 */
#ifndef NILFS2_MKFS_POPULATE_H
#define NILFS2_MKFS_POPULATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "log/newfile.h"
#include "log/writer.h"
#include "mkfs/entry.h"
#include "vol/volume.h"

struct populate;

/* Counted over one layer. */
struct populate_counts {
	uint64_t files, directories, symlinks, specials, links;
	uint64_t bytes;				/* of regular files */
	uint64_t losses[ENTRY_LOSSES];		/* files that lose something */
};

void populate_counts_add(struct populate_counts *sum,
			 const struct populate_counts *counts);

struct populate_options {
	const struct entry_rules *rules;
	bool strict;		/* a loss is an error */
	/* Called now and then with the counts so far, or NULL. */
	void (*progress)(void *arg, const struct populate_counts *counts);
	void *arg;
};

/*
 * A layer in the checkpoint of W (borrowed) over what BELOW has (borrowed;
 * NULL: nothing, the first layer).
 */
int populate_open(struct populate **pp, struct context *cx, struct writer *w,
		  struct volume *below,
		  const struct populate_options *options);
void populate_close(struct populate *p);	/* NULL is accepted */

/* A name of a directory of this layer. */
struct populate_name {
	const char *name;	/* LEN bytes, any but '/' and NUL */
	uint8_t len;
	uint8_t type;		/* NILFS_FT_... */
	uint64_t ino;
};

/*
 * Directory NAME (LEN bytes) of PARENT begins: *INO is its inode number, that
 * of the layer below where that has one.  The root has NAME NULL.
 */
int populate_begin_dir(struct populate *p, struct context *cx,
		       uint64_t parent, const char *name, size_t len,
		       uint64_t *ino);

/*
 * Directory INO ends: it has NAMES, over what it had in the layer below.  E
 * tells its attributes; NULL: as below, or root:root 0755 at the volume's time
 * (a tar archive may never mention a directory).
 */
int populate_end_dir(struct populate *p, struct context *cx, uint64_t ino,
		     uint64_t parent, const struct entry *e,
		     const struct populate_name *names, size_t n);

/*
 * A regular file with the content PAYLOAD (one holder, given over), laid out
 * as RUNS of blocks.  With LATER the file may be placed after others that come
 * behind it, so that it has one extent: its content must stay readable.
 */
int populate_file(struct populate *p, struct context *cx,
		  const struct entry *e, const struct newfile_run *runs,
		  size_t nruns, struct payload *payload, bool later,
		  uint64_t *ino);

/* A symbolic link, device node, FIFO or socket. */
int populate_special(struct populate *p, struct context *cx,
		     const struct entry *e, uint64_t *ino);

/* One more name for INO, a file of this layer.  -EMLINK past the limit. */
int populate_link(struct populate *p, struct context *cx, uint64_t ino);

/* A file of this layer has something that NILFS2 cannot hold. */
int populate_loss(struct populate *p, struct context *cx, const char *path,
		  enum entry_loss loss);

/* Places what was put off, completes links; the layer is ready to commit. */
int populate_finish(struct populate *p, struct context *cx,
		    struct populate_counts *counts);

#endif
