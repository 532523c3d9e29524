// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What follows the last log, by its place and its number, goes, and nothing
 * else.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/testdev/fault.h"
#include "tests/testdev/memory.h"
#include "log/lineend.h"

#include "tap.h"

#define BLOCK 1024u
#define SEGMENT 16u
#define SIZE (64u * SEGMENT * BLOCK)

static struct context cx;
static unsigned char *bytes;

static void put(uint64_t blocknr, uint64_t seq)
{
	const struct nilfs_segment_summary ss = {
		.ss_magic = le32_make(NILFS_SEGSUM_MAGIC),
		.ss_seq = le64_make(seq),
	};

	memcpy(bytes + blocknr * BLOCK, &ss, sizeof(ss));
}

static bool is_there(uint64_t blocknr)
{
	unsigned int i, sum = 0;

	for (i = 0; i < BLOCK; i++)
		sum |= bytes[blocknr * BLOCK + i];
	return sum;
}

/* The last log ends at OFFSET of segment 5, whose number is 9; then comes 7. */
static int end(struct dev *dev, uint64_t offset)
{
	const struct nilfs_geometry g = {
		.block_size = BLOCK, .block_bits = 10,
		.blocks_per_segment = SEGMENT, .nsegments = 64,
		.first_data_block = 2,
	};
	const struct writer_end e = {
		.seq = 9, .segnum = 5, .nextnum = 7, .offset = offset,
	};

	return lineend_make(dev, &cx, &g, &e);
}

static void test_places(struct dev *dev)
{
	put(5 * SEGMENT + 6, 9);
	put(7 * SEGMENT, 10);
	is_int(end(dev, 6), 0, "the line is ended");
	ok(!is_there(5 * SEGMENT + 6), "after the last log");
	ok(!is_there(7 * SEGMENT), "and at the beginning of the next segment");

	put(5 * SEGMENT + 6, 10);
	put(5 * SEGMENT + 7, 9);
	put(6 * SEGMENT, 9);
	put(7 * SEGMENT, 9);
	is_int(end(dev, 6), 0, "other numbers and places");
	ok(is_there(5 * SEGMENT + 6) && is_there(5 * SEGMENT + 7) &&
		   is_there(6 * SEGMENT) && is_there(7 * SEGMENT),
	   "stay as they are");
	is_int(end(dev, SEGMENT), 0, "a segment that is full");
	ok(is_there(6 * SEGMENT), "has nothing after it");
}

static void test_unreadable(struct dev *disk)
{
	const struct fault_plan plan = {
		.bad_off = 7 * SEGMENT * BLOCK, .bad_bytes = BLOCK,
	};
	struct dev *dev;

	put(7 * SEGMENT, 10);
	fault_open(&dev, &cx, disk, &plan);
	is_int(end(dev, 6), 0, "what cannot be read");
	ok(!is_there(7 * SEGMENT), "is written over");
	dev_close(dev);
}

int main(void)
{
	struct dev *dev;

	context_init(&cx);
	bytes = calloc(1, SIZE);
	if (!bytes || memory_open(&dev, &cx, bytes, SIZE))
		return 1;
	test_places(dev);
	test_unreadable(dev);
	dev_close(dev);
	free(bytes);
	return tap_done();
}
