// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Flipped bits of a log, found by its checksums.
 *
 * A log has up to three sums: ss_sumsum over its summary, ss_datasum over all
 * its blocks, sr_sum over the super root.  If one bit of the log was flipped,
 * the sums that cover it identify it (base/crc.h), and agree.  The header
 * is checked first, because it contains the length that the sums cover.  Its
 * own sum identifies any of its bits except those of ss_sumbytes, which are
 * tried one by one.
 *
 * Bits that were found are kept in a list and corrected in all data that is
 * read, so that the device stays unchanged and the next sum is taken of
 * corrected data.  The data passes through one buffer; nothing else of a log is
 * kept.
 */
#include "check/logs/logbits.h"

#include <stdlib.h>

#include "base/crc.h"
#include "check/damage.h"
#include "disk/segsum.h"
#include "disk/superroot.h"

#define PIECE_BYTES (512u << 10)
#define PIECE_ALIGN 4096

#define AT(field) offsetof(struct nilfs_segment_summary, field)
#define SR_SUM_END sizeof(le32)

int logbits_read(const struct logbits *lb, struct context *cx, uint64_t off,
		 void *buf, size_t len)
{
	uint8_t *p = buf;
	unsigned int i;
	int err = dev_read(lb->dev, cx, off, buf, len);

	for (i = 0; i < lb->nbits && !err; i++) {
		const struct logbit *b = &lb->bits[i];

		if (b->byte >= off && b->byte - off < len)
			p[b->byte - off] ^= (uint8_t)(1u << b->bit);
	}
	return err;
}

/* Computes the sum of LEN bytes at OFF. */
static int logbits_sum_range(const struct logbits *lb, struct context *cx,
			     uint64_t off, uint64_t len, uint32_t *sum)
{
	size_t n;
	int err = 0;

	*sum = lb->geo->crc_seed;
	dev_readahead(lb->dev, off, len);
	for (; len && !err; off += n, len -= n) {
		n = len < PIECE_BYTES ? (size_t)len : PIECE_BYTES;
		err = context_cancelled(cx) ?:
		      logbits_read(lb, cx, off, lb->buf, n);
		if (!err)
			*sum = crc32_le(*sum, lb->buf, n);
	}
	return err;
}

/*
 * Adds the bit that explains why COMPUTED, the sum of LEN bytes at OFF, is not
 * STORED, the number at SUM_AT: 1, or 0 if there is none.
 */
static int explain_sum(struct logbits *lb, uint32_t stored, uint32_t computed,
		       uint64_t sum_at, uint64_t off, uint64_t len)
{
	uint64_t n = crc32_le_bit(stored, computed, len);

	if (n == CRCSOLVE_NONE)
		return 0;
	lb->bits[lb->nbits++] = (struct logbit){
		n < 8 * len ? off + n / 8 : sum_at + (n - 8 * len) / 8,
		(unsigned int)(n % 8), 8 * (len + sizeof(le32)),
	};
	return 1;
}

/* Handles RET, the result of a check with the bit added last, which is kept if
   RET is 1. */
static int keep_bit(struct logbits *lb, int ret)
{
	lb->nbits -= ret <= 0;
	return ret;
}

/* 1 if the corrected summary is valid, 0, or a failure. */
static int logbits_check_summary(struct logbits *lb, struct context *cx,
				 uint32_t *sum)
{
	const struct nilfs_geometry *geo = lb->geo;
	uint64_t segnum = geometry_segment_of(geo, lb->pseg);
	uint64_t most = (geometry_segment_end(geo, segnum) - lb->pseg)
			<< geo->block_bits;
	uint32_t sumbytes;
	int err = logbits_read(lb, cx, lb->start, &lb->ss, sizeof(lb->ss));

	if (err)
		return err;
	lb->bytes = (uint64_t)le32_get(lb->ss.ss_nblocks) << geo->block_bits;
	*sum = le32_get(lb->ss.ss_sumsum);
	sumbytes = le32_get(lb->ss.ss_sumbytes);
	if (sumbytes < NILFS_SEGSUM_MIN_BYTES || sumbytes > most)
		return 0;
	err = logbits_sum_range(lb, cx, lb->start + AT(ss_magic),
				sumbytes - AT(ss_magic), sum);
	if (err)
		return err;
	return *sum == le32_get(lb->ss.ss_sumsum) &&
	       segsum_check(geo, &lb->ss, lb->pseg) == RULE_OK;
}

