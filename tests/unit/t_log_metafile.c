// SPDX-License-Identifier: GPL-2.0-or-later
/* Metadata files changed in many ways, against an array that knows better. */
#include "log/meta/metafile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log_model.h"
#include "tap.h"

static const char *const kind_names[] = { "DAT", "single", "multi" };

/* Random changes over some checkpoints, with the writing of parts between. */
static void test_random(enum metafile_kind kind, uint32_t keys,
			uint32_t spread, uint32_t steps, unsigned int level)
{
	struct model *md = model_new(kind, keys, spread);
	unsigned int round, got = 0;
	uint32_t i;

	for (round = 0; round < 6; round++) {
		for (i = 0; i < steps; i++) {
			model_change(md, model_some_key(md));
			if (!model_draw(md, 4))
				model_look(md, (uint32_t)model_draw(md, keys));
			if (!model_draw(md, 3000))
				model_write_out(md, !model_draw(md, 3),
						model_draw(md, 200));
		}
		got = model_checkpoint(md);
		if (model_draw(md, 3))
			model_reopen(md, &md->inode);
		for (i = 0; i < 50; i++)
			model_look(md, (uint32_t)model_draw(md, keys));
	}
	is_int(md->bad, 0, "changes at random come out as the array has them");
	is_int(got, level, "in a tree of this height");
	printf("# %s file, %u keys, every %u\n", kind_names[kind], keys,
	       spread);
	model_free(md);
}

/*
 * Nodes of N blocks in a row: all are full, but that nodes above leaves leave
 * their last child to the next one.
 */
static uint32_t nodes_in_row(uint32_t n)
{
	const uint32_t fanout = (MODEL_BS - 16) / 16;
	uint32_t sum = 0, each = fanout;

	while (n > NILFS_BTREE_ROOT_NCHILDREN_MAX) {
		n = n <= fanout ? 1 : (n - (each < fanout) + each - 1) / each;
		sum += n;
		each = fanout - 1;
	}
	return sum;
}

/* Front to back, as the DAT and the ifile of a new volume are filled. */
static void test_sequential(enum metafile_kind kind, uint32_t keys)
{
	struct model *md = model_new(kind, keys, 1);
	uint32_t i, j;

	for (i = 0; i < keys; i++) {
		for (j = 0; j < 3; j++)
			model_change(md, i);
		if (i > 10)
			model_change(md, i - (uint32_t)model_draw(md, 10));
		if (metafile_dirty(md->m) > 200)
			model_write_out(md, false, 100);
	}
	model_checkpoint(md);
	is_int(md->bad, 0, "a file filled from front to back");
	is_int(metafile_facts(md->m).nblocks, keys + nodes_in_row(keys),
	       "has full nodes");
	printf("# %s file, %u blocks\n", kind_names[kind], keys);
	model_free(md);
}

static void test_backwards(enum metafile_kind kind)
{
	struct model *md = model_new(kind, 2000, 3);
	uint32_t i;

	/* A full node, then smaller and smaller keys at its right. */
	for (i = 0; i < 63; i++)
		model_change(md, i);
	for (i = 2000; i-- > 63;)
		model_change(md, i);
	model_checkpoint(md);
	is_int(md->bad, 0, "a file filled from the back");
	ok(metafile_facts(md->m).nblocks < 2000 + 2000 / 31 + 10,
	   "has nodes half full");
	model_free(md);
}

