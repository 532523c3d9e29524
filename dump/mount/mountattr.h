/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The extended attributes of the files of a mount: user.nilfs2.checkpoint,
 * user.nilfs2.inode, user.nilfs2.segments.
 */
#ifndef NILFS2_DUMP_MOUNTATTR_H
#define NILFS2_DUMP_MOUNTATTR_H

#include "dump/mount/mountfs.h"

/*
 * The names of the attributes of NODE, each with a NUL: *LIST, LEN bytes.  Fails as
 * mountfs_stat().
 */
int mountattr_list(struct mountfs *fs, struct context *cx, uint64_t node,
		   const char **list, size_t *len);

/*
 * The value of attribute NAME in *VALUE (to be freed, NULL after a failure) and
 * *LEN.  -ENODATA if there is no such attribute.
 */
int mountattr_get(struct mountfs *fs, struct context *cx, uint64_t node,
		  const char *name, char **value, size_t *len);

#endif
