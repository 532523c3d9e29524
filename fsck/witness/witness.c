// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Proof by checksum.
 *
 * A block of metadata that was derived from other sources may or may not be
 * what once stood there.  The log that wrote it has a checksum over it.  The
 * difference of that checksum and the blocks as they are is known after the
 * log was read once; by what an exchanged block changes it follows from that
 * block alone (base/crcsolve.h).
 *
 * A superblock is so small that every bit can be tried, those of its length and
 * of the seed of its checksum like any other.
 */
#include "fsck/witness/witness.h"

#include "base/crcsolve.h"
#include "check/damage.h"
#include "disk/segsum.h"

int witness_proves(struct witness *w, struct context *cx, uint64_t pseg,
		   const struct witness_block *blocks, size_t n)
{
	struct logbits *lb = &w->logbits;
	const struct nilfs_geometry *geo = lb->geo;
	uint64_t first, end, blocknr;
	uint32_t difference;
	int ret = 0;
	size_t i;

	/* Once for several questions. */
	if (!w->known || lb->pseg != pseg) {
		ret = logbits_header(lb, cx, pseg);
		if (ret > 0)
			ret = logbits_sum(lb, cx);
		w->known = !ret;
	}
	if (ret || !lb->readable)
		return ret;
	first = pseg + segsum_nsumblk(geo, &lb->ss);
	end = pseg + le32_get(lb->ss.ss_nblocks);
	difference = lb->difference;
	for (i = 0; i < n; i++) {
		blocknr = blocks[i].blocknr;
		if (blocknr < first || blocknr >= end)
			return 0;
		ret = dev_read(lb->dev, cx, blocknr << geo->block_bits, lb->buf,
			       geo->block_size);
		if (ret)
			return damage_forgive(cx, ret);
		difference ^= crcsolve_exchange(lb->buf, blocks[i].bytes,
						geo->block_size,
						(end - 1 - blocknr)
							<< geo->block_bits);
	}
	return !difference;
}

void witness_fini(struct witness *w)
{
	logbits_fini(&w->logbits);
}

/* The only bit whose flip makes SB valid; SB has it flipped then. */
static void correct_bit(struct nilfs_super_block *sb, int *byte, int *bit)
{
	uint8_t *p = (uint8_t *)sb;
	unsigned int found = 0;
	size_t i;

	*byte = *bit = -1;
	for (i = 0; i < 8 * sizeof(*sb); i++) {
		p[i / 8] ^= (uint8_t)(1u << i % 8);
		if (super_check(sb) == RULE_OK) {
			found++;
			*byte = (int)(i / 8);
			*bit = (int)(i % 8);
		}
		p[i / 8] ^= (uint8_t)(1u << i % 8);
	}
	if (found == 1)
		p[*byte] ^= (uint8_t)(1u << *bit);
	else
		*byte = *bit = -1;
}

void witness_supers(struct witness_supers *s, struct context *cx,
		    struct dev *dev)
{
	struct super_choice choice;
	enum rule rule = RULE_OK;
	int i;

	*s = (struct witness_supers){
		.offset = {NILFS_SB_OFFSET_BYTES, super_offset2(dev->size)},
		.byte = {-1, -1},
		.bit = {-1, -1},
	};
	for (i = 0; i < 2; i++) {
		if (!s->offset[i] || dev_read(dev, cx, s->offset[i],
					      &s->copy[i], sizeof(s->copy[i])))
			continue;
		if (super_check(&s->copy[i]) != RULE_OK)
			correct_bit(&s->copy[i], &s->byte[i], &s->bit[i]);
		s->valid[i] = super_check(&s->copy[i]) == RULE_OK;
	}
	fail_clear(cx);
	super_choose(s->valid[0] ? &s->copy[0] : NULL,
		     s->valid[1] ? &s->copy[1] : NULL, dev->size, &choice);
	s->choice = choice.index;
	if (s->choice >= 0)
		rule = super_geometry(&s->copy[s->choice], dev->size, &s->geo);
	if (rule == RULE_SB_DEVICE_SIZE ||
	    (rule != RULE_OK && !rule_has(rule, RULE_READABLE)))
		s->choice = -1;
}