/* Nothing is written that need not be. */
static void test_economy(enum metafile_kind kind)
{
	struct model *md = model_new(kind, 12000, 1);
	struct metafile_block *blocks = NULL;
	unsigned int reads;
	size_t n = 0;
	uint32_t i;

	for (i = 0; i < 12000; i++)
		model_change(md, i);
	model_checkpoint(md);
	model_reopen(md, &md->inode);
	md->f.reads = 0;
	for (i = 0; i < 1000; i++)
		model_change(md, 5000);
	is_int(md->f.reads, 4, "one block and its path are read once");
	is_int(metafile_dirty(md->m), 4, "and become dirty");
	for (i = 4990; i < 5010; i++)
		model_change(md, i);
	model_change(md, 4995);
	is_int(metafile_collect(md->m, &md->cx, false, 3, &blocks, &n), 0,
	       "collect all but three");
	is_int(n, 17, "17 of 20 data blocks, no node");
	ok(n == 17 && blocks[4].key == 4994 && blocks[5].key == 4996 &&
	   blocks[16].key == 5007, "the three changed last remain");
	free(blocks);
	is_int(metafile_collect(md->m, &md->cx, false, 20, &blocks, &n), 0,
	       "all but twenty");
	ok(!n && !blocks, "are none");
	model_checkpoint(md);
	reads = md->f.reads;
	for (i = 0; i < 100; i++)
		model_look(md, 7000 + i % 3);
	ok(md->f.reads - reads <= 3 + 4, "clean blocks are kept for a while");
	for (i = 0; i < 500; i++)
		model_look(md, i);
	reads = md->f.reads;
	model_look(md, 0);
	ok(md->f.reads > reads, "but not many");
	is_int(md->bad, 0, "and all is well");
	printf("# %s file\n", kind_names[kind]);
	model_free(md);
}

/* Maps that the kernel makes: nilfs_btree_convert_and_insert(). */
static void test_convert(void)
{
	static const struct {
		uint32_t keys[8];
		unsigned int n, level, nblocks;
	} cases[] = {
		{ { 0, 5, 3 }, 3, 0, 3 },
		{ { 0, 1, 2, 3, 4, 5 }, 6, 0, 6 },
		{ { 6 }, 1, 1, 1 },
		{ { 5, 2, 6 }, 3, 1, 3 },
		{ { 6, 2, 5 }, 3, 1, 3 },
		{ { 0, 1, 2, 6 }, 4, 2, 5 },
		{ { 9, 8, 7, 6 }, 4, 2, 5 },
		{ { 0, 1, 2, 3, 4, 5, 6 }, 7, 2, 8 },
		{ { 0, 1, 2, 3, 4, 5, 6, 7 }, 8, 2, 9 },
	};
	enum metafile_kind kind;
	unsigned int i, j;

	for (kind = METAFILE_DAT; kind <= METAFILE_MULTI; kind++)
		for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
			struct model *md = model_new(kind, 10, 1);

			for (j = 0; j < cases[i].n; j++)
				model_change(md, cases[i].keys[j]);
			is_int(model_checkpoint(md), cases[i].level,
			       "level of root");
			is_int(metafile_facts(md->m).nblocks, cases[i].nblocks,
			       "number of blocks");
			is_int(md->bad, 0, "content");
			model_free(md);
		}
}

/* Random changes of which the call number CALLS fails, if there are as many. */
static int change_until(enum metafile_kind kind, unsigned int calls)
{
	struct model *md = model_new(kind, 4000, 1);
	void *data;
	uint32_t i;
	int err = 0;

	for (i = 0; i < 300; i++)
		model_change(md, i * 13);
	model_checkpoint(md);
	model_reopen(md, &md->inode);
	md->f.calls_left = calls;
	for (i = 0; i < 30 && !err; i++)
		err = metafile_change(md->m, &md->cx, model_draw(md, 4000),
				      &data, NULL);
	model_free(md);
	return err;
}

/* Whatever fails where, nothing is lost or used after it is gone. */
static void test_failures(enum metafile_kind kind)
{
	unsigned int calls = 1;
	int err;

	do
		err = change_until(kind, calls++);
	while (err == -ENOSPC);
	is_int(err, 0, "failures of the writer are passed on");
	ok(calls > 20, "wherever they come");
}

static int open_with(struct model *md, const le64 *map)
{
	struct nilfs_inode inode = { 0 };

	memcpy(inode.i_bmap, map, sizeof(inode.i_bmap));
	metafile_close(md->m);
	return metafile_open(&md->m, &md->cx, &md->f.env, MODEL_BS, 3,
			     md->kind, &inode);
}

