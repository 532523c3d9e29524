// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Orders of blocks.
 *
 * An order is a rank for each file; files of equal rank are sorted by inode
 * number.
 *
 * Ages come from the logs that list the blocks, which contain the checkpoint of
 * each, wherever it was moved since.  The age of a file is the mean of its
 * blocks; young files are likely to be rewritten, so that segments of them
 * empty by themselves.  They come first: nilfs_cleanerd, which takes the oldest
 * segments and of one second the lowest, takes these before full ones.  Classes
 * keep files of similar age together: each is half as old as the next.
 */
#include "gc/move/order.h"

#include <errno.h>
#include <stdlib.h>

#include "disk/inode.h"
#include "gc/move/load.h"
#include "vol/root.h"
#include "vol/tree.h"
#include "vol/volume.h"

/* Of age: the youngest is what was written in a 32nd of the history. */
#define CLASSES 6

int order_add(struct order *o, struct context *cx, uint64_t ino)
{
	int ret;

	if (tally_get(&o->ranks, ino) || o->last == INT32_MAX)
		return 0;
	ret = tally_add(&o->ranks, cx, ino, ++o->last);
	return ret ? ret : 1;
}

/* Files that the walk does not reach come after the others. */
static int walk_tree(struct order *o, struct context *cx, struct root *root)
{
	const struct tree_options how = { .recursive = true, .inodes = true };
	struct tree_item item;
	struct tree *tree;
	int ret = tree_open(&tree, cx, root, "/", &how);

	while (!ret && (ret = tree_next(tree, cx, &item)) > 0) {
		ret = item.kind == TREE_ENTRY ? order_add(o, cx, item.ino) : 0;
		if (ret > 0)
			ret = 0;
		if (item.kind == TREE_BROKEN)
			fail_clear(cx);
	}
	tree_close(tree);
	/* The inode of the root may be unreadable too. */
	if (ret != -EUCLEAN && ret != -EIO && ret != -ENOENT)
		return ret;
	fail_clear(cx);
	return 0;
}

static int rank_tree(struct order *o, struct context *cx, struct volume *vol)
{
	struct root root;
	int ret = root_open(&root, cx, vol, 0);

	return ret ? ret : walk_tree(o, cx, &root);
}

int order_open(struct order *o, struct context *cx, struct volume *vol,
	       enum order_kind kind)
{
	*o = (struct order){ .kind = kind };
	return kind == ORDER_TREE ? rank_tree(o, cx, vol) : 0;
}

int order_find(struct order *o, struct context *cx, struct dev *dev,
	       enum order_kind kind)
{
	struct volume *vol;
	int ret = volume_open(&vol, cx, dev, NULL);

	*o = (struct order){ .kind = kind };
	if (!ret)
		ret = order_open(o, cx, vol, kind);
	volume_close(vol);
	return ret;
}

void order_close(struct order *o)
{
	tally_fini(&o->ranks);
}

/*
 * The youngest checkpoint with a block of a file: ages are relative to that, so
 * that moving, which makes checkpoints too, changes none.
 */
static uint64_t youngest(const struct load *load)
{
	uint64_t cno = 0;
	size_t i;

	for (i = 0; i < load->has.nruns; i++) {
		const struct move_run *what = &load->runs[i].what;

		if (!inode_is_metadata(what->ino) && what->cno > cno)
			cno = what->cno;
	}
	return cno;
}

/*
 * How many checkpoints before LATEST the blocks of RUNS to END were written,
 * the mean: of the latest state, which comes first, if it has the file.
 */
static uint64_t age_of(uint64_t latest, const struct load_run *runs,
		       const struct load_run *end)
{
	bool current = runs->current;
	uint64_t blocks = 0;
	double sum = 0;

	for (; runs < end && runs->current == current; runs++) {
		if (runs->what.cno < latest)
			sum += (double)(latest - runs->what.cno) *
			       runs->what.count;
		blocks += runs->what.count;
	}
	return (uint64_t)(sum / (double)blocks);
}

/* From 1, the youngest. */
static uint32_t class_of(uint64_t latest, uint64_t age)
{
	uint64_t begin = latest / 2;
	uint32_t class = CLASSES;

	for (; class > 1 && age < begin; begin /= 2)
		class--;
	return class;
}

/* Ranks the sorted runs by the ages of their files. */
static void rank_ages(struct load *load)
{
	struct load_run *run = load->runs, *end = run + load->has.nruns, *next;
	uint64_t latest = youngest(load);
	uint32_t rank;

	for (; run < end; run = next) {
		for (next = run; next < end &&
		     next->what.ino == run->what.ino; next++)
			;
		rank = class_of(latest, age_of(latest, run, next));
		for (; run < next; run++)
			run->rank = rank;
	}
}

static void rank_load(const struct order *o, struct load *load)
{
	size_t i;

	for (i = 0; i < load->has.nruns; i++) {
		struct load_run *run = &load->runs[i];
		uint32_t rank = (uint32_t)tally_get(&o->ranks, run->what.ino);

		run->rank = rank ? rank : UINT32_MAX;
	}
}

void order_apply(const struct order *o, struct load *load)
{
	switch (o->kind) {
	case ORDER_TREE:
	case ORDER_GIVEN:
		rank_load(o, load);
		break;
	case ORDER_AGE:
		load_sort(load, false);
		rank_ages(load);
		break;
	case ORDER_FILE:
	case ORDER_VICTIM:
		break;
	}
	load_sort(load, o->kind == ORDER_VICTIM);
}
