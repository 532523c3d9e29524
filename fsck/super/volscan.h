/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Logs on a device of which nothing is known, and what they show of the volume
 * that they belong to.
 */
#ifndef NILFS2_FSCK_VOLSCAN_H
#define NILFS2_FSCK_VOLSCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "check/check.h"
#include "dev/dev.h"
#include "disk/ondisk.h"

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

/*
 * Reads all of DEV and adds what it finds to Q.  Only logs with a right
 * ss_datasum count; what cannot be read is passed over.  -ENOMEM, -EINTR.
 */
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
