// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The allocator's files, hand-made: each of the three kinds of blocks there, a
 * hole, or wrong.
 *
 * A file of 1 KiB blocks with entries of 32 bytes: 8192 entries in a group, 32
 * in a block, 257 blocks in a group, 256 groups after a descriptor block.
 */
#include "check/groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/testdev/memory.h"
#include "vol/volume.h"

#include "tap.h"

#define BLOCK 1024u
#define BLOCKS 256u
#define NODE (BLOCKS - 1)	/* where the map's only node is */
#define NODE_MAX ((BLOCK - 16) / 16)
#define PER_GROUP 8192u
#define PER_DESC ((uint64_t)256 * 257 + 1)

static char disk[BLOCKS * BLOCK];

struct bench {
	struct context cx;
	struct volume vol;
	struct palloc palloc;
	struct file file;
	struct groups groups;
	struct findings *findings;
	struct finding last;
	unsigned int nfindings;
	unsigned int nblocks;	/* of the file so far, on blocks from 1 on */
};

static void note(void *arg, const struct finding *f)
{
	struct bench *b = arg;

	b->last = *f;
	b->nfindings++;
}

static void open_bench(struct bench *b, uint32_t entry_size)
{
	memset(disk, 0, sizeof(disk));
	memset(b, 0, sizeof(*b));
	context_init(&b->cx);
	b->vol.geo = (struct nilfs_geometry){
		.block_size = BLOCK,
		.block_bits = 10,
		.blocks_per_segment = 2 * BLOCKS,
		.first_data_block = 1,
		.nsegments = 1,
	};
	palloc_init(&b->palloc, BLOCK, entry_size);
	if (memory_open(&b->vol.dev, &b->cx, disk, sizeof(disk)) ||
	    findings_open(&b->findings, &b->cx, note, b, true))
		exit(99);
}

static void close_bench(struct bench *b)
{
	findings_close(b->findings);
	cache_close(b->vol.cache);
	dev_close(b->vol.dev);
}

/* Gives the file its next block, at BLKOFF, which is above the ones before. */
static void *add_at(struct bench *b, uint64_t blkoff, uint64_t blocknr)
{
	struct nilfs_btree_node *node = (void *)(disk + NODE * BLOCK);
	le64 *keys = (void *)(disk + NODE * BLOCK + 16);

	node->bn_level = 1;
	keys[b->nblocks] = le64_make(blkoff);
	keys[NODE_MAX + b->nblocks] = le64_make(blocknr);
	node->bn_nchildren = le16_make((uint16_t)++b->nblocks);
	return blocknr < BLOCKS ? disk + blocknr * BLOCK : NULL;
}

static void *add(struct bench *b, uint64_t blkoff)
{
	return add_at(b, blkoff, b->nblocks + 1);
}

static void set_free(void *descs, unsigned int group, uint32_t nfrees)
{
	((struct nilfs_palloc_group_desc *)descs)[group].pg_nfrees =
		le32_make(nfrees);
}

static void *add_descs(struct bench *b, uint64_t blkoff)
{
	void *descs = add(b, blkoff);
	unsigned int i;

	for (i = 0; i < BLOCK / 4; i++)
		set_free(descs, i, PER_GROUP);
	return descs;
}

static void set_bits(void *bitmap, unsigned int from, unsigned int count)
{
	uint8_t *bytes = bitmap;

	for (; count; from++, count--)
		bytes[from / 8] |= (uint8_t)(1 << from % 8);
}

/* Makes a hole of the block added last. */
static void drop(struct bench *b)
{
	struct nilfs_btree_node *node = (void *)(disk + NODE * BLOCK);

	node->bn_nchildren = le16_make((uint16_t)--b->nblocks);
}

/* Makes the file of what was added. */
static void finish(struct bench *b)
{
	struct nilfs_inode inode = { .i_mode = le16_make(0100000) };
	uint8_t *root = (uint8_t *)inode.i_bmap;
	le64 *keys = (void *)(disk + NODE * BLOCK + 16);

	root[0] = 1;
	root[1] = 2;
	root[2] = 1;
	inode.i_bmap[1] = keys[0];
	inode.i_bmap[4] = le64_make(NODE);
	cache_close(b->vol.cache);
	if (cache_open(&b->vol.cache, &b->cx, b->vol.dev, BLOCK, 64 * BLOCK) ||
	    file_init(&b->file, &b->cx, &b->vol, NILFS_DAT_INO, &inode))
		exit(99);
	b->groups = (struct groups){
		.file = &b->file,
		.palloc = &b->palloc,
		.findings = b->findings,
		.reserved = 1,
	};
	b->nfindings = 0;
}

