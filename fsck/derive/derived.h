/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Metadata blocks as they must have been: what the log index and the trees of
 * the checkpoints say of them, as patches over the device.
 *
 * A derivation compares each block that it can derive with what the device has
 * and patches those that differ.  Nothing is written: the patched volume is
 * checked first, and then the blocks are written to the next log.
 */
#ifndef NILFS2_FSCK_DERIVED_H
#define NILFS2_FSCK_DERIVED_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "check/check.h"
#include "dev/dev.h"

/* A block of a metadata file that was derived. */
struct derived_block {
	uint64_t blocknr;
	uint64_t ino;
	uint64_t blkoff;
};

struct derived {
	struct dev *dev;	/* read through it: patches, repairs so far */
	struct dev *patched;	/* takes the patches; below DEV */
	struct derived_block *blocks;	/* each once */
	size_t n, room;
	/* Entries of the DAT that are not what they were, and those that no
	   readable log lists. */
	uint64_t entries, lost;
};

/*
 * Block BLOCKNR, which is block BLKOFF of metadata file INO, must have been
 * CONTENT (BLOCK_SIZE bytes).  -ENOMEM.
 */
int derived_set(struct derived *d, struct context *cx,
		const struct derived_block *block, const void *content,
		uint32_t block_size);

/*
 * Patches the checksums of the logs that have derived blocks, so that they are
 * those of logs that are whole: what a mount checks.  To be called once all
 * blocks of a derivation are set, before the volume is opened.  -ENOMEM, -EINTR.
 */
int derived_seal(struct derived *d, struct context *cx,
		 const struct check *c);

/* Forgets the blocks and drops the patches. */
void derived_drop(struct derived *d);

void derived_fini(struct derived *d);

/*
 * Derives the DAT of the volume of C, which is open: places of virtual blocks
 * are those of their newest listings, lives are those of the trees that refer
 * to them, bitmaps and counts follow from the entries.  What a segment with
 * unreadable logs might list is left as it is.  0, -ENOMEM, -EINTR.
 */
int derive_dat(struct derived *d, struct context *cx, struct check *c);

#endif
