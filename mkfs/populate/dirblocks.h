/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The content of a directory: its entries, packed into blocks. */
#ifndef NILFS2_MKFS_DIRBLOCKS_H
#define NILFS2_MKFS_DIRBLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/dirpack.h"

/*
 * All members except the block size are zero at first.  The caller ends the last
 * block with dirpack_end() and frees the data.
 */
struct dirblocks {
	uint32_t block_size;
	uint8_t *data;
	size_t room;		/* bytes allocated */
	size_t nblocks;		/* including the current one */
	struct dirpack pack;	/* the current block */
};

/* Starts directory INO in PARENT, with "." and "..". */
int dirblocks_begin(struct dirblocks *d, struct context *cx, uint64_t ino,
		    uint64_t parent);

/* Adds the entry NAME (LEN bytes, 1 to 255) of TYPE (NILFS_FT_...). */
int dirblocks_add(struct dirblocks *d, struct context *cx, uint64_t ino,
		  uint8_t type, const char *name, uint8_t len);

#endif
