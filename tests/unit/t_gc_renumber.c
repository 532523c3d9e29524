// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pointers to blocks that get other numbers change, in nodes and in inodes, and
 * nothing else does.
 */
#include <stdlib.h>
#include <string.h>

#include "disk/inode.h"
#include "gc/renumber.h"

#include "tap.h"

#define BLOCK 1024u
#define INODE 128u

struct rig {
	struct context cx;
	struct volume vol;
	struct renumber r;
	le64 block[BLOCK / 8];
};

/* 100 and 101 become 7 and 8, 105 becomes 3. */
static void open_rig(struct rig *r)
{
	static const struct renumber_pair pairs[] = {
		{ 100, 7 }, { 101, 8 }, { 105, 3 },
	};
	size_t i;

	*r = (struct rig){ .vol.geo.block_size = BLOCK };
	context_init(&r->cx);
	palloc_init(&r->vol.ifile_palloc, BLOCK, INODE);
	renumber_init(&r->r, &r->vol);
	for (i = 0; i < 3; i++)
		if (renumber_add(&r->r, &r->cx, pairs[i].from))
			abort();
	for (i = 0; i < 3; i++)
		r->r.pairs[i].to = pairs[i].to;
}

static bool is(le64 field, uint64_t value)
{
	return le64_get(field) == value;
}

static void test_node(void)
{
	const struct move_run run = { .ino = 12, .node = true, .count = 1 };
	struct rig r;
	struct nilfs_btree_node *bn = (void *)r.block;
	le64 *keys, *ptrs;

	open_rig(&r);
	bn->bn_level = 1;
	bn->bn_nchildren = le16_make(2);
	keys = r.block + 2;
	/* A header of 16 bytes leaves room for 63 keys and pointers. */
	ptrs = keys + (BLOCK - 16) / 16;
	keys[0] = le64_make(100);
	keys[1] = le64_make(101);
	ptrs[0] = le64_make(105);
	ptrs[1] = le64_make(104);
	ptrs[2] = le64_make(100);
	renumber_block(&r.r, &run, 0, r.block);
	ok(is(ptrs[0], 3), "a node leads to the block by its new number");
	ok(is(ptrs[1], 104), "and to others as before");
	ok(is(keys[0], 100) && is(keys[1], 101), "keys are none");
	ok(is(ptrs[2], 100), "nor is what is after its children");
	renumber_fini(&r.r);
}

static struct nilfs_inode *inode_at(struct rig *r, unsigned int i)
{
	return (void *)((char *)r->block + (size_t)i * INODE);
}

static void test_inodes(void)
{
	/* After a descriptor and a bitmap. */
	const struct move_run run = {
		.ino = NILFS_IFILE_INO, .blkoff = 1, .count = 2,
	};
	struct rig r;
	struct nilfs_inode *direct = inode_at(&r, 0);
	struct nilfs_inode *tree = inode_at(&r, 1);
	struct nilfs_inode *device = inode_at(&r, 2);
	struct nilfs_btree_node *root = (void *)tree->i_bmap;

	open_rig(&r);
	direct->i_mode = le16_make(0100644);
	direct->i_bmap[1] = le64_make(101);
	direct->i_bmap[6] = le64_make(99);
	tree->i_mode = le16_make(0040755);
	root->bn_flags = 1;
	root->bn_level = 2;
	root->bn_nchildren = le16_make(1);
	tree->i_bmap[1] = le64_make(100);
	tree->i_bmap[4] = le64_make(100);
	device->i_mode = le16_make(0060600);
	device->i_bmap[0] = le64_make(100);
	device->i_bmap[1] = le64_make(100);
	direct->i_size = le64_make(100);
	renumber_block(&r.r, &run, 1, r.block);
	ok(is(direct->i_bmap[1], 8) && is(direct->i_bmap[6], 99),
	   "a direct map leads to it, too");
	ok(is(tree->i_bmap[4], 7) && is(tree->i_bmap[1], 100),
	   "and the root of a B-tree, whose keys are none");
	ok(is(device->i_bmap[0], 100) && is(device->i_bmap[1], 100),
	   "a device has no map");
	ok(is(direct->i_size, 100), "a size is no pointer");
	memset(r.block, 0, sizeof(r.block));
	direct->i_mode = le16_make(0100644);
	direct->i_bmap[1] = le64_make(101);
	renumber_block(&r.r, &run, 0, r.block);
	ok(is(direct->i_bmap[1], 101), "a bitmap has no inodes");
	renumber_fini(&r.r);
}

static void test_data(void)
{
	const struct move_run run = { .ino = 12, .count = 1 };
	struct rig r;

	open_rig(&r);
	r.block[0] = le64_make(100);
	renumber_block(&r.r, &run, 0, r.block);
	ok(is(r.block[0], 100), "what is in files stays as it is");
	renumber_fini(&r.r);
}

static void is_part(const struct rig *r, const struct move_run *run,
		    uint32_t skip, uint64_t vblocknr, uint32_t count)
{
	struct move_run part = renumber_part(&r->r, run, skip);

	ok(part.vblocknr == vblocknr && part.count == count &&
	   part.blkoff == run->blkoff + skip && part.ino == run->ino,
	   "from block %u on, %u follow as %u", (unsigned int)skip,
	   (unsigned int)count, (unsigned int)vblocknr);
}

static void test_parts(void)
{
	const struct move_run run = {
		.ino = 12, .cno = 4, .vblocknr = 98, .blkoff = 40, .count = 9,
	};
	struct rig r;

	open_rig(&r);
	is_part(&r, &run, 0, 98, 2);
	is_part(&r, &run, 2, 7, 2);
	is_part(&r, &run, 4, 102, 3);
	is_part(&r, &run, 7, 3, 1);
	is_part(&r, &run, 8, 106, 1);
	renumber_fini(&r.r);
}

int main(void)
{
	test_node();
	test_inodes();
	test_data();
	test_parts();
	return tap_done();
}
