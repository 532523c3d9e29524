// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Checksums of logs.
 *
 * Both checksums of a log are in its summary; the second covers the first and
 * the payload.  A checksum without inversion is linear: that of two parts is
 * that of the first followed by zeros, combined by exclusive or with that of
 * the second from seed 0.  So a part can be summed before the parts before it.
 */
#include "log/write/logsum.h"

#include "base/crc.h"
#include "base/uuidtext.h"
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

/* Arithmetic sums: with exclusive or, two equal blocks would cancel out. */
void logsum_digest(struct logsum_digest *d, uint64_t blocknr, const void *buf,
		   uint32_t count, uint32_t block_bits)
{
	const uint8_t *p = buf;
	uint32_t i;

	for (i = 0; i < count; i++, p += (size_t)1 << block_bits) {
		le64 place[2] = { le64_make(blocknr + i) };
		le64 hash[2];

		uuidtext_of((uint8_t *)place, p, (size_t)1 << block_bits,
			    (uint8_t *)hash);
		__atomic_fetch_add(&d->words[0], le64_get(hash[0]),
				   __ATOMIC_RELAXED);
		__atomic_fetch_add(&d->words[1], le64_get(hash[1]),
				   __ATOMIC_RELAXED);
	}
}
