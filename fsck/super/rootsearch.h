/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The super roots on a device, newest first: the states that a volume can be
 * opened from. Also the logs of unknown volumes, and the layout that they show.
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
	bool headless;		/* the summary is lost, SS follows from a superblock */
	bool misnumbered;	/* ss_seq is wrong according to a later state */
	uint64_t seq;		/* ss_seq, or that of the previous log if misnumbered */
	uint64_t offset;	/* blocks from the segment start, or as for SEQ */
};

/* All zero at first except for DEV, GEO and CHECK. */
struct rootsearch {
	struct dev *dev;		/* borrowed */
	const struct nilfs_geometry *geo;
	const struct check *check;	/* for progress, in segments; or NULL */

	struct volume *vol;		/* opened without a super root */
	struct root_log *roots;		/* newest first */
	size_t nroots, room;
	uint64_t seq;			/* the greatest of all logs */
	uint64_t last_pseg;		/* of the last log with SEQ */
};

/*
 * For sorting struct root_log: negative if the log at A was written after
 * the one at B. A total order: sequence number, offset in the segment,
 * checkpoint, time, and for logs with equal values the block number.
 */
int rootsearch_compare(const void *a, const void *b);

/* Lists the logs in all segments. -ENOMEM, -EINTR; rootsearch_fini() in any
   case. */
int rootsearch_run(struct rootsearch *rs, struct context *cx);
void rootsearch_fini(struct rootsearch *rs);

/*
 * Adds the log that SB names if no log is at its place but a super root is,
 * which may have been its last block. The next segment is not known then.
 * -ENOMEM.
 */
int rootsearch_add_named(struct rootsearch *rs, struct context *cx,
			 const struct nilfs_super_block *sb);

/* The state of ROOT: 1 with *AT and *HURT, which is set if the checksum of its
   log is wrong; 0 if no volume can be opened from it; or a failure. */
int rootsearch_state(struct rootsearch *rs, struct context *cx,
		     const struct root_log *root, struct recovery *at,
		     bool *hurt);

/*
 * Derives the super root of rs->roots[I] into BLOCK (a block), if the one on
 * the device is invalid: 1 if the checksum of its log proves it, 0 if not or if
 * the super root is valid; -ENOMEM, -EINTR.
 */
int rootsearch_derive(const struct rootsearch *rs, struct context *cx, size_t i,
		      char *block);

/*
 * Searches job->dev for super roots, newest first, and makes number
 * job->state_number (from 0) of those that a volume can be opened from
 * job->state; superblocks like SB then name its log. SB gives the layout of the
 * volume; the log that it names only shows that this log was once complete. 1,
 * 0 if there are fewer states, or a failure.
 */
int fix_root_restore(struct fixer_job *job, struct context *cx,
		     const struct nilfs_super_block *sb);

#define VOLSCAN_VOLUMES 8	/* maximum number of volumes on a device */
#define VOLSCAN_ROOTS 16	/* maximum number of logs with a super root */

/* A log with a super root. */
struct volscan_root {
	uint64_t offset;	/* bytes */
	struct nilfs_segment_summary ss;
};

/* The logs with the same checksum seed: those of one volume. */
struct volscan_volume {
	uint32_t crc_seed;
	uint32_t block_size;	/* bytes */
	uint64_t logs;
	uint64_t newest;	/* the latest ss_create */
	/* The blocks per segment divide this number; 0: not known. */
	uint64_t segment_blocks;
	struct volscan_root roots[VOLSCAN_ROOTS];	/* newest first */
	unsigned int nroots;
};

struct volscan {
	struct volscan_volume volumes[VOLSCAN_VOLUMES];
	unsigned int nvolumes;
	const struct check *check;	/* for progress, in bytes; or NULL */
};

/* Reads all of DEV and adds the logs that it finds to Q, only those with a
   valid ss_datasum. Unreadable blocks are skipped. -ENOMEM, -EINTR. */
int volscan_run(struct volscan *q, struct context *cx, struct dev *dev);

/* s_r_segments_percentage if it is not known: the default of mkfs.nilfs2. */
#define VOLSCAN_RESERVED 5

/*
 * Sets in SB the layout of volume V on DEV, the log of one of its super roots,
 * and fields that follow from these. Fields that no log has, such as the label,
 * keep their value in SB if it is valid. 1, or 0 if no super root of V can be
 * read with any layout; -ENOMEM, -EINTR.
 */
int volscan_super(struct nilfs_super_block *sb, struct context *cx,
		  struct dev *dev, const struct volscan_volume *v);

#endif
