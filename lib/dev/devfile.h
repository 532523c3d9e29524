/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Image files and block devices as devices. */
#ifndef NILFS2_DEV_DEVFILE_H
#define NILFS2_DEV_DEVFILE_H

#include "dev/dev.h"
#include "dev/output.h"

enum devfile_flags {
	DEVFILE_READ = 0,
	DEVFILE_WRITE = 1 << 0,	 /* exclusively */
	DEVFILE_EMPTY = 1 << 1,	 /* also an empty file */
};

/*
 * Opens the image file or block device PATH.  -EISDIR for a directory, -ENOTBLK for
 * another type of file, -ENODATA for an empty file (without DEVFILE_EMPTY).  -EBUSY
 * for a block device that is mounted or claimed, and for an image file that another
 * process writes to, or reads if DEVFILE_WRITE is set.  -ENOLCK and the like for an
 * image file to be written on a file system without locks; otherwise as open(2).
 */
int devfile_open(struct dev **devp, struct context *cx, const char *path,
		 unsigned int flags);

/*
 * Opens the file of O, which was just created, as a device for writing.  It may be
 * closed before or after output_commit(); its name is the final name of O.  -EBUSY,
 * -ENOMEM.
 */
int devfile_create(struct dev **devp, struct context *cx,
		   const struct output *o);

/*
 * Sets the size of an image file to SIZE bytes; new bytes read as zeros and occupy no
 * space.  A block device keeps its size: -EINVAL if SIZE is more than that.
 */
int devfile_resize(struct dev *dev, struct context *cx, uint64_t size);

#define GUARD_RANGES 2
#define GUARD_BYTES 1024
#define GUARD_NOTHING UINT64_MAX	/* as an offset */

/*
 * From now on a commit, a series of writes up to a flush, begins only if the
 * GUARD_BYTES at each of OFFSETS are unchanged, except by writes of DEV: -ESTALE
 * otherwise, from all functions that change DEV.  Bytes that cannot be read now are
 * not guarded.
 */
void devfile_guard(struct dev *dev, const uint64_t offsets[GUARD_RANGES]);

/*
 * Makes long writes (64 KiB) of aligned buffers (4096 suffices) bypass the page
 * cache: less work for a stream that is not read again.  Reads and flushes see them
 * as usual.  False, without a change, if the system does not support it or the file
 * is in memory anyway.
 */
bool devfile_direct(struct dev *dev);

/* The file descriptor, for probes that need it; the device keeps it. */
int devfile_fd(const struct dev *dev);

#endif
