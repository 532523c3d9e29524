/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names in a directory of the volume, for a mount. */
#ifndef NILFS2_DUMP_MOUNTDIR_H
#define NILFS2_DUMP_MOUNTDIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "vol/dir.h"
#include "vol/file.h"

/* Where a name was found last: the next one is probably after it. */
struct mountdir_hint {
	uint64_t node;	/* of the directory; 0: none */
	struct dir_position position;
};

/*
 * Finds NAME in directory FILE, which is NODE: 0 and *INO; -ENOENT; -EUCLEAN
 * where it is not in the part of the directory that can be read.  Starts
 * at HINT, as nilfs_find_entry() does.
 */
int mountdir_find(struct file *file, struct context *cx, uint64_t node,
		  struct mountdir_hint *hint, const char *name, uint64_t *ino);

/* Takes ENTRY, which ends at position NEXT: 0, 1 to stop, or a failure. */
typedef int (*mountdir_take)(void *arg, const struct dir_entry *entry,
			     uint64_t next);

/*
 * Lists directory FILE from POSITION on: 0 at the end of the directory or where
 * TAKE stopped.  A position is a number of bytes, and odd where a part of the
 * directory in front of it cannot be read or has impossible names.  -EUCLEAN or
 * -EIO for that at its end, if TAKE got nothing.
 */
int mountdir_list(struct file *file, struct context *cx, uint64_t position,
		  mountdir_take take, void *arg);

#endif
