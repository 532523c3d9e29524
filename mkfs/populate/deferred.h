/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Placing files so that they are not split. */
#ifndef NILFS2_MKFS_DEFERRED_H
#define NILFS2_MKFS_DEFERRED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "disk/ondisk.h"
#include "log/newfile.h"
#include "log/writer.h"

/* The maximum number of waiting files. */
#define DEFERRED_MAX 256

struct deferred_file;

/* All zero is the empty list. */
struct deferred {
	struct deferred_file *files[DEFERRED_MAX];	/* in their order of arrival */
	size_t n;
	uint64_t least;		/* blocks of the smallest one */
};

/*
 * Places file INO with its blocks, now or later, and writes its inode then.  RUNS
 * are copied if needed; ownership of PAYLOAD is transferred.  Without LATER the file
 * is placed now.  Fails as newfile_place() and inodes_write().
 */
int deferred_place(struct deferred *d, struct context *cx, struct writer *w,
		   uint64_t ino, const struct nilfs_inode *inode,
		   const struct newfile_run *runs, size_t nruns,
		   struct payload *payload, bool later);

/* Places all waiting files. */
int deferred_finish(struct deferred *d, struct context *cx, struct writer *w);

/* Drops all waiting files. */
void deferred_fini(struct deferred *d);

#endif
