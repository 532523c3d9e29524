/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inodes of the newest checkpoint, changed in their place. */
#ifndef NILFS2_FSCK_INODEEDIT_H
#define NILFS2_FSCK_INODEEDIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"
#include "disk/palloc.h"
#include "log/meta/metafile.h"

struct inodeedit {
	struct metafile *ifile;		/* borrowed */
	const struct palloc *palloc;	/* borrowed */
	int64_t more;		/* inodes in use than before */
	bool bits;		/* any bit was changed: repairwriter_changed() is due */
};

/* Copies inode INO: 1, 0 (and zeros) where its block is missing. */
int inodeedit_read(const struct inodeedit *e, struct context *cx,
		   uint64_t ino, struct nilfs_inode *inode);

int inodeedit_write(struct inodeedit *e, struct context *cx, uint64_t ino,
		    const struct nilfs_inode *inode);

/* Whether INO is marked in use: 1, 0, or a failure. */
int inodeedit_is_used(const struct inodeedit *e, struct context *cx,
		      uint64_t ino);

/* Marks INO in use, or free; and counts it, unless it is a reserved one. */
int inodeedit_mark(struct inodeedit *e, struct context *cx, uint64_t ino,
		   bool used);

/* Clears INO and marks it free.  Its blocks leak. */
int inodeedit_clear(struct inodeedit *e, struct context *cx, uint64_t ino);

#endif
