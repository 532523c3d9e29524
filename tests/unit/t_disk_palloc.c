// SPDX-License-Identifier: GPL-2.0-or-later
/* The arithmetic of the persistent allocator. */
#include "disk/palloc.h"

#include "tap.h"

/* Numbers that follow from the definition of the file, for a DAT of 4 KiB. */
static void test_dat(void)
{
	struct palloc p;

	palloc_init(&p, 4096, 32);
	is_int(p.entries_per_block, 128, "entries in a block");
	is_int(p.entries_per_group, 32768, "entries in a group");
	is_int(p.blocks_per_group, 257, "a bitmap and 256 blocks of entries");
	is_int(p.groups_per_desc, 1024, "groups in a block of descriptors");
	is_int(p.blocks_per_desc, 1024 * 257 + 1, "blocks up to the next one");
	is_int(palloc_desc_blkoff(&p, 0), 0, "descriptors come first");
	is_int(palloc_bitmap_blkoff(&p, 0), 1, "then the first bitmap");
	is_int(palloc_entry_blkoff(&p, 0), 2, "then the first entries");
	is_int(palloc_entry_blkoff(&p, 127), 2, "128 of them");
	is_int(palloc_entry_blkoff(&p, 128), 3, "then the next block");
	is_int(palloc_entry_offset(&p, 129), 32, "at their places");
	is_int(palloc_entry_blkoff(&p, 32767), 257, "up to the group's end");
	is_int(palloc_entry_blkoff(&p, 32768), 259, "after the next bitmap");
	is_int(palloc_bitmap_blkoff(&p, 1023), 1 + 1023 * 257,
	       "the last group of the first descriptors");
	is_int(palloc_desc_offset(&p, 1023), 4092, "the last descriptor");
	is_int(palloc_desc_blkoff(&p, 1024), 1024 * 257 + 1,
	       "the next block of descriptors");
	is_int(palloc_desc_offset(&p, 1024), 0, "its first one");
	is_int(palloc_bitmap_blkoff(&p, 1024), 1024 * 257 + 2,
	       "a bitmap after it");
	is_int(palloc_group(&p, 1ull << 40), 1ull << 25, "a far group");
}

/* An entry size that divides neither the block nor the group. */
static void test_odd(void)
{
	struct palloc_block b;
	struct palloc p;

	palloc_init(&p, 1024, 200);
	is_int(p.entries_per_block, 5, "five entries of 200 in 1024 bytes");
	is_int(p.blocks_per_group, 1640, "8192 entries take 1639 blocks");
	palloc_locate(&p, palloc_entry_blkoff(&p, 8191), &b);
	ok(b.kind == PALLOC_ENTRIES && b.first == 8190 && b.count == 2,
	   "the last block of a group has but two");
}

/* Every block is what the forward functions say. */
static void test_reverse(uint32_t block_size, uint32_t entry_size)
{
	struct palloc_block b;
	struct palloc p;
	uint64_t blkoff, wrong = 0, nr = 0, groups = 0;

	palloc_init(&p, block_size, entry_size);
	for (blkoff = 0; blkoff < p.blocks_per_desc + 600; blkoff++) {
		palloc_locate(&p, blkoff, &b);
		switch (b.kind) {
		case PALLOC_DESC:
			wrong += blkoff != palloc_desc_blkoff(&p, b.group);
			wrong += b.group != groups || b.first != nr;
			break;
		case PALLOC_BITMAP:
			wrong += blkoff != palloc_bitmap_blkoff(&p, b.group);
			wrong += b.group != groups++ || b.first != nr;
			wrong += b.count != p.entries_per_group;
			break;
		case PALLOC_ENTRIES:
			wrong += b.first != nr || b.group + 1 != groups;
			wrong += palloc_entry_blkoff(&p, nr) != blkoff;
			wrong += palloc_entry_offset(&p, nr);
			nr += b.count;
			wrong += palloc_entry_blkoff(&p, nr - 1) != blkoff;
			break;
		}
	}
	ok(!wrong, "entries of %u in blocks of %u, there and back",
	   entry_size, block_size);
	ok(groups > p.groups_per_desc, "%llu groups seen",
	   (unsigned long long)groups);
}

static void test_bitmap(void)
{
	uint8_t bitmap[1024] = { 0x81, 0x02, [1023] = 0x80 };
	struct palloc p;

	palloc_init(&p, 1024, 128);
	ok(palloc_bit(bitmap, 0) && palloc_bit(bitmap, 7) &&
		   palloc_bit(bitmap, 9) && palloc_bit(bitmap, 8191),
	   "the lowest bit of a byte comes first");
	ok(!palloc_bit(bitmap, 1) && !palloc_bit(bitmap, 8), "others are 0");
	is_int(palloc_count(&p, bitmap), 4, "four are set");
}

static void test_range(void)
{
	static const uint8_t bitmap[128] = {
		0x01, 0xff, 0, 0xff, 0, 0xff, 0, 0xff,
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, [127] = 0x80,
	};
	uint32_t first, end, wrong = 0, count;

	for (first = 0; first < 200; first++) {
		count = 0;
		for (end = first; end < 200; end++) {
			wrong += palloc_count_range(bitmap, first, end) !=
				 count;
			count += palloc_bit(bitmap, end);
		}
	}
	is_int(wrong, 0, "the bits of a range, bit by bit");
	is_int(palloc_count_range(bitmap, 0, 1024), 33 + 64 + 1,
	       "and of all");
}

/* With 2^64 numbers the last group of 4 KiB blocks is number 2^49 - 1. */
static void test_last(void)
{
	struct palloc p;
	uint64_t blkoff;

	palloc_init(&p, 4096, 32);
	blkoff = palloc_entry_blkoff(&p, UINT64_MAX);
	is_int(blkoff, ((1ull << 49) >> 10) * (1024 * 257 + 1) - 1,
	       "the last number is in the last block");
	ok(palloc_has_block(&p, blkoff) && palloc_has_block(&p, 0),
	   "which is one of the file");
	ok(!palloc_has_block(&p, blkoff + 1) &&
	   !palloc_has_block(&p, UINT64_MAX), "the next is none");
}

int main(void)
{
	test_dat();
	test_odd();
	test_reverse(1024, 32);
	test_reverse(1024, 200);
	test_reverse(1024, 1024);
	test_reverse(2048, 128);
	test_bitmap();
	test_range();
	test_last();
	return tap_done();
}
