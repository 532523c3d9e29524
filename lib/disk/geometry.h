/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The geometry: the numbers of a superblock that determine the place of everything
 * else.  They are checked once, and not again by users.
 */
#ifndef NILFS2_DISK_GEOMETRY_H
#define NILFS2_DISK_GEOMETRY_H

#include <stdbool.h>
#include <stdint.h>

struct nilfs_geometry {
	uint32_t block_size;		/* bytes, 1024 ... 65536 */
	uint32_t block_bits;		/* log2 of block_size */
	uint32_t blocks_per_segment;
	uint32_t inode_size;		/* bytes */
	uint32_t dat_entry_size;	/* bytes */
	uint32_t checkpoint_size;	/* bytes */
	uint32_t segment_usage_size;	/* bytes */
	uint32_t crc_seed;
	uint32_t first_ino;		/* first inode number of users */
	uint64_t first_data_block;	/* first block of segment 0 */
	uint64_t nsegments;
	uint64_t nblocks;		/* whole blocks of the device */
	bool has_live_blks;		/* segment usages count live blocks */
};

/* Whether structures have the same places and sizes in A and B. */
static inline bool geometry_is_same(const struct nilfs_geometry *a,
				    const struct nilfs_geometry *b)
{
	return a->block_size == b->block_size &&
	       a->block_bits == b->block_bits &&
	       a->blocks_per_segment == b->blocks_per_segment &&
	       a->inode_size == b->inode_size &&
	       a->dat_entry_size == b->dat_entry_size &&
	       a->checkpoint_size == b->checkpoint_size &&
	       a->segment_usage_size == b->segment_usage_size &&
	       a->crc_seed == b->crc_seed &&
	       a->first_data_block == b->first_data_block &&
	       a->nsegments == b->nsegments && a->nblocks == b->nblocks &&
	       a->has_live_blks == b->has_live_blks;
}

/* Number of the segment that holds BLOCKNR; may be >= nsegments. */
static inline uint64_t geometry_segment_of(const struct nilfs_geometry *g,
					   uint64_t blocknr)
{
	return blocknr / g->blocks_per_segment;
}

/*
 * First block of segment SEGNUM (< nsegments), and one past its last block.  Follows
 * nilfs_get_segment_range(), which returns the last block instead.
 */
static inline uint64_t geometry_segment_start(const struct nilfs_geometry *g,
					      uint64_t segnum)
{
	return segnum ? segnum * g->blocks_per_segment : g->first_data_block;
}

static inline uint64_t geometry_segment_end(const struct nilfs_geometry *g,
					    uint64_t segnum)
{
	return (segnum + 1) * g->blocks_per_segment;
}

/* True if BLOCKNR lies in a segment. */
static inline bool geometry_has_block(const struct nilfs_geometry *g,
				      uint64_t blocknr)
{
	return blocknr >= g->first_data_block &&
	       geometry_segment_of(g, blocknr) < g->nsegments;
}

#endif
