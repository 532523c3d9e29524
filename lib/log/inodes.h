/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inodes of the new checkpoint: its ifile.
 */
#ifndef NILFS2_LOG_INODES_H
#define NILFS2_LOG_INODES_H

#include <stdint.h>

#include "disk/ondisk.h"
#include "log/writer.h"

/*
 * Allocates an inode number: the first free one after the last allocation
 * (nilfs_ifile_create_inode()).
 */
int inodes_alloc(struct writer *w, struct context *cx, uint64_t *ino);

/* Reads inode INO of the new checkpoint.  -ENOENT: not in use. */
int inodes_read(struct writer *w, struct context *cx, uint64_t ino,
		struct nilfs_inode *inode);

/* Writes inode INO, which is allocated. */
int inodes_write(struct writer *w, struct context *cx, uint64_t ino,
		 const struct nilfs_inode *inode);

/* Frees inode INO, whose blocks were dropped (nilfs_ifile_delete_inode()). */
int inodes_free(struct writer *w, struct context *cx, uint64_t ino);

#endif
