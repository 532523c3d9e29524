// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Orders of blocks.
 *
 * An order is a rank for each file; files of equal rank are sorted by inode
 * number.
 *
 * Ages come from the logs that list the blocks: they record the original
 * checkpoint of each block, which does not change when it is moved.  The age of
 * a file is the mean of its blocks.  Young files are likely to be rewritten, so
 * that their segments become empty without cleaning.  They come first:
 * nilfs_cleanerd cleans the oldest segments first, and the lowest ones among
 * equally old, so it cleans these before full ones.  Classes keep files of
 * similar age together: each is half as old as the next.
 */
#include "gc/move/order.h"

#include <errno.h>

#include "disk/inode.h"
#include "gc/move/load.h"
#include "vol/root.h"
#include "vol/tree.h"
#include "vol/volume.h"

/*
 * The number of classes of age.  The youngest covers the latest 32nd of the
 * history.
 */
#define CLASSES 6

int order_add(struct order *o, struct context *cx, uint64_t ino)
{
	int ret;

	if (tally_get(&o->ranks, ino) || o->last == INT32_MAX)
		return 0;
	ret = tally_add(&o->ranks, cx, ino, ++o->last);
	return ret ? ret : 1;
}

int order_open(struct order *o, struct context *cx, struct volume *vol,
	       enum order_kind kind)
{
	const struct tree_options how = { .recursive = true, .inodes = true };
	struct tree_item item;
	struct tree *tree;
	struct root root;
	int ret;

	*o = (struct order){ .kind = kind };
	if (kind != ORDER_TREE)
		return 0;
	ret = root_open(&root, cx, vol, 0);
	if (ret)
		return ret;
	ret = tree_open(&tree, cx, &root, "/", &how);
	while (!ret && (ret = tree_next(tree, cx, &item)) > 0) {
		ret = item.kind == TREE_ENTRY ? order_add(o, cx, item.ino) : 0;
		if (ret > 0)
			ret = 0;
		if (item.kind == TREE_BROKEN)
			fail_clear(cx);
	}
	tree_close(tree);
	/*
	 * Files that the walk does not reach come after the others.  The inode
	 * of the root may be unreadable too.
	 */
	if (ret != -EUCLEAN && ret != -EIO && ret != -ENOENT)
		return ret;
	fail_clear(cx);
	return 0;
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
 * Ranks the sorted runs by the ages of their files: classes from 1, the
 * youngest.  The age of a file is the number of checkpoints before the youngest
 * one with a block of any file.  So moving, which makes checkpoints too,
 * changes no age.  It is the mean over the blocks of the latest state, which
 * are sorted first, or over all blocks if the file is not in the latest state.
 */
static void rank_ages(struct load *load)
{
	struct load_run *run = load->runs, *end = run + load->has.nruns, *r;
	uint64_t latest = 0, begin, blocks, ino;
	uint32_t class;
	bool current;
	double sum;

	for (r = run; r < end; r++)
		if (!inode_is_metadata(r->entry.ino) && r->entry.cno > latest)
			latest = r->entry.cno;
	while (run < end) {
		ino = run->entry.ino;
		current = run->current;
		blocks = 0;
		sum = 0;
		for (r = run; r < end && r->entry.ino == ino &&
		     r->current == current; r++) {
			if (r->entry.cno < latest)
				sum += (double)(latest - r->entry.cno) *
				       r->entry.count;
			blocks += r->entry.count;
		}
		begin = latest / 2;
		class = CLASSES;
		for (; class > 1 && (uint64_t)(sum / (double)blocks) < begin;
		     begin /= 2)
			class--;
		for (; run < end && run->entry.ino == ino; run++)
			run->rank = class;
	}
}

void order_apply(const struct order *o, struct load *load)
{
	size_t i;

	switch (o->kind) {
	case ORDER_TREE:
	case ORDER_GIVEN:
		for (i = 0; i < load->has.nruns; i++) {
			struct load_run *run = &load->runs[i];
			uint32_t rank = (uint32_t)tally_get(&o->ranks,
							    run->entry.ino);

			run->rank = rank ? rank : UINT32_MAX;
		}
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