/* Checks the file; RULE is all that is found, RULE_OK: nothing. */
static void expect(struct bench *b, enum rule rule, const char *name)
{
	int err;

	finish(b);
	err = groups_check(&b->groups, &b->cx);
	ok(!err && b->nfindings == (rule != RULE_OK) &&
	   (rule == RULE_OK || b->last.rule == rule), "%s", name);
	if (err || b->nfindings > 1 || b->last.rule != rule)
		printf("# %d, %u findings, last %d\n", err, b->nfindings,
		       b->last.rule);
}

static void expect_group(struct bench *b, enum rule rule, uint64_t group,
			 uint64_t want, uint64_t got, const char *name)
{
	expect(b, rule, name);
	ok(b->last.place.kind == PLACE_GROUP && b->last.place.number == group &&
	   b->last.want == want && b->last.got == got, "with its numbers");
}

static void expect_block(struct bench *b, enum rule rule, uint64_t blkoff,
			 uint64_t got, const char *name)
{
	expect(b, rule, name);
	ok(b->last.place.kind == PLACE_MAP && b->last.place.blkoff == blkoff &&
	   b->last.got == got, "with its numbers");
}

/* 41 entries of group 0 in two blocks, the last entry of group 5. */
struct sound {
	char *descs, *bitmap, *bitmap5;
};

static struct sound lay_sound(struct bench *b)
{
	struct sound s;

	s.descs = add_descs(b, 0);
	s.bitmap = add(b, 1);
	add(b, 2);
	add(b, 3);
	s.bitmap5 = add(b, 1 + 5 * 257);
	add(b, 1 + 5 * 257 + 256);
	set_bits(s.bitmap, 0, 41);
	set_bits(s.bitmap5, 8191, 1);
	set_free(s.descs, 0, PER_GROUP - 41);
	set_free(s.descs, 5, PER_GROUP - 1);
	return s;
}

static void test_counts(void)
{
	struct bench b;
	struct sound s;

	open_bench(&b, 32);
	s = lay_sound(&b);
	expect(&b, RULE_OK, "a sound file");
	set_free(s.descs, 0, PER_GROUP - 40);
	expect_group(&b, RULE_PALLOC_NFREES, 0, PER_GROUP - 41, PER_GROUP - 40,
		     "one free too many");
	set_free(s.descs, 0, PER_GROUP + 1);
	expect_group(&b, RULE_PALLOC_NFREES_RANGE, 0, PER_GROUP - 41,
		     PER_GROUP + 1, "more free than there are");
	set_free(s.descs, 0, PER_GROUP - 41);
	set_free(s.descs, 5, 0);
	expect_group(&b, RULE_PALLOC_NFREES, 5, PER_GROUP - 1, 0,
		     "none free in a later group");
	set_free(s.descs, 5, PER_GROUP - 1);
	set_free(s.descs, 3, PER_GROUP - 1);
	expect_group(&b, RULE_PALLOC_BITMAP_MISSING, 3, PER_GROUP,
		     PER_GROUP - 1, "a count of a group without blocks");
	set_free(s.descs, 3, PER_GROUP);
	set_free(s.descs, 255, 0);
	expect_group(&b, RULE_PALLOC_BITMAP_MISSING, 255, PER_GROUP, 0,
		     "of the last group of the block");
	set_free(s.descs, 255, PER_GROUP);
	set_bits(s.bitmap5, 8190, 1);
	expect_group(&b, RULE_PALLOC_NFREES, 5, PER_GROUP - 2, PER_GROUP - 1,
		     "a bit too many");
	close_bench(&b);
}

static void test_far_descs(void)
{
	struct bench b;
	char *descs;

	open_bench(&b, 32);
	lay_sound(&b);
	descs = add_descs(&b, 3 * PER_DESC);
	expect(&b, RULE_OK, "a far descriptor block alone");
	set_free(descs, 1, 1);
	expect_group(&b, RULE_PALLOC_BITMAP_MISSING, 3 * 256 + 1, PER_GROUP, 1,
		     "that is wrong");
	close_bench(&b);
}

static void test_holes(void)
{
	struct bench b;
	void *bitmap;

	open_bench(&b, 32);
	bitmap = add(&b, 1);
	add(&b, 2);
	expect(&b, RULE_OK, "an empty bitmap without a descriptor");
	set_bits(bitmap, 0, 7);
	expect_group(&b, RULE_PALLOC_DESC_MISSING, 0, 0, 7,
		     "a filled one without");
	close_bench(&b);

	open_bench(&b, 32);
	add_descs(&b, 0);
	add(&b, 3);
	expect(&b, RULE_OK, "a block of entries without a bitmap");
	close_bench(&b);

	open_bench(&b, 32);
	add_descs(&b, 0);
	add(&b, 1 + 7 * 257);
	expect(&b, RULE_OK, "an empty bitmap without entries");
	close_bench(&b);
}

