// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Proof by checksum.
 *
 * A block of metadata that was derived from other sources may or may not be
 * what once stood there.  The log that wrote it has a checksum over it.  The
 * difference of that checksum and the blocks as they are is known after the
 * log was read once; by what an exchanged block changes it follows from that
 * block alone (base/crcsolve.h).
 */
#include "fsck/witness/witness.h"

#include "base/crcsolve.h"
#include "check/damage.h"
#include "disk/segsum.h"

/* Reads the log at PSEG, unless that is the one that is known. */
static int read_sums(struct witness *w, struct context *cx, uint64_t pseg)
{
	int ret;

	if (w->known && w->logbits.pseg == pseg)
		return 0;
	w->known = false;
	ret = logbits_header(&w->logbits, cx, pseg);
	w->is_log = ret > 0;
	if (ret > 0)
		ret = logbits_sum(&w->logbits, cx);
	w->known = !ret;
	return ret;
}

/* Takes what BLOCK changes into *DIFFERENCE: 1, 0 where it cannot be. */
static int exchange_block(const struct logbits *lb, struct context *cx,
			  const struct witness_block *block,
			  uint32_t *difference)
{
	const struct nilfs_geometry *geo = lb->geo;
	uint64_t end = lb->pseg + le32_get(lb->ss.ss_nblocks);
	int err;

	if (block->blocknr < lb->pseg + segsum_nsumblk(geo, &lb->ss) ||
	    block->blocknr >= end)
		return 0;
	err = dev_read(lb->dev, cx, block->blocknr << geo->block_bits, lb->buf,
		       geo->block_size);
	if (err)
		return damage_forgive(cx, err);
	*difference ^= crcsolve_exchange(lb->buf, block->bytes, geo->block_size,
					 (end - 1 - block->blocknr)
						 << geo->block_bits);
	return 1;
}

int witness_proves(struct witness *w, struct context *cx, uint64_t pseg,
		   const struct witness_block *blocks, size_t n)
{
	uint32_t difference;
	size_t i;
	int ret = read_sums(w, cx, pseg);

	if (ret || !w->is_log || !w->logbits.readable)
		return ret;
	difference = w->logbits.difference;
	for (i = 0; i < n; i++) {
		ret = exchange_block(&w->logbits, cx, &blocks[i], &difference);
		if (ret <= 0)
			return ret;
	}
	return !difference;
}

void witness_fini(struct witness *w)
{
	logbits_fini(&w->logbits);
}
