// SPDX-License-Identifier: GPL-2.0-or-later
/* Metadata files that lose single blocks, against an array that knows better. */
#include <stdlib.h>

#include "log/meta/bmapbuild.h"
#include "log_model.h"
#include "tap.h"

static const char *const kind_names[] = { "DAT", "single", "multi" };

static void fill(struct model *md, uint32_t keys)
{
	uint32_t i;

	for (i = 0; i < keys; i++)
		model_change(md, i);
}

/* A key that is there, from KEY on, or from the start. */
static uint32_t next_key(const struct model *md, uint32_t key)
{
	while (!md->version[key])
		key = (key + 1) % md->keys;
	return key;
}

/*
 * Nodes below the root that LEFT entries have at most, each at least half full
 * but for the last of a level, which a file that grows begins with one entry.
 */
static uint64_t most_nodes(uint64_t left)
{
	const uint64_t least = (MODEL_BS - 16) / 16 / 2 + 1;
	uint64_t n = 0;

	while (left > NILFS_BTREE_ROOT_NCHILDREN_MAX) {
		left = left / least + 1;
		n += left;
	}
	return n;
}

/* All blocks go, at random, from the front or from the end, STEP at a time. */
static void test_all(enum metafile_kind kind, uint32_t keys, uint32_t step,
		     unsigned int way)
{
	static const char *const ways[] = { "any", "the first", "the last" };
	struct model *md = model_new(kind, keys, 1);
	uint32_t left = keys, wrong = 0, key, i;

	fill(md, keys);
	model_checkpoint(md);
	while (left) {
		model_reopen(md, &md->inode);
		for (i = 0; i < step && left; i++, left--) {
			key = way == 0 ? (uint32_t)model_draw(md, keys) :
			      way == 1 ? keys - left : left - 1;
			model_delete(md, next_key(md, key));
		}
		model_checkpoint(md);
		wrong += keys > 6 && metafile_facts(md->m).nblocks >
				     left + most_nodes(left);
	}
	is_int(md->bad, 0, "a full file loses all of its blocks");
	is_int(wrong, 0, "its nodes are never less than half full");
	ok(metafile_facts(md->m).empty && !metafile_facts(md->m).nblocks,
	   "nothing is left of it");
	fill(md, keys / 2);
	model_checkpoint(md);
	is_int(md->bad, 0, "and it can be filled again");
	printf("# %s file, %u keys, %s first\n", kind_names[kind], keys,
	       ways[way]);
	model_free(md);
}

/* Changed, written in parts, cut and deleted from, in several checkpoints. */
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
		for (i = 0; i < 300; i++)
			model_delete(md, (uint32_t)model_draw(md, keys));
		if (!model_draw(md, 4))
			model_truncate(md, (uint32_t)model_draw(md, keys));
		for (i = 0; i < 20; i++)
			model_look(md, (uint32_t)model_draw(md, keys));
		model_checkpoint(md);
		if (model_draw(md, 2))
			model_reopen(md, &md->inode);
	}
	is_int(md->bad, 0, "deletions come out as the array has them");
	printf("# %s file, %u keys, every %u\n", kind_names[kind], keys,
	       spread);
	model_free(md);
}

/* What is no block of the file cannot be deleted. */
static void test_nothing(enum metafile_kind kind)
{
	struct model *md = model_new(kind, 500, 2);

	fill(md, 400);
	model_checkpoint(md);
	model_reopen(md, &md->inode);
	model_delete(md, 450);
	is_int(metafile_dirty(md->m), 0, "a hole stays, and nothing changes");
	ok(!metafile_facts(md->m).changed, "the file is as it was");
	model_delete(md, 70);
	is_int(metafile_dirty(md->m), 2, "a block less: the path to it");
	ok(metafile_facts(md->m).changed, "the file is changed");
	model_look(md, 70);
	model_change(md, 70);
	model_checkpoint(md);
	is_int(md->bad, 0, "and the block comes back as a new one");
	model_free(md);
}

/*
 * Wherever what it asks for fails, the failure comes back.  Nothing is written,
 * so each try begins with the same file.
 */
static void test_failures(enum metafile_kind kind)
{
	struct model *md = model_new(kind, 4200, 1);
	unsigned int calls = 0;
	uint32_t i;
	int ret;

	fill(md, 4200);
	model_checkpoint(md);
	do {
		md->f.calls_left = 0;
		model_reopen(md, &md->inode);
		md->f.calls_left = ++calls;
		for (i = ret = 0; i < 100 && !ret; i++)
			ret = metafile_delete(md->m, &md->cx, 3990 - i);
	} while (ret < 0 && calls < 10000);
	model_free(md);
	is_int(ret, 0, "failures are returned");
	ok(calls > 100, "%u calls of the environment may fail", calls);
}

int main(void)
{
	enum metafile_kind kind;
	unsigned int way;

	for (kind = METAFILE_DAT; kind <= METAFILE_MULTI; kind++) {
		for (way = 0; way < 3; way++) {
			test_all(kind, 7, 1, way);
			test_all(kind, 190, 1, way);
			test_all(kind, 12000, 700, way);
		}
		test_random(kind, 6, 1);
		test_random(kind, 200, 1);
		test_random(kind, 3000, 1000003);
		test_nothing(kind);
		test_failures(kind);
	}
	return tap_done();
}
