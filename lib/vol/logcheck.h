/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Is there a valid log at this block?
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
 * Reads the summary header at block PSEG into *SS and checks the log as the
 * kernel does when it mounts (nilfs_validate_log): magic, sequence number
 * SEQ, length, checksum over all blocks.  -EUCLEAN with the reason where the
 * log is not valid, -EIO where it cannot be read.
 */
int logcheck_read(struct volume *vol, struct context *cx, uint64_t pseg,
		  uint64_t seq, struct nilfs_segment_summary *ss);

/*
 * The checksum over all blocks of the log at PSEG with header SS, which must
 * lie inside its segment: 0 where it is right, -EUCLEAN, -EIO, -ENOMEM.
 */
int logcheck_payload(struct volume *vol, struct context *cx, uint64_t pseg,
		     const struct nilfs_segment_summary *ss);

/*
 * The same of a log of DEV: 1 where its checksum matches, 0, -EIO, -ENOMEM.
 */
int logcheck_is_right(struct dev *dev, struct context *cx,
		      const struct nilfs_geometry *geo, uint64_t pseg,
		      const struct nilfs_segment_summary *ss);

/*
 * Sums up all blocks of the log at PSEG of DEV with header SS into *CRC, which
 * segsum_crc_check_datasum() compares.  -EIO, -ENOMEM.
 */
int logcheck_sum(struct dev *dev, struct context *cx,
		 const struct nilfs_geometry *geo, uint64_t pseg,
		 const struct nilfs_segment_summary *ss,
		 struct segsum_crc *crc);

#endif
