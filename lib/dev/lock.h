/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Locks on image files, against other processes that use them. */
#ifndef NILFS2_DEV_LOCK_H
#define NILFS2_DEV_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"

/*
 * Locks the whole of the image file PATH, open as FD for as long as FD is
 * open: for a writer, alone, or for one of several readers.  -EBUSY where
 * another process holds a lock that excludes this one.  Where the file system has
 * no locks, a reader does without, and a writer gets -ENOLCK.
 */
int lock_file(struct context *cx, const char *path, int fd, bool writer);

/* Whether another process holds any such lock on the file open as FD. */
bool lock_is_held(int fd);

/*
 * The same for the backing file of the loop device PATH of number RDEV, which
 * the directory SYS, "/sys", names: closing *FD unlocks it; -1 if there is no such
 * file.  Where that has no locks, the device excludes other writers of itself alone.
 */
int lock_backing_file(struct context *cx, const char *sys, const char *path,
		      uint64_t rdev, bool writer, int *fd);

#endif