/* Nodes that lie: at PTR of the device is one of LEVEL with CHILD. */
static void put_node(struct model *md, uint64_t ptr, uint8_t level,
		     uint64_t child)
{
	uint8_t node[MODEL_BS] = { 0, level, 1 };
	struct metafile_block block = { .ptr = ptr, .data = node };
	le64 word = le64_make(child);

	memcpy(node + 16 + 63 * 8, &word, sizeof(word));
	fakedat_write(&md->f, md->kind, &block, ptr);
}

static void test_hostile(enum metafile_kind kind)
{
	struct model *md = model_new(kind, 10, 1);
	uint8_t root[56] = { 1, 3, 1 };
	const le64 *map = (const le64 *)root;
	const void *data;
	void *changed;

	root[32] = 9;
	ok(!open_with(md, map), "a root");
	put_node(md, 9, 2, 9);
	is_int(metafile_look(md->m, &md->cx, 0, &data), -EUCLEAN,
	       "a node that points to itself");
	is_int(metafile_change(md->m, &md->cx, 7, &changed, NULL), -EUCLEAN,
	       "is not changed either");
	put_node(md, 9, 2, 1ull << 63 | 1);
	ok(!open_with(md, map), "the root again");
	is_int(metafile_look(md->m, &md->cx, 0, &data), -EUCLEAN,
	       "a pointer that no device has");
	put_node(md, 9, 2, 0);
	ok(!open_with(md, map), "the root again");
	is_int(metafile_look(md->m, &md->cx, 0, &data), -EUCLEAN,
	       "a null pointer");
	put_node(md, 9, 2, 77);
	ok(!open_with(md, map), "the root again");
	is_int(metafile_look(md->m, &md->cx, 0, &data), -EIO,
	       "a place that cannot be read");
	root[39] = 0x80;
	is_int(open_with(md, map), -EUCLEAN, "such a pointer in the root");
	root[39] = 0;
	root[1] = 14;
	is_int(open_with(md, map), -EUCLEAN, "a root too high");
	root[0] = 0;
	root[39] = 0x80;
	is_int(open_with(md, map), -EUCLEAN, "and in a direct map");
	model_free(md);
}

/*
 * The map of a written file is lost: one over the same blocks is the same
 * file, and a block that is changed ends as it would have.
 */
static void test_keep(enum metafile_kind kind, uint32_t keys)
{
	struct model *md = model_new(kind, keys, 1);
	uint64_t *ptrs = calloc(keys, sizeof(*ptrs));
	unsigned int level;
	uint32_t i;

	for (i = 0; i < keys; i++)
		model_change(md, i);
	level = model_checkpoint(md);
	for (i = 0; i < keys; i++)
		if (metafile_lookup(md->m, &md->cx, i, &ptrs[i]) != 1)
			md->bad++;
	model_reopen(md, NULL);
	ok(metafile_facts(md->m).empty, "a file that begins again is empty");
	for (i = 0; i < keys; i++)
		if (metafile_adopt(md->m, &md->cx, i, ptrs[i]))
			md->bad++;
	ok(metafile_facts(md->m).changed, "until blocks are kept in it");
	for (i = 0; i < keys; i++)
		model_look(md, i);
	model_change(md, keys / 2);
	is_int(md->f.ended[ptrs[keys / 2]], 1,
	       "a kept block ends with a change");
	/* Old nodes are unused then, which the account would show. */
	if (!level)
		model_checkpoint(md);
	is_int(md->bad, 0, "and is what it was");
	free(ptrs);
	model_free(md);
}

static void test_adopt_nothing(void)
{
	struct model *md = model_new(METAFILE_SINGLE, 4, 1);

	is_int(metafile_adopt(md->m, &md->cx, 0, 0), -EINVAL,
	       "a pointer to nothing is not adopted");
	ok(metafile_facts(md->m).empty, "and nothing came of it");
	model_free(md);
}

