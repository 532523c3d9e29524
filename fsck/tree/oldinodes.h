/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inodes as older checkpoints have them. */
#ifndef NILFS2_FSCK_OLDINODES_H
#define NILFS2_FSCK_OLDINODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"
#include "fsck/plan/fixers.h"
#include "vol/volume.h"

/* All zero but for VOL: nothing is known yet. */
struct oldinodes {
	struct volume *vol;
	const struct nilfs_inode *now;	/* not this one, or NULL; borrowed */
	uint64_t *cnos;		/* of all checkpoints, ascending */
	size_t n;
	bool listed;
};

/*
 * Copies inode INO from the newest checkpoint before the latest in which it is
 * sound, and sets *CNO: 1, 0 where there is none, or the number was another
 * file's then.  -ENOMEM, -EINTR.
 */
int oldinodes_find(struct oldinodes *o, struct context *cx, uint64_t ino,
		   struct nilfs_inode *inode, uint64_t *cno);

void oldinodes_fini(struct oldinodes *o);

/*
 * Gives INODE, INO of an older checkpoint, the map of NOW, which the newest
 * has, where that is whole and of this file: 1, also where INODE has no map; 0
 * where it keeps its own, which may have ended.  -ENOMEM, -EINTR.
 */
int oldinodes_take_map(struct fixer_job *job, struct context *cx, uint64_t ino,
		       const struct nilfs_inode *now,
		       struct nilfs_inode *inode);

#endif
