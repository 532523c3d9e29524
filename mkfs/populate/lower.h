/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The layer below: the names of its directories. */
#ifndef NILFS2_MKFS_LOWER_H
#define NILFS2_MKFS_LOWER_H

#include <stddef.h>
#include <stdint.h>

#include "disk/ondisk.h"
#include "mkfs/populate/populate.h"
#include "vol/volume.h"

struct lower;

/* A directory as the layer below has it, without "." and "..". */
struct lower_dir {
	uint64_t ino;
	uint64_t age;			/* time of the last use */
	struct populate_name *names;	/* in the order of the directory */
	size_t n, room;
	uint32_t *index;		/* of names by hash, plus 1 */
	size_t index_room;		/* a power of two */
	char *text;			/* what the names point into */
	size_t text_used, text_room;
};

/* The latest checkpoint of VOL (borrowed); NULL for VOL NULL. */
int lower_open(struct lower **lp, struct context *cx, struct volume *vol);
void lower_close(struct lower *l);	/* NULL is accepted */

/*
 * Inode INO in the layer below: 1, or 0 if there is none (always for L NULL).
 */
int lower_inode(struct lower *l, struct context *cx, uint64_t ino,
		struct nilfs_inode *inode);

/*
 * Directory INO: 1 and *DIR, which is valid until the next call, or 0 where
 * the layer below has no such directory (always for L NULL).
 */
int lower_directory(struct lower *l, struct context *cx, uint64_t ino,
		    const struct lower_dir **dir);

/* NAME (LEN bytes) of DIR, or NULL. */
const struct populate_name *lower_find(const struct lower_dir *dir,
				       const char *name, size_t len);

#endif
