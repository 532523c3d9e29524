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
 * Takes a free inode number: the one after the last taken, or the first free
 * one after it (nilfs_ifile_create_inode()).
 */
int inodes_alloc(struct writer *w, struct context *cx, uint64_t *ino);

/* Reads inode INO of the new checkpoint.  -ENOENT: not in use. */
int inodes_read(struct writer *w, struct context *cx, uint64_t ino,
		struct nilfs_inode *inode);

/* Writes inode INO, which is allocated. */
int inodes_write(struct writer *w, struct context *cx, uint64_t ino,
		 const struct nilfs_inode *inode);

/* Gives INO back; its blocks were dropped (nilfs_ifile_delete_inode()). */
int inodes_free(struct writer *w, struct context *cx, uint64_t ino);

#endif
