/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What type directory entries say that inodes have. */
#ifndef NILFS2_FSCK_NAMETYPES_H
#define NILFS2_FSCK_NAMETYPES_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "vol/volume.h"

struct nametype {
	uint64_t ino;
	uint8_t type;	/* NILFS_FT_UNKNOWN: no entry names it */
};

/*
 * Sets the types of the N inodes at TYPES, ascending by number, to what the
 * entries of the latest checkpoint say that can be read.  -ENOMEM, -EINTR.
 */
int nametypes_find(struct nametype *types, size_t n, struct context *cx,
		   struct volume *vol);

/* The type of INO, NILFS_FT_UNKNOWN if it is not among them. */
uint8_t nametypes_of(const struct nametype *types, size_t n, uint64_t ino);

#endif
