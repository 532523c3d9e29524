/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A directory block that is being filled. */
#ifndef NILFS2_DISK_DIRPACK_H
#define NILFS2_DISK_DIRPACK_H

#include <stdbool.h>
#include <stdint.h>

struct dirpack {
	uint8_t *block;		/* borrowed */
	uint32_t block_size;
	uint32_t used;		/* bytes */
	uint32_t last;		/* offset of the last entry */
};

/* Clears BLOCK, BLOCK_SIZE bytes, and begins to fill it. */
void dirpack_init(struct dirpack *p, void *block, uint32_t block_size);

/*
 * Adds the entry NAME (LEN bytes, 1 to 255) of TYPE (NILFS_FT_...); false if there
 * is no room.
 */
bool dirpack_add(struct dirpack *p, uint64_t ino, uint8_t type,
		 const char *name, uint8_t len);

/*
 * Extends the last entry to byte AT, or adds an unused one if there is none yet.  No
 * effect if the block is filled beyond that.
 */
void dirpack_skip(struct dirpack *p, uint32_t at);

/* Completes the block; it may be without entries. */
void dirpack_end(struct dirpack *p);

/*
 * Adds an entry to BLOCK, which is complete, like nilfs_add_link(): in the first
 * place with sufficient unused room; false if there is none.
 */
bool dirpack_insert(void *block, uint32_t block_size, uint64_t ino,
		    uint8_t type, const char *name, uint8_t len);

#endif
