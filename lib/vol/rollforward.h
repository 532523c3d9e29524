/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The data-sync logs after the super root, which a mount would recover.
 *
 * fdatasync() of a file that only got new data, not a new size, writes a log with
 * data blocks only (nilfs_construct_dsync_segment()); so does O_DSYNC.  fsync()
 * makes a checkpoint.  After a crash the kernel writes those blocks into their files
 * again at the next mount.  Here they are only collected, for a preview of the
 * files.
 */
#ifndef NILFS2_VOL_ROLLFORWARD_H
#define NILFS2_VOL_ROLLFORWARD_H

#include <stdint.h>

#include "base/context.h"

struct recovery;
struct volume;

/* One block of a data-sync log that a mount would write into its file. */
struct salvaged_block {
	uint64_t ino;
	uint64_t blkoff;	/* block of the file */
	uint64_t blocknr;	/* block with its new content */
	uint64_t order;		/* later logs have greater numbers */
};

#define ROLLFORWARD_HOLES_MAX 16

/* The blocks that a mount would salvage, by inode and block, without duplicates. */
struct rollforward {
	struct salvaged_block *blocks;
	uint64_t count;

	/* Blocks of damaged logs, by inode and block; and the first blocks of damaged
	   logs whose list is not completely known.  Only salvage_collect() continues
	   after such logs. */
	struct salvaged_block *lost;
	uint64_t nlost;
	uint64_t holes[ROLLFORWARD_HOLES_MAX];
	unsigned int nholes;
};

/*
 * Collects the blocks that nilfs_salvage_orphan_logs() would recover after REC.
 * *RFP is freed with rollforward_free().  -EUCLEAN if the kernel would refuse.
 */
int rollforward_collect(struct volume *vol, struct context *cx,
			const struct recovery *rec, struct rollforward **rfp);

/* Sorts the blocks of RF, and keeps only the newest content of each. */
void rollforward_sort(struct rollforward *rf);
void rollforward_free(struct rollforward *rf);

/*
 * The first salvaged block of inode INO at or after BLKOFF, or NULL.  RF may
 * be NULL.
 */
const struct salvaged_block *
rollforward_find(const struct rollforward *rf, uint64_t ino, uint64_t blkoff);

#endif
