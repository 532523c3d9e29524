/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a sparse file of the source has data. */
#ifndef NILFS2_MKFS_DATARUN_H
#define NILFS2_MKFS_DATARUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "log/newfile.h"

/*
 * The runs of blocks of BLOCK_SIZE bytes that have data at all in the file of
 * SIZE bytes open at FD, ascending, with gaps: *N of them in *RUNS, an array of
 * *ROOM that grows.  All of the file is one run where the file system knows no
 * holes.  -errno, with a text only for -ENOMEM.
 */
int datarun_find(struct context *cx, int fd, uint64_t size,
		 uint32_t block_size, struct newfile_run **runs, size_t *room,
		 size_t *n);

/*
 * Adds block BLKOFF after the *N runs in *RUNS, to the last of them where it
 * follows that.  -ENOMEM.
 */
int datarun_add(struct context *cx, uint64_t blkoff, struct newfile_run **runs,
		size_t *room, size_t *n);

/*
 * Leaves out of the runs, as datarun_find() has made them, the blocks that are
 * zeros.  What lies after the end of the file is zero.  -errno, with a text
 * only for -ENOMEM and -EINTR.
 */
int datarun_make_holes(struct context *cx, int fd, uint32_t block_size,
		       struct newfile_run **runs, size_t *room, size_t *n);

#endif
