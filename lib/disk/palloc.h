/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The layout of a file of the persistent allocator (DAT, ifile). */
#ifndef NILFS2_DISK_PALLOC_H
#define NILFS2_DISK_PALLOC_H

#include <stdbool.h>
#include <stdint.h>

#include "disk/ondisk.h"
#include "disk/rule.h"

/* The parameters of one file; may be copied. */
struct palloc {
	uint32_t block_size;
	uint32_t entry_size;
	uint32_t entries_per_block;
	uint32_t entries_per_group;	/* bits of a bitmap block */
	uint32_t blocks_per_group;	/* its bitmap block and entry blocks */
	uint32_t groups_per_desc;	/* groups of a descriptor block */
	uint64_t blocks_per_desc;	/* these and the descriptor block */
	/* log2 of the number of entries per group and of groups per descriptor block. */
	unsigned int group_bits, desc_bits;
};

/*
 * Sets up P for entries of ENTRY_SIZE bytes (1 ... BLOCK_SIZE), as found in a
 * geometry: nilfs_palloc_init_blockgroup().
 */
void palloc_init(struct palloc *p, uint32_t block_size, uint32_t entry_size);

/* Group of entry NR, and the index of the entry in the group. */
uint64_t palloc_group(const struct palloc *p, uint64_t nr);
uint32_t palloc_group_offset(const struct palloc *p, uint64_t nr);

/* Block (offset in the file) of the descriptor of GROUP, and its offset there. */
uint64_t palloc_desc_blkoff(const struct palloc *p, uint64_t group);
uint32_t palloc_desc_offset(const struct palloc *p, uint64_t group);

/* Block of the bitmap of GROUP. */
uint64_t palloc_bitmap_blkoff(const struct palloc *p, uint64_t group);

/* Block of entry NR, and its offset there. */
uint64_t palloc_entry_blkoff(const struct palloc *p, uint64_t nr);
uint32_t palloc_entry_offset(const struct palloc *p, uint64_t nr);

enum palloc_kind {
	PALLOC_DESC,
	PALLOC_BITMAP,
	PALLOC_ENTRIES,
};

/* The content of one block of the file. */
struct palloc_block {
	enum palloc_kind kind;
	uint64_t group;		/* of a descriptor block: the first one */
	uint64_t first;		/* first entry that it describes or holds */
	uint64_t count;		/* entries that it describes or holds */
};

/* The content of block BLKOFF of the file: the reverse of all the above. */
void palloc_locate(const struct palloc *p, uint64_t blkoff,
		   struct palloc_block *block);

/*
 * False if BLKOFF lies beyond the last group whose entries have numbers:
 * nilfs_palloc_groups_count().  The result of palloc_locate() for such a block is
 * meaningless.
 */
bool palloc_has_block(const struct palloc *p, uint64_t blkoff);

/* True if bit OFFSET (< entries_per_group) of a bitmap block is set. */
static inline bool palloc_bit(const void *bitmap, uint32_t offset)
{
	return ((const uint8_t *)bitmap)[offset / 8] >> (offset % 8) & 1;
}

/* Set bits of a bitmap block, that is entries in use. */
uint32_t palloc_count(const struct palloc *p, const void *bitmap);

/* Set bits from bit FIRST on, below bit END (<= entries_per_group). */
uint32_t palloc_count_range(const void *bitmap, uint32_t first, uint32_t end);

/* Checks whether the count of a descriptor is possible. */
enum rule palloc_check_desc(const struct palloc *p,
			    const struct nilfs_palloc_group_desc *desc);

#endif