static bool has_magic(const struct nilfs_segment_summary *ss)
{
	return __builtin_popcount(le32_get(ss->ss_magic) ^
				  NILFS_SEGSUM_MAGIC) <= 1;
}

/* Reads the header of the log at PSEG: 1, 0 if that is no block of the volume,
   or a failure. */
static int logbits_begin_log(struct logbits *lb, struct context *cx,
			     uint64_t pseg)
{
	int err;

	if (!lb->buf)
		lb->buf = aligned_alloc(PIECE_ALIGN, PIECE_BYTES);
	if (!lb->buf)
		return fail(cx, -ENOMEM, "buffer for logs");
	lb->pseg = pseg;
	lb->start = pseg << lb->geo->block_bits;
	lb->nbits = 0;
	lb->difference = 0;
	lb->readable = lb->whole = false;
	if (!geometry_has_block(lb->geo, pseg))
		return 0;
	err = dev_read(lb->dev, cx, lb->start, &lb->ss, sizeof(lb->ss));
	return err ? err : 1;
}

uint64_t logbits_next(struct logbits *lb, struct context *cx, uint64_t pseg,
		      uint64_t end)
{
	const uint32_t bits = lb->geo->block_bits;
	uint64_t single = pseg;		/* blocks before it are read one by one */
	uint32_t i, n;

	for (; pseg < end; pseg += n) {
		n = pseg < single ? 1 : PIECE_BYTES >> bits;
		n = n < end - pseg ? n : (uint32_t)(end - pseg);
		if (dev_is_hole(lb->dev, pseg << bits, (end - pseg) << bits))
			break;
		if (dev_read(lb->dev, cx, pseg << bits, lb->buf,
			     (size_t)n << bits)) {
			fail_clear(cx);
			if (n > 1) {
				single = pseg + n;
				n = 0;
			}
			continue;
		}
		for (i = 0; i < n; i++)
			if (has_magic((const void *)(lb->buf +
						     ((size_t)i << bits))))
				return pseg + i;
	}
	return end;
}

int logbits_header(struct logbits *lb, struct context *cx, uint64_t pseg)
{
	unsigned int i;
	uint32_t sum;
	int ret = logbits_begin_log(lb, cx, pseg);

	if (ret <= 0 || !has_magic(&lb->ss))
		return ret < 0 ? damage_forgive(cx, ret) : 0;
	ret = logbits_check_summary(lb, cx, &sum);
	/* Tries any bit of the summary except those of its length, */
	if (!ret && explain_sum(lb, le32_get(lb->ss.ss_sumsum), sum,
				lb->start + AT(ss_sumsum),
				lb->start + AT(ss_magic),
				le32_get(lb->ss.ss_sumbytes) - AT(ss_magic)))
		ret = keep_bit(lb, logbits_check_summary(lb, cx, &sum));
	/* then those of its length. */
	for (i = 0; i < 32 && !ret; i++) {
		lb->bits[lb->nbits++] = (struct logbit){
			lb->start + AT(ss_sumbytes) + i / 8, i % 8, 32,
		};
		ret = keep_bit(lb, logbits_check_summary(lb, cx, &sum));
	}
	return ret < 0 ? damage_forgive(cx, ret) : ret;
}

int logbits_sum(struct logbits *lb, struct context *cx)
{
	uint32_t sum;
	int err = logbits_sum_range(lb, cx, lb->start + AT(ss_sumsum),
				    lb->bytes - AT(ss_sumsum), &sum);

	lb->readable = !err;
	if (!err)
		lb->difference = sum ^ le32_get(lb->ss.ss_datasum);
	return damage_forgive(cx, err);
}

/* Whether the corrected super root is valid, or there is none: 1, 0. */
static int logbits_check_root(struct logbits *lb, struct context *cx,
			      uint64_t *at)
{
	uint32_t bs = lb->geo->block_size;
	int err;

	if (!segsum_has_super_root(&lb->ss))
		return 1;
	*at = lb->start + lb->bytes - bs;
	err = logbits_read(lb, cx, *at, lb->buf, bs);
	return err ? err : superroot_check(lb->geo, lb->buf) == RULE_OK;
}

/*
 * Finds the bit that explains DIFFERENCE of ss_datasum: 1, 0, or a failure.  If
 * other sums cover the bit, they must be explained by it as well.
 */