static void test_entries(void)
{
	struct bench b;
	void *descs, *bitmap;

	open_bench(&b, 32);
	descs = add_descs(&b, 0);
	bitmap = add(&b, 1);
	set_bits(bitmap, 0, 1);
	set_bits(bitmap, 40, 30);
	set_free(descs, 0, PER_GROUP - 31);
	add(&b, 4);
	expect_block(&b, RULE_PALLOC_ENTRY_MISSING, 3, 24,
		     "a missing block between others, the reserved one not");
	drop(&b);
	expect_block(&b, RULE_PALLOC_ENTRY_MISSING, 3, 30,
		     "all to the end missing");
	set_bits(bitmap, 1, 1);
	set_free(descs, 0, PER_GROUP - 32);
	expect_block(&b, RULE_PALLOC_ENTRY_MISSING, 2, 31,
		     "all missing, one entry reserved");
	finish(&b);
	b.groups.reserved = 50;
	groups_check(&b.groups, &b.cx);
	is_int(b.last.got, 20, "or more");
	close_bench(&b);

	open_bench(&b, 32);
	descs = add_descs(&b, 0);
	bitmap = add(&b, 1 + 257);
	set_bits(bitmap, 8191, 1);
	set_free(descs, 1, PER_GROUP - 1);
	add(&b, 1 + 257 + 255);
	add(&b, 1 + 257 + 257);
	expect_block(&b, RULE_PALLOC_ENTRY_MISSING, 1 + 257 + 256, 1,
		     "the last block of a group");
	close_bench(&b);
}

/* 2^64 numbers are 2^43 descriptor blocks of 2^21. */
static void test_end(void)
{
	struct bench b;

	open_bench(&b, 32);
	lay_sound(&b);
	add(&b, (UINT64_C(1) << 43) * PER_DESC - 1);
	expect(&b, RULE_PALLOC_BITMAP_MISSING,
	       "the last block of the last group, without its bitmap");
	close_bench(&b);

	open_bench(&b, 32);
	lay_sound(&b);
	add(&b, (UINT64_C(1) << 43) * PER_DESC);
	add(&b, UINT64_MAX - 1);
	expect_block(&b, RULE_PALLOC_BLOCK, (UINT64_C(1) << 43) * PER_DESC, 0,
		     "blocks after it, of which the first is reported");
	close_bench(&b);

	/* With these, not all groups have blocks that can be numbered. */
	open_bench(&b, 1024);
	add(&b, UINT64_MAX - 1);
	expect(&b, RULE_PALLOC_BITMAP_MISSING,
	       "the last block of all, without its bitmap");
	close_bench(&b);
}

static void test_damage(void)
{
	struct bench b;
	struct sound s;
	char *descs;

	open_bench(&b, 32);
	s = lay_sound(&b);
	set_free(s.descs, 0, 17);
	disk[NODE * BLOCK + 1] = 3;
	expect(&b, RULE_OK, "what a broken map hides is not judged");
	close_bench(&b);

	open_bench(&b, 32);
	descs = add_descs(&b, 0);
	set_free(descs, 0, 17);
	add_at(&b, 1, BLOCKS + 1);
	expect(&b, RULE_DEV_UNREADABLE, "an unreadable bitmap hides its group");
	set_free(descs, 2, 17);
	finish(&b);
	groups_check(&b.groups, &b.cx);
	ok(b.nfindings == 2 && b.last.place.number == 2, "and no other");
	close_bench(&b);
}

/* Each of the two checks of parts sees its own part only. */
static void test_parts(void)
{
	struct bench b;
	void *descs, *bitmap;

	open_bench(&b, 32);
	descs = add_descs(&b, 0);
	bitmap = add(&b, 1);
	set_bits(bitmap, 0, 100);
	set_free(descs, 2, 1);
	finish(&b);
	groups_check_entries(&b.groups, &b.cx, 1);
	groups_check_entries(&b.groups, &b.cx, 256);
	groups_check_counts(&b.groups, &b.cx, 256);
	is_int(b.nfindings, 0, "other groups are not looked at");
	groups_check_entries(&b.groups, &b.cx, 0);
	is_int(b.nfindings, 1, "entries");
	is_int(b.last.rule, RULE_PALLOC_ENTRY_MISSING, "of one group");
	groups_check_counts(&b.groups, &b.cx, 77);
	is_int(b.nfindings, 3, "counts of all that share a block");
	is_int(b.last.place.number, 2, "up to the last");
	close_bench(&b);
}

int main(void)
{
	test_counts();
	test_far_descs();
	test_holes();
	test_entries();
	test_end();
	test_damage();
	test_parts();
	return tap_done();
}
