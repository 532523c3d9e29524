/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether there is a valid log at a block.
 */
#ifndef NILFS2_VOL_LOGCHECK_H
#define NILFS2_VOL_LOGCHECK_H

#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"

struct dev;
struct nilfs_geometry;
struct segsum_crc;
struct volume;

/*
 * Reads the summary header at block PSEG into *SS and checks the log as the kernel
 * does in a mount (nilfs_validate_log): magic, sequence number SEQ, length, checksum
 * over all blocks.  -EUCLEAN with the reason if the log is not valid, -EIO if it
 * cannot be read.
 */
int logcheck_read(struct volume *vol, struct context *cx, uint64_t pseg,
		  uint64_t seq, struct nilfs_segment_summary *ss);

/*
 * Checks the checksum over all blocks of the log at PSEG with header SS, which must lie
 * inside its segment: 0 if it matches, -EUCLEAN, -EIO, -ENOMEM.
 */
int logcheck_payload(struct volume *vol, struct context *cx, uint64_t pseg,
		     const struct nilfs_segment_summary *ss);

/*
 * The same for a log of DEV: 1 if its checksum matches, 0, -EIO, -ENOMEM.
 */
int logcheck_is_right(struct dev *dev, struct context *cx,
		      const struct nilfs_geometry *geo, uint64_t pseg,
		      const struct nilfs_segment_summary *ss);

/*
 * Sums up all blocks of the log at PSEG of DEV with header SS into *CRC, which
 * segsum_crc_check() compares.  -EIO, -ENOMEM.
 */
int logcheck_sum(struct dev *dev, struct context *cx,
		 const struct nilfs_geometry *geo, uint64_t pseg,
		 const struct nilfs_segment_summary *ss,
		 struct segsum_crc *crc);

#endif