static int solve_data(struct logbits *lb, struct context *cx,
		      uint32_t difference)
{
	uint64_t start = lb->start, root;
	uint64_t summed = start + le32_get(lb->ss.ss_sumbytes);
	const struct logbit *b = &lb->bits[lb->nbits];
	bool in_summary;

	if (!explain_sum(lb, difference, 0, start, start + AT(ss_sumsum),
			 lb->bytes - AT(ss_sumsum)))
		return 0;
	in_summary = b->byte >= start + AT(ss_sumsum) && b->byte < summed;
	return keep_bit(lb, in_summary ? 0 : logbits_check_root(lb, cx, &root));
}

int logbits_blocks(struct logbits *lb, struct context *cx)
{
	const struct nilfs_super_root *sr = (const void *)lb->buf;
	int ret = logbits_sum(lb, cx);
	uint32_t before = lb->difference;
	unsigned int i;
	uint64_t at;

	if (ret || !lb->readable || !before) {
		lb->whole = lb->readable;
		return ret;
	}
	ret = solve_data(lb, cx, before);
	if (ret)
		goto out;
	/* A bit of the super root explains its own sum; this includes bits of
	   sr_bytes, the length of the sum. */
	ret = logbits_check_root(lb, cx, &at);
	if (ret)
		return ret < 0 ? damage_forgive(cx, ret) : 0;
	if (le16_get(sr->sr_bytes) > SR_SUM_END &&
	    explain_sum(lb, le32_get(sr->sr_sum),
			superroot_checksum(lb->geo, lb->buf), at,
			at + SR_SUM_END, le16_get(sr->sr_bytes) - SR_SUM_END))
		ret = keep_bit(lb, logbits_check_root(lb, cx, &at));
	for (i = 0; i < 16 && !ret; i++) {
		lb->bits[lb->nbits++] = (struct logbit){
			at + offsetof(struct nilfs_super_root, sr_bytes) +
				i / 8, i % 8, 16,
		};
		ret = keep_bit(lb, logbits_check_root(lb, cx, &at));
	}
	if (ret <= 0)
		return damage_forgive(cx, ret);
	/* The difference that remains with the corrected super root. */
	ret = logbits_sum(lb, cx);
	if (!ret && lb->readable)
		ret = lb->difference ? solve_data(lb, cx, lb->difference) : 1;
	lb->difference = before;
out:
	lb->whole = ret > 0;
	return damage_forgive(cx, ret < 0 ? ret : 0);
}

bool logbits_is_credible(const struct logbits *lb)
{
	unsigned int i;

	/* A coincidence has a probability of 1 in 4096. */
	for (i = 0; i < lb->nbits; i++)
		if (lb->bits[i].positions > UINT64_C(1) << 20)
			return false;
	return true;
}

int logbits_payload(struct logbits *lb, struct context *cx, uint64_t pseg,
		    uint64_t most, uint64_t *nblocks)
{
	int ret = most ? logbits_begin_log(lb, cx, pseg) : 0, i;
	uint32_t sumbytes, sum, all;
	uint64_t len, said;
	le32 computed;

	if (ret <= 0)
		return ret < 0 ? damage_forgive(cx, ret) : 0;
	said = le32_get(lb->ss.ss_nblocks);
	sumbytes = le32_get(lb->ss.ss_sumbytes);
	ret = 0;
	for (i = said && said < most ? 0 : 1; i < 2 && !ret; i++) {
		*nblocks = i ? most : said;
		len = *nblocks << lb->geo->block_bits;
		if (sumbytes < NILFS_SEGSUM_MIN_BYTES || sumbytes > len)
			continue;
		ret = logbits_sum_range(lb, cx, lb->start + AT(ss_magic),
					sumbytes - AT(ss_magic), &sum) ?:
		      logbits_sum_range(lb, cx,
					lb->start + AT(ss_sumsum),
					len - AT(ss_sumsum), &all);
		if (ret)
			break;
		all ^= le32_get(lb->ss.ss_datasum);
		computed = le32_make(sum);
		ret = all == crc32_le_zeros(sum ^ le32_get(lb->ss.ss_sumsum),
					    len - sumbytes) ||
		      all == crc32_le_exchange(&lb->ss.ss_sumsum, &computed,
					       sizeof(computed),
					       len - AT(ss_magic));
	}
	return ret < 0 ? damage_forgive(cx, ret) : ret;
}

void logbits_fini(struct logbits *lb)
{
	free(lb->buf);
	lb->buf = NULL;
}
