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

/* The position of the last name found: the next one is probably after it. */
struct mountdir_hint {
	uint64_t node;	/* of the directory; 0: none */
	struct dir_position position;
};

/*
 * Finds NAME in directory FILE, which is NODE: 0 and *INO; -ENOENT; -EUCLEAN if a
 * part of the directory is unreadable and NAME is not in the rest.  Starts at HINT,
 * as nilfs_find_entry() does.
 */
int mountdir_find(struct file *file, struct context *cx, uint64_t node,
		  struct mountdir_hint *hint, const char *name, uint64_t *ino);

/* Takes ENTRY, which ends at position NEXT: 0, 1 to stop, or a failure. */
typedef int (*mountdir_take)(void *arg, const struct dir_entry *entry,
			     uint64_t next);

/*
 * Lists directory FILE from POSITION on: 0 at the end of the directory or when TAKE
 * stops.  A position is a number of bytes.  It is odd if a part of the directory
 * before it is unreadable or has impossible names; in this case a call at the end,
 * in which TAKE gets no entry, returns -EUCLEAN or -EIO.
 */
int mountdir_list(struct file *file, struct context *cx, uint64_t position,
		  mountdir_take take, void *arg);

#endif
