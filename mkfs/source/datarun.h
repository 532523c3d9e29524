/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a sparse file of the source has data. */
#ifndef NILFS2_MKFS_DATARUN_H
#define NILFS2_MKFS_DATARUN_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "log/newfile.h"

/*
 * Finds the runs of blocks of BLOCK_SIZE bytes that contain data in the file of SIZE
 * bytes open at FD: *N ascending runs with gaps in *RUNS, an array of *ROOM that
 * grows.  The whole file is one run if the file system does not support holes.
 * -errno, with a text only for -ENOMEM.
 */
int datarun_find(struct context *cx, int fd, uint64_t size,
		 uint32_t block_size, struct newfile_run **runs, size_t *room,
		 size_t *n);

/*
 * Adds block BLKOFF after the *N runs in *RUNS; extends the last run if the block
 * follows it.  -ENOMEM.
 */
int datarun_add(struct context *cx, uint64_t blkoff, struct newfile_run **runs,
		size_t *room, size_t *n);

/*
 * Removes blocks of zeros from runs made by datarun_find().  Bytes after the end of
 * the file are zero.  -errno, with a text only for -ENOMEM and -EINTR.
 */
int datarun_make_holes(struct context *cx, int fd, uint32_t block_size,
		       struct newfile_run **runs, size_t *room, size_t *n);

#endif
