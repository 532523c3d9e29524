// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The checksum of a superblock as a witness.
 *
 * A superblock is so small that every bit can be tried, those of its length and
 * of the seed of its checksum like any other.
 */
#include "fsck/witness/superbits.h"

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

void superbits_read(struct superbits *s, struct context *cx, struct dev *dev)
{
	int i;

	*s = (struct superbits){
		.offset = {NILFS_SB_OFFSET_BYTES, super_offset2(dev->size)},
		.byte = {-1, -1},
		.bit = {-1, -1},
	};
	for (i = 0; i < 2; i++) {
		s->read[i] = s->offset[i] &&
			     !dev_read(dev, cx, s->offset[i], &s->copy[i],
				       sizeof(s->copy[i]));
		fail_clear(cx);
		if (s->read[i] && super_check(&s->copy[i]) != RULE_OK)
			correct_bit(&s->copy[i], &s->byte[i], &s->bit[i]);
	}
}

int superbits_geometry(const struct superbits *s, const struct dev *dev,
		       struct nilfs_geometry *geo)
{
	struct super_choice choice;
	enum rule rule;

	super_choose(s->read[0] ? &s->copy[0] : NULL,
		     s->read[1] ? &s->copy[1] : NULL, dev->size, &choice);
	if (choice.index < 0)
		return -1;
	rule = super_geometry(&s->copy[choice.index], dev->size, geo);
	if (rule == RULE_SB_DEVICE_SIZE ||
	    (rule != RULE_OK && !rule_has(rule, RULE_READABLE)))
		return -1;
	return choice.index;
}
