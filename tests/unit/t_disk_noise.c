// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Bytes that mean nothing: every decoder lives through them and never reads
 * past the end of its buffer, where a page without access stands.
 */
#include "disk/bmap.h"
#include "disk/dirent.h"
#include "disk/field.h"
#include "disk/inode.h"
#include "disk/palloc.h"
#include "disk/segsum.h"
#include "disk/segusage.h"
#include "disk/super.h"
#include "disk/superroot.h"

#include <sys/mman.h>
#include <unistd.h>

#include "tap.h"

#define ROUNDS 20000
#define ROOM 65536u

static uint8_t *limit;		/* the guarded page */
static uint64_t state = 88172645463325252ull;

static uint64_t noise(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* LEN bytes at the end of the room: noise, in some rounds mostly zeros. */
static void *bytes(size_t len)
{
	uint64_t mask = noise() & 1 ? UINT64_MAX : noise() & noise() & noise();
	uint8_t *p = limit - len;
	uint64_t word = 0;
	size_t i;

	for (i = 0; i < len; i++) {
		word = i % 8 ? word >> 8 : noise() & mask;
		p[i] = (uint8_t)word;
	}
	return p;
}

static void guard_room(void)
{
	uint8_t *map = mmap(NULL, 2 * ROOM, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	limit = map + ROOM;
	mprotect(limit, ROOM, PROT_NONE);
}

/* Numbers of any magnitude, so that some of them pass. */
static void likely_numbers(struct nilfs_super_block *sb)
{
	sb->s_rev_level = le32_make(2);
	sb->s_log_block_size = le32_make(noise() % 9);
	sb->s_blocks_per_segment = le32_make(noise() >> (32 + noise() % 32));
	sb->s_nsegments = le64_make(noise() >> (noise() % 64));
	sb->s_first_data_block = le64_make(noise() >> (noise() % 64));
	sb->s_inode_size = le16_make(noise() >> (48 + noise() % 16));
	sb->s_dat_entry_size = le16_make(noise() >> (48 + noise() % 16));
	sb->s_checkpoint_size = le16_make(noise() >> (48 + noise() % 16));
	sb->s_segment_usage_size = le16_make(noise() >> (48 + noise() % 16));
}

/* A geometry out of noise is either refused or makes sense. */
static void test_super(void)
{
	struct nilfs_geometry g;
	struct super_choice c;
	unsigned int i, bad = 0, good = 0;

	for (i = 0; i < 10 * ROUNDS; i++) {
		struct nilfs_super_block *sb = bytes(sizeof(*sb));

		super_choose(sb, sb, noise() >> (noise() % 64), &c);
		likely_numbers(sb);
		memset(&g, 0, sizeof(g));
		super_geometry(sb, 1ull << 40, &g);
		if (!g.block_size)
			continue;
		good++;
		bad += g.inode_size < 128 || g.inode_size > g.block_size ||
		       !g.nsegments || !g.dat_entry_size ||
		       !g.checkpoint_size || !g.segment_usage_size ||
		       geometry_segment_end(&g, g.nsegments - 1) <=
			       geometry_segment_start(&g, g.nsegments - 1);
	}
	is_int(bad, 0, "no senseless geometry");
	ok(good > 0, "%u of %u were taken", good, i);
}

static const struct nilfs_geometry g = {
	.block_size = 1024, .block_bits = 10, .blocks_per_segment = 1024,
	.inode_size = 128, .segment_usage_size = 32, .first_data_block = 4,
	.checkpoint_size = 192, .nsegments = 4,
};

/* A walk that takes blocks in runs where it can: does it end as the other? */
static bool ends_alike(const void *log, uint32_t len,
		       const struct segsum_iter *other)
{
	struct segsum_block b;
	struct segsum_iter it;
	struct segsum_run run;

	segsum_iter_init(&it, &g, log, len);
	while (segsum_iter_next(&it, &b))
		while (segsum_iter_run(&it, &run))
			;
	return it.verdict == other->verdict && it.index == other->index &&
	       it.offset == other->offset;
}

static void test_log(void)
{
	struct segsum_block b;
	struct segsum_iter it;
	unsigned int i, listed = 0, bad = 0, other = 0;

	for (i = 0; i < ROUNDS; i++) {
		uint32_t len = 1024 * (1 + noise() % 3), last = 0;
		struct nilfs_segment_summary *ss = bytes(len);

		ss->ss_magic = le32_make(NILFS_SEGSUM_MAGIC);
		ss->ss_bytes = le16_make(56 + 8 * (noise() % 3));
		ss->ss_nblocks = le32_make(noise() % 1100);
		ss->ss_sumbytes = le32_make(noise() % (len + 1));
		ss->ss_nfinfo = le32_make(noise() % 5);
		if (segsum_check(&g, ss, 4))
			continue;
		segsum_iter_init(&it, &g, ss, len);
		while (segsum_iter_next(&it, &b)) {
			bad += b.index <= last ||
			       b.index >= le32_get(ss->ss_nblocks);
			last = b.index;
			listed++;
		}
		other += !ends_alike(ss, len, &it);
	}
	is_int(bad, 0, "blocks ascend within the log");
	is_int(other, 0, "and in runs they end where they end one by one");
	ok(listed > ROUNDS / 10, "%u blocks were listed", listed);
}

static void test_maps(void)
{
	struct bmap_node node;
	unsigned int i, bad = 0;
	int found;

	for (i = 0; i < ROUNDS; i++) {
		uint32_t size = 1024u << (noise() % 4);
		uint8_t *block = bytes(size);

		bmap_node_check(size, block);
		bmap_node_read(size, block, &node);
		bmap_node_check_entries(&node);
		found = bmap_node_search(&node, noise());
		bad += found < -1 || found >= (int)node.nchildren;
		bad += node.nchildren > bmap_node_max(size);
		bmap_root_read(bytes(56), &node);
		bmap_node_check_entries(&node);
		bad += node.nchildren > 3;
	}
	is_int(bad, 0, "no node has more children than room");
}

static void test_blocks(void)
{
	struct dirent_entry e;
	struct dirent_iter it;
	unsigned int i, entries = 0, bad = 0;

	for (i = 0; i < ROUNDS; i++) {
		const uint8_t *block = bytes(1024);

		dirent_check_block(block, 1024);
		dirent_iter_init(&it, block, 1024);
		for (; dirent_iter_next(&it, &e); entries++)
			bad += e.offset + e.rec_len > 1024 ||
			       e.rec_len < 12u + e.name_len;
		superroot_check(&g, block);
	}
	is_int(bad, 0, "no entry leaves its block");
	ok(entries > 0, "%u entries were seen", entries);
}

static void test_fields(void)
{
	const struct field_table *t;
	unsigned int wrong = 0;
	uint64_t v, w;
	uint32_t f, n;

	for (t = field_table_all; t->name; t++) {
		void *base = bytes(t->size);

		for (f = 0; f < t->nfields; f++) {
			for (n = 0; n <= t->fields[f].count; n++) {
				if (!field_get(&t->fields[f], base, n, &v))
					continue;
				v = ~v << (64 - 8 * t->fields[f].size) >>
				    (64 - 8 * t->fields[f].size);
				wrong += !field_set(&t->fields[f], base, n, v);
				field_get(&t->fields[f], base, n, &w);
				wrong += v != w;
			}
		}
	}
	is_int(wrong, 0, "every number of every structure can be set");
}

int main(void)
{
	guard_room();
	test_super();
	test_log();
	test_maps();
	test_blocks();
	test_fields();
	return tap_done();
}
