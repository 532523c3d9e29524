/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The content of a directory: its entries, packed into blocks. */
#ifndef NILFS2_MKFS_DIRBLOCKS_H
#define NILFS2_MKFS_DIRBLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/dirpack.h"

/*
 * All but the block size is zero at first.  The user ends the last block by
 * dirpack_end() and frees the data.
 */
struct dirblocks {
	uint32_t block_size;
	uint8_t *data;
	size_t room;		/* bytes allocated */
	size_t nblocks;		/* the one being filled included */
	struct dirpack pack;	/* that one */
};

/* Starts directory INO in PARENT, with "." and "..". */
int dirblocks_begin(struct dirblocks *d, struct context *cx, uint64_t ino,
		    uint64_t parent);

/* Adds the entry NAME (LEN bytes, 1 to 255) of TYPE (NILFS_FT_...). */
int dirblocks_add(struct dirblocks *d, struct context *cx, uint64_t ino,
		  uint8_t type, const char *name, uint8_t len);

#endif
