/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files above the checkpoints, in a mount of all:
 *
 *	N			checkpoint number N
 *	latest			a link to the latest one
 *	snapshots/N		a link to each snapshot
 *	times/2005-06-07T08:09:10Z	a link to each by its time, UTC
 *
 * A time refers to the newest checkpoint of that second.  Other times, which are not
 * listed, refer to the newest checkpoint before them.
 */
#ifndef NILFS2_DUMP_MOUNTALL_H
#define NILFS2_DUMP_MOUNTALL_H

#include "dump/mount/mountfs.h"

/* Whether NODE of FS is one of them, and not a file of a checkpoint. */
bool mountall_has(const struct mountfs *fs, uint64_t node);

/* As the functions of mountfs.h, for such nodes. */
int mountall_stat(struct mountfs *fs, struct context *cx, uint64_t node,
		  struct stat *st);
int mountall_lookup(struct mountfs *fs, struct context *cx, uint64_t parent,
		    const char *name, uint64_t *node);
int mountall_list(struct mountfs *fs, struct context *cx, uint64_t node,
		  uint64_t position, mountfs_take take, void *arg);
int mountall_readlink(struct mountfs *fs, struct context *cx, uint64_t node,
		      char target[SYMLINK_TARGET_MAX + 1]);

#endif
