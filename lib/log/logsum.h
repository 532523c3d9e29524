/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The checksums of a log that is put together from parts. */
#ifndef NILFS2_LOG_LOGSUM_H
#define NILFS2_LOG_LOGSUM_H

#include <stddef.h>
#include <stdint.h>

#include "disk/geometry.h"

/*
 * Enters ss_sumsum into the SUMMARY of NSUMBLK blocks.  Returns the datasum
 * as far as the summary goes, which the payload continues.  Follows
 * nilfs_segbuf_fill_in_segsum_crc() and _data_crc().
 */
uint32_t logsum_summary(const struct nilfs_geometry *g, void *summary,
			uint32_t nsumblk);

/* The sum so far, continued by BYTES whose sum from seed 0 is PART. */
uint32_t logsum_join(uint32_t sum, uint32_t part, size_t bytes);

/*
 * What log number NUMBER at BLOCKNR adds to a digest of logs.  The terms may
 * be added up in any order.
 */
uint32_t logsum_digest(uint64_t number, uint64_t blocknr, uint32_t datasum);

#endif
