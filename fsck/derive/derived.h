/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Derived metadata blocks: their content by the listings of the logs and the
 * trees of the checkpoints, as patches over the device.  The patched volume is
 * checked first, and then the blocks are written to the next log.
 */
#ifndef NILFS2_FSCK_DERIVED_H
#define NILFS2_FSCK_DERIVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "check/check.h"
#include "dev/dev.h"
#include "fsck/plan/fixers.h"

/* A block that was derived. */
struct derived_block {
	uint64_t blocknr;	/* first: they are sorted by it */
	uint64_t ino;
	uint64_t blkoff;	/* of a node the first block below it */
	uint64_t pseg;		/* of the log that has it, once sealed; or 0 */
	uint64_t map_of;	/* inode in it whose map was derived, or 0 */
	uint8_t level;		/* of a node of a file, 0: data */
	bool plausible;		/* what it was may be right and the DAT wrong */
	/* The checksum of its log matches with it: this is what was written
	   there, but for a chance of 1 in 2^32; and it can be written there. */
	bool proven;
	bool seals;	/* else its log gets the checksum of what is in it */
	/* Its log is one of this repair: it was written there. */
	bool written;
};

/* A log that has derived blocks. */
struct derived_log {
	uint64_t pseg;
	le32 datasum;		/* before it was patched */
};

struct derived {
	struct dev *dev;	/* read through it: patches, repairs so far */
	struct dev *patched;	/* takes the patches; below DEV */
	struct dev *under;	/* without these, and as before the repair */
	struct derived_block *blocks;	/* each once */
	size_t n, room;
	struct derived_log *logs;
	size_t nlogs, logs_room;
	/* Entries of the DAT that are not what they were, and those that no
	   readable log lists. */
	uint64_t entries, lost;
	uint64_t ended;		/* of ENTRIES: only their ends were wrong */
	/* The map of the DAT led to an older version of a block, or does not
	   have one that is needed: it is an older version itself. */
	bool dat_stale;
};

/*
 * Block BLOCKNR, which is block BLKOFF of metadata file INO, must have been
 * CONTENT (BLOCK_SIZE bytes).  -ENOMEM.
 */
int derived_set(struct derived *d, struct context *cx,
		const struct derived_block *block, const void *content,
		uint32_t block_size);

/*
 * Patches the checksums of the logs that have derived blocks, for a mount;
 * blocks with which the checksum matches as it was are proven.  Once all blocks
 * of a derivation are set, before the volume is opened.  -ENOMEM, -EINTR.
 */
int derived_seal(struct derived *d, struct context *cx,
		 const struct check *c);

/*
 * Writes the blocks that are proven, those of files in logs that are no more,
 * and with ANY all that some log has, to their places on d->dev, and forgets
 * them.  An I/O error.
 */
int derived_write(struct derived *d, struct context *cx,
		  const struct nilfs_geometry *g, bool any);

/* Forgets the blocks and drops the patches. */
void derived_drop(struct derived *d);

void derived_fini(struct derived *d);

/*
 * Derives the DAT of the volume of C, which is open: places of virtual blocks
 * are those of their newest listings, lives are those of the trees that refer
 * to them, bitmaps and counts follow from the entries.  What a segment with
 * unreadable logs might list is left as it is.  PLAN has those whose lives
 * pointers to them contradict.  0, -ENOMEM, -EINTR.
 */
int derive_dat(struct derived *d, struct context *cx, struct check *c,
	       const struct plan *plan);

/*
 * Derives nodes and roots of the maps of files and ifiles, in all checkpoints,
 * where findings in PLAN may come of them.  What the logs list and the DAT has
 * alive is what there was.  0, -ENOMEM, -EINTR.
 */
int derive_nodes(struct derived *d, struct context *cx, const struct check *c,
		 const struct plan *plan);

#endif