/*
 * Every other block is there: all are filled again, and what they were is given
 * up unread, as by any change.
 */
static void test_replace(enum metafile_kind kind, uint32_t keys)
{
	struct model *md = model_new(kind, keys, 1);
	uint64_t ptr = 0, nodes;
	uint32_t i;

	for (i = 0; i < keys; i += 2)
		model_change(md, i);
	model_checkpoint(md);
	nodes = metafile_facts(md->m).nblocks - (keys + 1) / 2;
	model_reopen(md, &md->inode);
	is_int(metafile_lookup(md->m, &md->cx, 2, &ptr), 1, "a block");
	md->f.reads = 0;
	for (i = 0; i < keys; i++)
		model_replace(md, i);
	ok(md->f.reads <= nodes, "is filled again without being read");
	if (kind != METAFILE_DAT)
		is_int(md->f.ended[ptr], 1, "what it was ends");
	model_replace(md, 2);
	model_change(md, 2);
	model_replace(md, 2);
	for (i = 0; i < keys; i++)
		model_look(md, i);
	model_checkpoint(md);
	is_int(md->bad, 0, "and what it is now is what it was filled with");
	model_free(md);
}

/* The map of the DAT is lost: one over the same blocks is the same file. */
static void test_adopt(uint32_t keys)
{
	struct model *md = model_new(METAFILE_DAT, keys, 1);
	uint64_t *places = calloc(keys, sizeof(*places));
	unsigned int level;
	uint32_t i;

	for (i = 0; i < keys; i++)
		model_change(md, i);
	level = model_checkpoint(md);
	for (i = 0; i < keys; i++)
		if (metafile_lookup(md->m, &md->cx, i, &places[i]) != 1)
			md->bad++;
	model_reopen(md, NULL);
	for (i = keys; i--;)
		if (metafile_adopt(md->m, &md->cx, i, places[i]))
			md->bad++;
	ok(metafile_facts(md->m).changed, "a DAT that is given its blocks");
	for (i = 0; i < keys; i++)
		model_look(md, i);
	is_int(metafile_adopt(md->m, &md->cx, 0, places[0]), -EINVAL,
	       "none of them twice");
	for (i = 0; i < keys; i++)
		md->bad += md->f.superseded[places[i]];
	model_change(md, keys / 2);
	is_int(md->f.superseded[places[keys / 2]], 1,
	       "gives one up when it is changed");
	if (!level)
		model_checkpoint(md);
	is_int(md->bad, 0, "and is what it was");
	free(places);
	model_free(md);
}

int main(void)
{
	enum metafile_kind kind;

	for (kind = METAFILE_DAT; kind <= METAFILE_MULTI; kind++) {
		test_random(kind, 5, 1, 20, 0);
		test_random(kind, 3, 7, 20, 1);
		test_random(kind, 40, 1, 200, 2);
		test_random(kind, 3000, 1000003, 3000, 3);
		test_sequential(kind, 189);
		test_sequential(kind, 190);
		test_sequential(kind, 11907);
		test_sequential(kind, 11908);
		test_backwards(kind);
		test_economy(kind);
		test_failures(kind);
		test_hostile(kind);
	}
	test_random(METAFILE_DAT, MODEL_KEYS, 1, 9000, 4);
	test_random(METAFILE_MULTI, MODEL_KEYS, 5, 9000, 4);
	test_convert();
	test_keep(METAFILE_SINGLE, 5);
	test_keep(METAFILE_MULTI, 6);
	test_keep(METAFILE_MULTI, 300);
	test_adopt_nothing();
	for (kind = METAFILE_DAT; kind <= METAFILE_MULTI; kind++) {
		test_replace(kind, 5);
		test_replace(kind, 700);
	}
	test_adopt(6);
	test_adopt(300);
	return tap_done();
}
