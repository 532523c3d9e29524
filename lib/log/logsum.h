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

/* A number of 128 bits that stands for many blocks, however they came. */
struct logsum_digest {
	uint64_t words[2];	/* atomic */
};

/*
 * Adds COUNT blocks at BLOCKNR to D, from any thread and in any order.  The
 * digests of other blocks, or of the same ones elsewhere, are others, but for
 * a chance of 2^-120; whoever looks for two that are the same may find them.
 */
void logsum_digest(struct logsum_digest *d, uint64_t blocknr, const void *buf,
		   uint32_t count, uint32_t block_bits);

#endif
