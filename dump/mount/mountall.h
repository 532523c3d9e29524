/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a mount of all checkpoints has above them:
 *
 *	N			checkpoint number N
 *	latest			a link to the latest one
 *	snapshots/N		a link to each snapshot
 *	times/2005-06-07T08:09:10Z	a link to each by its time, UTC
 *
 * Of checkpoints of the same second the newest has the name.  Any other time is
 * found in times/ as well, though not listed: the newest checkpoint made before
 * it.
 */
#ifndef NILFS2_DUMP_MOUNTALL_H
#define NILFS2_DUMP_MOUNTALL_H

#include "dump/mount/mountfs.h"

/* Whether NODE of FS is one of them, and no file of a checkpoint. */
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
