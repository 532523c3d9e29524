/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The super roots on a device, newest first: the states from which a volume
 * can be opened again.  And the logs on one of which nothing is known, and
 * what they show of the volume that they belong to.
 */
#ifndef NILFS2_FSCK_ROOTSEARCH_H
#define NILFS2_FSCK_ROOTSEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"
#include "disk/geometry.h"
#include "disk/ondisk.h"
#include "fsck/plan/fixers.h"
#include "vol/recovery.h"
#include "vol/volume.h"

/* A log with a super root. */
struct root_log {
	uint64_t pseg;
	struct nilfs_segment_summary ss;
	bool headless;		/* SS follows from a superblock: it is lost */
	bool misnumbered;	/* ss_seq is wrong, as a later state shows */
	uint64_t seq;		/* ss_seq, or that of the log it comes after */
	uint64_t offset;	/* in blocks in its segment, or as SEQ */
};

/* All zero but for DEV, GEO and CHECK in the beginning. */
struct rootsearch {
	struct dev *dev;		/* borrowed */
	const struct nilfs_geometry *geo;
	const struct check *check;	/* its progress, in segments; or NULL */

	struct volume *vol;		/* without super root */
	struct root_log *roots;		/* newest first */
	size_t nroots, room;
	uint64_t seq;			/* the greatest of any log */
	uint64_t last_pseg;		/* of the last log with that */
};

/*
 * For qsort() of struct root_log: negative where the log at A was written after
 * the one at B.  A total order: sequence number, offset in the segment,
 * checkpoint, time, and for logs that are the same in all of these the block.
 */
int rootsearch_compare(const void *a, const void *b);

/* Lists the logs in all segments.  -ENOMEM, -EINTR; rootsearch_fini() then. */
int rootsearch_run(struct rootsearch *rs, struct context *cx);
void rootsearch_fini(struct rootsearch *rs);

/* Adds the log that SB names where there is none with that place, but a super
   root that may have been its last block.  The segment that follows it is not
   known then.  -ENOMEM. */
int rootsearch_add_named(struct rootsearch *rs, struct context *cx,
			 const struct nilfs_super_block *sb);

/* The state of ROOT: 1, *AT, and whether the checksum of its log is *HURT; 0
   where no volume can be opened from it; or a failure. */
int rootsearch_state(struct rootsearch *rs, struct context *cx,
		     const struct root_log *root, struct recovery *at,
		     bool *hurt);

/*
 * What block rs->roots[I] has for a super root must have been, in BLOCK (a
 * block), where the one on the device is none: 1 if the checksum of its log
 * proves it, 0 where it does not or the super root is right; -ENOMEM, -EINTR.
 */
int rootsearch_derive(const struct rootsearch *rs, struct context *cx, size_t i,
		      char *block);

/*
 * Looks for super roots on job->dev, newest first, and makes number
 * job->state_number of those from which a volume can be opened, from 0,
 * job->state; superblocks like SB name its log.  SB says what the volume is;
 * the log that it names matters only in so far as it was complete once.  1, 0
 * where there are not so many, or a failure.
 */
int fix_root_restore(struct fixer_job *job, struct context *cx,
		     const struct nilfs_super_block *sb);

#define VOLSCAN_VOLUMES 8	/* that may have left logs on a device */
#define VOLSCAN_ROOTS 16	/* logs with a super root that are kept */

/* A log with a super root. */
struct volscan_root {
	uint64_t offset;	/* bytes */
	struct nilfs_segment_summary ss;
};

/* The logs that have a checksum seed in common: those of one volume. */
struct volscan_volume {
	uint32_t crc_seed;
	uint32_t block_size;	/* bytes */
	uint64_t logs;
	uint64_t newest;	/* the latest ss_create */
	/* Blocks per segment are a divisor of this one; 0: not known. */
	uint64_t segment_blocks;
	struct volscan_root roots[VOLSCAN_ROOTS];	/* newest first */
	unsigned int nroots;
};

struct volscan {
	struct volscan_volume volumes[VOLSCAN_VOLUMES];
	unsigned int nvolumes;
	const struct check *check;	/* its progress, in bytes; or NULL */
};

/* Reads all of DEV and adds what it finds to Q.  Only logs with a right
   ss_datasum count; what cannot be read is passed over.  -ENOMEM, -EINTR. */
int volscan_run(struct volscan *q, struct context *cx, struct dev *dev);

/* s_r_segments_percentage where it is not known: that of mkfs.nilfs2. */
#define VOLSCAN_RESERVED 5

/*
 * Sets in SB the layout of volume V on DEV, the log of one of its super roots,
 * and what follows from that; what no log has, such as the label, keeps the
 * value that SB has, if that is one that can be.  1, or 0 where no super root
 * of V can be read with any layout; -ENOMEM, -EINTR.
 */
int volscan_super(struct nilfs_super_block *sb, struct context *cx,
		  struct dev *dev, const struct volscan_volume *v);

#endif
