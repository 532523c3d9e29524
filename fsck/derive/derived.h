/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Derived metadata blocks: their content follows from the listings of the logs
 * and the trees of the checkpoints, and is a patch over the device. The patched
 * volume is checked first; then the blocks are written to the next log.
 */
#ifndef NILFS2_FSCK_DERIVED_H
#define NILFS2_FSCK_DERIVED_H

#include "fsck/plan/fixers.h"

/* A derived block. */
struct derived_block {
	uint64_t blocknr;	/* first: the sort key */
	uint64_t ino;
	uint64_t blkoff;	/* for a node the first file block below it */
	uint64_t pseg;		/* the log that contains it, once sealed; or 0 */
	uint64_t map_of;	/* inode in the block whose map was derived, or 0 */
	uint8_t level;		/* level of a file node, 0: data */
	bool plausible;		/* the old content may be correct and the DAT wrong */
	/* The checksum of its log matches with it, so it is the written content
	   except for a chance of 1 in 2^32, and can be written in place. */
	bool proven;
	bool seals;	/* its log gets the checksum of its content */
	/* Its log is one of this repair: the block was overwritten there. */
	bool written;
};

/* A log that has derived blocks. */
struct derived_log {
	uint64_t pseg;
	le32 datasum;		/* its checksum before the patches */
};

struct derived {
	struct dev *dev;	/* for reads: patches, repairs so far */
	struct dev *patched;	/* has the patches; below DEV */
	struct dev *under;	/* the device before the repair */
	struct derived_block *blocks;	/* each once */
	size_t n, room;
	struct derived_log *logs;
	size_t nlogs, logs_room;
	/* The number of changed entries of the DAT, and of entries that no
	   readable log lists. */
	uint64_t entries, lost;
	uint64_t ended;		/* entries with only a wrong end, included in ENTRIES */
	/* The map of the DAT led to an older version of a block, or lacks a
	   block that is needed: the map is an older version itself. */
	bool dat_stale;
	/* Sum of all changes, in any order: the same for the same changes of the
	   same blocks of files, wherever the blocks are. */
	uint64_t digest;
	/* Where an entry and a readable log differ in the block at a place, the
	   entry is wrong, and its block is lost; otherwise the log may be. */
	bool trusts_logs;
};

/* Adds BLOCK, whose derived content is CONTENT (BLOCK_SIZE bytes). -ENOMEM. */
int derived_set(struct derived *d, struct context *cx,
		const struct derived_block *block, const void *content,
		uint32_t block_size);

/*
 * Patches the checksums of the logs that have derived blocks, for a mount.
 * Blocks with which the former checksum matches are proven. Called once all
 * blocks of a derivation are set, before the volume is opened. -ENOMEM, -EINTR.
 */
int derived_seal(struct derived *d, struct context *cx,
		 const struct check *c);

/*
 * Writes the proven blocks and those of files in logs that no longer exist,
 * with ANY all blocks that a log has, in place on d->dev, and removes them from
 * the list. An I/O error.
 */
int derived_write(struct derived *d, struct context *cx,
		  const struct nilfs_geometry *g, bool any);

/* Drops the blocks and the patches. */
void derived_drop(struct derived *d);

void derived_fini(struct derived *d);

/*
 * Derives the DAT of the volume of C, which is open: places of virtual blocks
 * from their newest listings, lifetimes from the trees that refer to them,
 * bitmaps and counts from the entries. Entries in segments with unreadable logs
 * stay unchanged. PLAN has the entries whose lifetimes pointers contradict. 0,
 * -ENOMEM, -EINTR.
 */
int derive_dat(struct derived *d, struct context *cx, struct check *c,
	       const struct plan *plan);

/*
 * Derives nodes and roots of the maps of files and ifiles, in all checkpoints,
 * if findings in PLAN may result from them. The content follows from blocks
 * that the logs list and that are live in the DAT. 0, -ENOMEM, -EINTR.
 */
int derive_nodes(struct derived *d, struct context *cx, const struct check *c,
		 const struct plan *plan);

#endif
