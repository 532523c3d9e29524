// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Arithmetic of the persistent allocator.
 *
 * The file is a sequence of descriptor blocks, each followed by the groups it
 * describes.  A group is a bitmap block and the blocks of as many entries as the
 * bitmap has bits.  A bitmap is exactly one block, so the last entry block of a
 * group may be partly used.  Any of these blocks may be a hole, which means that all
 * its entries are free.
 *
 * Numbers from the disk are only divided and multiplied here; a number beyond the
 * maximum of a file wraps around to a block that does not exist.
 */
#include "disk/palloc.h"

#include <string.h>

#include "base/checked.h"

void palloc_init(struct palloc *p, uint32_t block_size, uint32_t entry_size)
{
	p->block_size = block_size;
	p->entry_size = entry_size;
	p->entries_per_block = block_size / entry_size;
	p->entries_per_group = block_size * 8;
	p->group_bits = (unsigned int)__builtin_ctz(p->entries_per_group);
	p->blocks_per_group =
		div_round_up(p->entries_per_group, p->entries_per_block) + 1;
	p->groups_per_desc =
		block_size / sizeof(struct nilfs_palloc_group_desc);
	p->desc_bits = (unsigned int)__builtin_ctz(p->groups_per_desc);
	p->blocks_per_desc =
		(uint64_t)p->groups_per_desc * p->blocks_per_group + 1;
}

uint64_t palloc_group(const struct palloc *p, uint64_t nr)
{
	return nr >> p->group_bits;
}

uint32_t palloc_group_offset(const struct palloc *p, uint64_t nr)
{
	return nr & (p->entries_per_group - 1);
}

uint64_t palloc_desc_blkoff(const struct palloc *p, uint64_t group)
{
	return (group >> p->desc_bits) * p->blocks_per_desc;
}

uint32_t palloc_desc_offset(const struct palloc *p, uint64_t group)
{
	return (group & (p->groups_per_desc - 1)) *
	       sizeof(struct nilfs_palloc_group_desc);
}

uint64_t palloc_bitmap_blkoff(const struct palloc *p, uint64_t group)
{
	return palloc_desc_blkoff(p, group) + 1 +
	       (group & (p->groups_per_desc - 1)) * p->blocks_per_group;
}

uint64_t palloc_entry_blkoff(const struct palloc *p, uint64_t nr)
{
	return palloc_bitmap_blkoff(p, palloc_group(p, nr)) + 1 +
	       palloc_group_offset(p, nr) / p->entries_per_block;
}

uint32_t palloc_entry_offset(const struct palloc *p, uint64_t nr)
{
	return palloc_group_offset(p, nr) % p->entries_per_block *
	       p->entry_size;
}

void palloc_locate(const struct palloc *p, uint64_t blkoff,
		   struct palloc_block *block)
{
	uint64_t in_desc = blkoff % p->blocks_per_desc;
	uint64_t in_group, first;

	block->group = blkoff / p->blocks_per_desc * p->groups_per_desc;
	block->first = block->group * p->entries_per_group;
	if (!in_desc) {
		block->kind = PALLOC_DESC;
		block->count =
			(uint64_t)p->groups_per_desc * p->entries_per_group;
		return;
	}
	block->group += (in_desc - 1) / p->blocks_per_group;
	block->first = block->group * p->entries_per_group;
	block->count = p->entries_per_group;
	in_group = (in_desc - 1) % p->blocks_per_group;
	if (!in_group) {
		block->kind = PALLOC_BITMAP;
		return;
	}
	first = (in_group - 1) * p->entries_per_block;
	block->kind = PALLOC_ENTRIES;
	block->first += first;
	block->count -= first;
	if (block->count > p->entries_per_block)
		block->count = p->entries_per_block;
}

bool palloc_has_block(const struct palloc *p, uint64_t blkoff)
{
	uint64_t ngroups = UINT64_C(1) << (64 - p->group_bits);

	return blkoff / p->blocks_per_desc < ngroups >> p->desc_bits;
}

/* Set bits in each byte of WORD, for machines without an instruction for it. */
static uint64_t count_bytes(uint64_t word)
{
	word -= word >> 1 & 0x5555555555555555ULL;
	word = (word & 0x3333333333333333ULL) +
	       (word >> 2 & 0x3333333333333333ULL);
	return (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
}

/* The sum of the bytes of COUNTS. */
static uint32_t add_bytes(uint64_t counts)
{
	counts = (counts & 0x00ff00ff00ff00ffULL) +
		 (counts >> 8 & 0x00ff00ff00ff00ffULL);
	return (uint32_t)(counts * 0x0001000100010001ULL >> 48);
}

#define COUNTED 16u /* words whose counts a byte can hold */

uint32_t palloc_count(const struct palloc *p, const void *bitmap)
{
	const uint8_t *bytes = bitmap;
	uint32_t i, count = 0;
	uint64_t words[COUNTED], counts;
	unsigned int k;

	for (i = 0; i < p->block_size; i += sizeof(words)) {
		memcpy(words, bytes + i, sizeof(words));
		for (counts = 0, k = 0; k < COUNTED; k++)
			counts += count_bytes(words[k]);
		count += add_bytes(counts);
	}
	return count;
}

uint32_t palloc_count_range(const void *bitmap, uint32_t first, uint32_t end)
{
	const le64 *words = bitmap;
	uint32_t count = 0, next;
	uint64_t word;

	for (; first < end; first = next) {
		next = (first | 63) + 1;
		word = le64_get(words[first / 64]) & UINT64_MAX << first % 64;
		if (next > end)
			word &= UINT64_MAX >> (next - end);
		count += add_bytes(count_bytes(word));
	}
	return count;
}

enum rule palloc_check_desc(const struct palloc *p,
			    const struct nilfs_palloc_group_desc *desc)
{
	if (le32_get(desc->pg_nfrees) > p->entries_per_group)
		return RULE_PALLOC_NFREES_RANGE;
	return RULE_OK;
}
