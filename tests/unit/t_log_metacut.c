// SPDX-License-Identifier: GPL-2.0-or-later
/* Metadata files that lose their ends, against an array that knows better. */
#include <stdlib.h>

#include "base/checked.h"
#include "disk/bmap.h"
#include "log_model.h"
#include "tap.h"

static const char *const kind_names[] = { "DAT", "single", "multi" };

static void fill(struct model *md, uint32_t from, uint32_t end)
{
	for (; from < end; from++)
		model_change(md, from);
}

/* The fewest nodes that N (> 6) blocks take. */
static uint32_t count_nodes(uint64_t n)
{
	uint32_t nodes = 0;

	while (n > NILFS_BTREE_ROOT_NCHILDREN_MAX) {
		n = div_round_up(n, bmap_node_max(MODEL_BS));
		nodes += (uint32_t)n;
	}
	return nodes;
}

/* Full nodes, cut to each length in turn: what is left is a full tree. */
static void test_lengths(enum metafile_kind kind, uint32_t keys, uint32_t step)
{
	struct model *md = model_new(kind, keys, 1);
	uint32_t left = keys, wrong = 0;

	fill(md, 0, keys);
	model_checkpoint(md);
	while (left) {
		left = left > step ? left - step : 0;
		model_reopen(md, &md->inode);
		model_truncate(md, left);
		model_checkpoint(md);
		wrong += left > 6 && metafile_facts(md->m).nblocks !=
				     left + count_nodes(left);
	}
	is_int(md->bad, 0, "a full file is cut to nothing, step by step");
	is_int(wrong, 0, "and never has a node too many");
	ok(metafile_facts(md->m).empty && !metafile_facts(md->m).nblocks,
	   "nothing is left of it");
	fill(md, 0, keys / 2);
	model_checkpoint(md);
	is_int(md->bad, 0, "and it can be filled again");
	printf("# %s file, %u keys\n", kind_names[kind], keys);
	model_free(md);
}

/* Changed, written in parts and cut at random, in several checkpoints. */
static void test_random(enum metafile_kind kind, uint32_t keys,
			uint32_t spread)
{
	struct model *md = model_new(kind, keys, spread);
	unsigned int round, i;

	for (round = 0; round < 30; round++) {
		for (i = 0; i < 400; i++)
			model_change(md, model_some_key(md));
		if (model_draw(md, 2))
			model_write_out(md, model_draw(md, 2),
					model_draw(md, 100));
		model_truncate(md, (uint32_t)model_draw(md, keys + 1));
		for (i = 0; i < 20; i++)
			model_look(md, (uint32_t)model_draw(md, keys));
		model_checkpoint(md);
		if (model_draw(md, 2))
			model_reopen(md, &md->inode);
	}
	is_int(md->bad, 0, "cuts at random come out as the array has them");
	printf("# %s file, %u keys, every %u\n", kind_names[kind], keys,
	       spread);
	model_free(md);
}

/* After the end there is nothing to change. */
static void test_nothing(enum metafile_kind kind)
{
	struct model *md = model_new(kind, 500, 1);

	fill(md, 0, 500);
	model_checkpoint(md);
	model_reopen(md, &md->inode);
	model_truncate(md, 500);
	is_int(metafile_dirty(md->m), 0, "to cut nothing changes nothing");
	model_truncate(md, 499);
	is_int(metafile_dirty(md->m), 2, "one block less: the path to it");
	ok(metafile_facts(md->m).changed, "the file is changed");
	model_checkpoint(md);
	is_int(md->bad, 0, "and as the array has it");
	model_free(md);
}

/*
 * Wherever what it asks for fails, the failure comes back.  Nothing is written,
 * so each try begins with the same file.
 */
static void test_failures(enum metafile_kind kind)
{
	struct model *md = model_new(kind, 700, 1);
	unsigned int calls = 0;
	int ret;

	fill(md, 0, 700);
	model_checkpoint(md);
	do {
		md->f.calls_left = 0;
		model_reopen(md, &md->inode);
		md->f.calls_left = ++calls;
		ret = metafile_truncate(md->m, &md->cx, 100);
	} while (ret < 0 && calls < 10000);
	model_free(md);
	is_int(ret, 0, "failures are returned");
	ok(calls > 600, "%u calls of the environment may fail", calls);
}

int main(void)
{
	enum metafile_kind kind;

	for (kind = METAFILE_DAT; kind <= METAFILE_MULTI; kind++) {
		test_lengths(kind, 7, 1);
		test_lengths(kind, 190, 1);
		test_lengths(kind, 4100, 100);
		test_lengths(kind, 12000, 700);
		test_random(kind, 6, 1);
		test_random(kind, 200, 1);
		test_random(kind, 3000, 1000003);
		test_nothing(kind);
		test_failures(kind);
	}
	return tap_done();
}
