// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a checkpoint costs the pass over names: as much as differs from the one
 * looked at before, however many directories both share.  Counted are bytes
 * read from the device, which is the same on every machine.
 */
#include <stdio.h>

#include "check/check.h"
#include "check/pass/passes.h"
#include "dev/gather.h"

#include "filled.h"
#include "find/findprint.h"
#include "tap.h"
#include "tree.h"

#define BLOCK 1024u
#define DIRS 200u
#define FILES 30u /* of each, in one block */
#define LAYERS 8u
#define MANY 20u /* directories that one layer changes */

/* To compare two checkpoints: blocks, and what lies between and is dropped. */
#define LAYER_MAX (2 * GATHER_GAP + 16 * BLOCK)
/* A directory that changed: its old and its new block, those of its inode. */
#define CHANGE_MAX (4u * BLOCK)

static const struct log_shape shape = {
	.block_size = BLOCK,
	.blocks_per_segment = 64,
	.nsegments = 800,
	.threads = 1,
};

static void show(void *arg, const struct finding *f)
{
	char place[PLACE_TEXT_MAX];

	(void)arg;
	findprint_place(&f->place, place);
	printf("# %s: %s\n", rule_info(f->rule)->slug, place);
}

static int run_passes(struct check *c, struct context *cx, uint64_t *bytes)
{
	const struct pass *pass;
	int ret = pass_super(c, cx);
	size_t i;

	for (i = 0; !ret && c->vol && (pass = check_volume_pass(i)); i++) {
		uint64_t before = c->dev->stats.read_bytes;

		ret = pass->run(c, cx);
		if (pass->run == pass_names)
			*bytes = c->dev->stats.read_bytes - before;
	}
	return ret;
}

/* Bytes that the pass over names reads; 0 where anything is found. */
static uint64_t cost(struct filled *f)
{
	struct check c = {
		.dev = f->v.dev, .table_memory = CONTEXT_MAX_MEMORY_DEFAULT,
	};
	uint64_t bytes = 0, found;
	int ret = findings_open(&c.findings, &f->v.cx, show, NULL, false);

	if (!ret)
		ret = run_passes(&c, &f->v.cx, &bytes);
	found = findings_count_severity(c.findings, RULE_WARNING);
	check_fini(&c);
	findings_close(c.findings);
	return ret || found ? 0 : bytes;
}

static void name_dir(char *name, size_t size, unsigned int dir)
{
	snprintf(name, size, "d%03u", dir);
}

/* A layer with file NUMBER in directories FIRST to FIRST + COUNT - 1. */
static uint64_t add_layer(struct filled *f, unsigned int first,
			  unsigned int count, unsigned int number)
{
	struct tree tree;
	char name[32];
	int err;

	tree_make(&tree);
	for (; count--; first++) {
		name_dir(name, sizeof(name), first);
		tree_dir(&tree, name);
		snprintf(name, sizeof(name), "d%03u/n%02u", first, number);
		tree_file(&tree, name, 1, number);
	}
	err = filled_tree(f, tree.path);
	tree_remove(&tree);
	return err ? 0 : cost(f);
}

static uint64_t add_base(struct filled *f)
{
	struct tree tree;
	unsigned int i, k;
	char name[32];
	int err;

	tree_make(&tree);
	for (i = 0; i < DIRS; i++) {
		name_dir(name, sizeof(name), i);
		tree_dir(&tree, name);
		for (k = 0; k < FILES; k++) {
			snprintf(name, sizeof(name), "d%03u/f%02u", i, k);
			tree_file(&tree, name, 0, k + 1);
		}
	}
	err = filled_tree(f, tree.path);
	tree_remove(&tree);
	return err ? 0 : cost(f);
}

/* Whether LATER is a cost, and at most MOST above EARLIER. */
static bool is_near(uint64_t earlier, uint64_t later, uint64_t most)
{
	printf("# %llu bytes, then %llu\n", (unsigned long long)earlier,
	       (unsigned long long)later);
	return later && later <= earlier + most;
}

int main(void)
{
	uint64_t whole, earlier, later;
	struct filled f;
	unsigned int i;

	filled_init(&f, &shape);
	whole = later = add_base(&f);
	ok(whole >= DIRS * BLOCK, "the first checkpoint is read whole");
	for (i = 0; i < LAYERS; i++) {
		earlier = later;
		later = add_layer(&f, i * 10, 1, i);
		ok(is_near(earlier, later, LAYER_MAX + CHANGE_MAX),
		   "one with a new file adds a few blocks");
	}
	earlier = later;
	later = add_layer(&f, 0, MANY, LAYERS);
	ok(is_near(earlier, later, LAYER_MAX + MANY * CHANGE_MAX),
	   "one with many adds a few blocks for each");
	ok(later < 2 * whole, "all of them less than the first");
	filled_fini(&f);
	return tap_done();
}
