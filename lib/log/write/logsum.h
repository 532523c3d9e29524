/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The checksums of a log, computed in parts. */
#ifndef NILFS2_LOG_LOGSUM_H
#define NILFS2_LOG_LOGSUM_H

#include <stddef.h>
#include <stdint.h>

#include "disk/geometry.h"

/*
 * Enters ss_sumsum into the SUMMARY of NSUMBLK blocks.  Returns the datasum of
 * the summary, which the payload continues.  Follows
 * nilfs_segbuf_fill_in_segsum_crc() and _data_crc().
 */
uint32_t logsum_summary(const struct nilfs_geometry *g, void *summary,
			uint32_t nsumblk);

/* Continues SUM by BYTES whose sum from seed 0 is PART. */
uint32_t logsum_join(uint32_t sum, uint32_t part, size_t bytes);

/* A digest of 128 bits over many blocks in any order. */
struct logsum_digest {
	uint64_t words[2];	/* atomic */
};

/*
 * Adds COUNT blocks at BLOCKNR to D, from any thread and in any order.  Other
 * blocks, or the same ones elsewhere, have another digest with a probability of
 * 1 - 2^-120, but it is not safe against deliberate collisions.
 */
void logsum_digest(struct logsum_digest *d, uint64_t blocknr, const void *buf,
		   uint32_t count, uint32_t block_bits);

#endif
