/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From an inode number to a path that leads to it. */
#ifndef NILFS2_VOL_PATHNAME_H
#define NILFS2_VOL_PATHNAME_H

#include <stdint.h>

#include "base/context.h"
#include "vol/root.h"

/*
 * Finds the first path to INO in ROOT, level by level, and sets *PATH, to be
 * freed with pathname_free(); NULL after a failure.  Directories that cannot
 * be read are passed over.  -ENOENT where no path leads there, -ENOMEM past the
 * memory budget, -EINTR.
 */
int pathname_find(struct root *root, struct context *cx, uint64_t ino,
		  char **path);
void pathname_free(char *path);

#endif
