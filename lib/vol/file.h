/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file of the volume: an inode and its block map, read by block.
 *
 * Metadata files are read block by block through the cache; the payload of user
 * files is read by extents (extent.h), bypassing the cache.
 */
#ifndef NILFS2_VOL_FILE_H
#define NILFS2_VOL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"
#include "vol/blockmap.h"

struct volume;
struct extent;
struct palloc;

/* Consecutive lookups mostly need the same few blocks: a small direct-mapped cache. */
#define FILE_MEMO_SLOTS 32

struct file {
	struct volume *vol;
	uint64_t ino;
	struct nilfs_inode inode;	/* as on the disk */
	struct blockmap map;
	/* The extents of its blocks, ascending and borrowed, used in place of the map;
	   NULL: use the map. */
	const struct extent *extents;
	size_t nextents;
	uint32_t memo_filled;	/* a bit per slot; the others are not set */
	struct {
		uint64_t blkoff;
		uint64_t blocknr;	/* 0 = hole */
	} memo[FILE_MEMO_SLOTS];
};

/*
 * Initializes file INO with raw inode INODE.  Reads nothing, allocates nothing.
 * -EUCLEAN for a damaged map root.
 */
int file_init(struct file *file, struct context *cx, struct volume *vol,
	      uint64_t ino, const struct nilfs_inode *inode);

/*
 * Finds the disk block of file block BLKOFF: 1 and *BLOCKNR, 0 for a hole, -EUCLEAN or
 * -EIO.  Salvaged blocks of a roll-forward preview take precedence.
 */
int file_lookup(struct file *file, struct context *cx, uint64_t blkoff,
		uint64_t *blocknr);

/*
 * Borrows the content of file block BLKOFF from the volume's cache: 1 and *DATA, to be
 * released with file_put(), 0 for a hole.
 */
int file_block(struct file *file, struct context *cx, uint64_t blkoff,
	       const void **data);
void file_put(struct file *file, const void *data);

/* Copies LEN bytes at OFFSET of that block, all within it: 1, 0 for a hole. */
int file_copy(struct file *file, struct context *cx, uint64_t blkoff,
	      uint64_t offset, void *to, size_t len);

/*
 * Reads whether entry NUMBER of the file, with the layout P, is marked as in use: 1 and
 * *USED, 0 if the file has no such bitmap, -EUCLEAN, -EIO.
 */
int file_bit(struct file *file, struct context *cx, const struct palloc *p,
	     uint64_t number, bool *used);

/*
 * Whether the number of marked entries of GROUP matches its descriptor.  A block that
 * cannot be read has no marked entries.
 */
bool file_is_counted(struct file *file, struct context *cx,
		     const struct palloc *p, uint64_t group);

/*
 * Reads ahead COUNT blocks from BLKOFF on, at most FILE_READAHEAD_MAX: those
 * not in the cache are read into it, in the order of the disk.  Failures are
 * ignored; a later read reports them.
 */
#define FILE_READAHEAD_MAX 64
void file_readahead(struct file *file, struct context *cx, uint64_t blkoff,
		    unsigned int count);

#endif
