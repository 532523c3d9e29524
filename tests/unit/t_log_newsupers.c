// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Superblocks for a new log: what changes in them, and that one of them is
 * whole whenever the power goes off.
 */
#include "log/newsupers.h"

#include <string.h>

#include "tests/testdev/fault.h"
#include "tests/testdev/memory.h"
#include "disk/super.h"

#include "tap.h"

#define SIZE (64u << 10)
#define OFFSET2 (SIZE - 4096)
#define LOG_AT 8192		/* stands for the log that they name */

struct rig {
	struct context cx;
	struct nilfs_super_block old, new;
	uint8_t bytes[SIZE];
};

static const struct nilfs_geometry geometry = {
	.block_size = 1024, .block_bits = 10, .blocks_per_segment = 16,
	.crc_seed = 12345, .nsegments = 3,
};

static void make_supers(struct rig *r)
{
	const struct writer_end end = {
		.cno = 8, .pseg = 32, .seq = 5, .segnum = 2,
		.clean_segments = 3,
	};
	struct nilfs_super_block *sb = &r->old;

	memset(sb, 0x5a, sizeof(*sb));
	sb->s_magic = le16_make(NILFS_SUPER_MAGIC);
	sb->s_bytes = le16_make(NILFS_SB_BYTES);
	sb->s_crc_seed = le32_make(geometry.crc_seed);
	sb->s_last_cno = le64_make(7);
	sb->s_sum = le32_make(super_checksum(sb));
	r->new = r->old;
	newsupers_fill(&r->new, &geometry, &end, 77, NILFS_VALID_FS);
}

/* Nothing but the cursor of the log, time, state and checksum. */
static void test_fill(void)
{
	struct nilfs_super_block sb;
	struct rig r;

	make_supers(&r);
	is_int(super_check(&r.new), RULE_OK, "the checksum is right");
	is_int(le64_get(r.new.s_last_cno), 8, "s_last_cno");
	is_int(le64_get(r.new.s_last_pseg), 32, "s_last_pseg");
	is_int(le64_get(r.new.s_last_seq), 5, "s_last_seq");
	is_int(le64_get(r.new.s_free_blocks_count), 48,
	       "the blocks of 3 clean segments");
	is_int(le64_get(r.new.s_wtime), 77, "s_wtime");
	is_int(le16_get(r.new.s_state), NILFS_VALID_FS, "s_state");
	sb = r.new;
	sb.s_last_cno = r.old.s_last_cno;
	sb.s_last_pseg = r.old.s_last_pseg;
	sb.s_last_seq = r.old.s_last_seq;
	sb.s_free_blocks_count = r.old.s_free_blocks_count;
	sb.s_wtime = r.old.s_wtime;
	sb.s_state = r.old.s_state;
	sb.s_sum = r.old.s_sum;
	ok(!memcmp(&sb, &r.old, sizeof(sb)), "everything else is kept");
}

/* Writes a log, then superblocks, under FAULT. */
static int run(struct rig *r, const struct fault_plan *fault, uint64_t offset2)
{
	struct dev *disk = NULL, *dev = NULL;
	uint8_t log = 'l';
	int ret;

	context_init(&r->cx);
	memset(r->bytes, 0xee, SIZE);
	memcpy(r->bytes + NILFS_SB_OFFSET_BYTES, &r->old, sizeof(r->old));
	memcpy(r->bytes + OFFSET2, &r->old, sizeof(r->old));
	memory_open(&disk, &r->cx, r->bytes, SIZE);
	fault_open(&dev, &r->cx, disk, fault);
	ret = dev_write(dev, &r->cx, LOG_AT, &log, 1);
	if (!ret)
		ret = newsupers_write(&r->cx, dev, &r->new, offset2);
	dev_close(dev);
	dev_close(disk);
	return ret;
}

/* 'o', 'n', or 0 for neither: what stands at byte OFF. */
static int super_at(const struct rig *r, uint64_t off)
{
	if (!memcmp(r->bytes + off, &r->old, sizeof(r->old)))
		return 'o';
	return memcmp(r->bytes + off, &r->new, sizeof(r->new)) ? 0 : 'n';
}

static bool is_sound(const struct rig *r)
{
	int first = super_at(r, NILFS_SB_OFFSET_BYTES);
	int second = super_at(r, OFFSET2);

	if (!first && !second)
		return false;
	return (first != 'n' && second != 'n') || r->bytes[LOG_AT] == 'l';
}

static void test_cuts(void)
{
	struct fault_plan fault = {
		.kind = FAULT_CUT, .counted = FAULT_WRITES | FAULT_FLUSHES,
		.reorder = true,
	};
	unsigned int bad = 0, points = 0;
	struct rig r;

	make_supers(&r);
	for (fault.seed = 1; fault.seed <= 100; fault.seed++)
		for (fault.at = 1; run(&r, &fault, OFFSET2); fault.at++) {
			bad += !is_sound(&r);
			points++;
		}
	is_int(points, 600, "3 writes and 3 flushes to be cut at");
	is_int(bad, 0, "a superblock and its log are whole at any time");
}

static void test_places(void)
{
	struct fault_plan none = { .kind = FAULT_NONE };
	struct rig r;

	make_supers(&r);
	is_int(run(&r, &none, OFFSET2), 0, "two copies");
	is_int(super_at(&r, NILFS_SB_OFFSET_BYTES), 'n', "the first");
	is_int(super_at(&r, OFFSET2), 'n', "the second");
	is_int(run(&r, &none, 0), 0, "where there is no place for a second");
	is_int(super_at(&r, NILFS_SB_OFFSET_BYTES), 'n', "the first");
	is_int(super_at(&r, OFFSET2), 'o', "nothing is written there");
}

int main(void)
{
	test_fill();
	test_cuts();
	test_places();
	return tap_done();
}
