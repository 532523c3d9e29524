/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Locks on image files, against other processes that use them. */
#ifndef NILFS2_DEV_LOCK_H
#define NILFS2_DEV_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"

/*
 * Locks the whole image file PATH, open as FD, until FD is closed: for one writer or
 * for one of several readers.  -EBUSY if another process holds a conflicting lock.
 * If the file system has no locks, a reader continues without, and a writer gets
 * -ENOLCK.
 */
int lock_file(struct context *cx, const char *path, int fd, bool writer);

/*
 * The same for the backing file of the loop device PATH with number RDEV, found in
 * the directory SYS ("/sys").  Closing *FD unlocks it; -1 if there is no backing
 * file.  If its file system has no locks, only other writers of the loop device are
 * excluded.
 */
int lock_backing_file(struct context *cx, const char *sys, const char *path,
		      uint64_t rdev, bool writer, int *fd);

#endif
