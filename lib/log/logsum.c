// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Sums of logs.
 *
 * Both checksums of a log stand in its summary, the second covers the first
 * and the payload.  A checksum without inversion is linear: that of two parts
 * is that of the first followed by zeros, combined by exclusive or with that
 * of the second from seed 0.  So parts can be summed before it is known what
 * comes before them.
 */
#include "log/logsum.h"

#include "base/crc.h"
#include "disk/ondisk.h"

uint32_t logsum_summary(const struct nilfs_geometry *g, void *summary,
			uint32_t nsumblk)
{
	struct nilfs_segment_summary *ss = summary;
	const uint8_t *p = summary;
	size_t bytes = (size_t)nsumblk << g->block_bits;
	size_t from = offsetof(struct nilfs_segment_summary, ss_magic);

	ss->ss_sumsum = le32_make(crc32_le(g->crc_seed, p + from,
					   le32_get(ss->ss_sumbytes) - from));
	from = offsetof(struct nilfs_segment_summary, ss_sumsum);
	return crc32_le(g->crc_seed, p + from, bytes - from);
}

uint32_t logsum_join(uint32_t sum, uint32_t part, size_t bytes)
{
	return crc32_le_zeros(sum, bytes) ^ part;
}

uint32_t logsum_digest(uint64_t number, uint64_t blocknr, uint32_t datasum)
{
	struct {
		le64 number, blocknr;
		le32 datasum;
	} log = {
		le64_make(number),
		le64_make(blocknr),
		le32_make(datasum),
	};

	/*
	 * For a sum in the arithmetic sense: joined by exclusive or, these
	 * terms would not tell two logs that have changed places.
	 */
	return crc32_le(~0u, &log, sizeof(log));
}
