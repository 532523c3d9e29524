// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Block maps built in bulk, read back by the functions that read any volume's.
 *
 * The nodes given away are kept in an array; a walk from the root checks each
 * as the kernel would and must meet exactly the blocks of the runs.
 */
#include "log/meta/bmapbuild.h"

#include <errno.h>
#include <stdlib.h>

#include "disk/bmap.h"
#include "tap.h"

#define FIRST_PTR 1000000000 /* of a node; data pointers are smaller */

static struct context cx;

struct store {
	uint32_t block_size;
	uint8_t *blocks;
	size_t n, room;
	bool good;		/* the arguments agreed with the node */
};

static int keep_node(void *arg, struct context *c, unsigned int level,
		     uint64_t key, const void *block, uint64_t *ptr)
{
	struct store *s = arg;
	struct bmap_node node;

	(void)c;
	if (s->n == s->room) {
		s->room = s->room ? 2 * s->room : 64;
		s->blocks = realloc(s->blocks, s->room * s->block_size);
	}
	bmap_node_read(s->block_size, block, &node);
	if (node.level != level || bmap_node_key(&node, 0) != key)
		s->good = false;
	memcpy(s->blocks + s->n * s->block_size, block, s->block_size);
	*ptr = FIRST_PTR + s->n++;
	return 0;
}

/* What a walk meets, compared with what is expected as it goes on. */
struct walk {
	const struct store *store;
	const struct bmapbuild_run *run;
	size_t nruns;
	uint64_t at;		/* block of the run */
	uint64_t nodes;
	unsigned int top;	/* level of the root */
	bool good;
};

static void meet(struct walk *w, uint64_t key, uint64_t ptr)
{
	if (!w->nruns || key != w->run->blkoff + w->at ||
	    ptr != w->run->ptr + w->at) {
		w->good = false;
		return;
	}
	if (++w->at == w->run->count) {
		w->run++;
		w->nruns--;
		w->at = 0;
	}
}

static void walk_node(struct walk *w, const struct bmap_node *node)
{
	const struct store *s = w->store;
	uint32_t i;

	if (bmap_node_check_entries(node) != RULE_OK)
		w->good = false;
	/* nilfs_btree_prepare_delete() takes such a node for the root. */
	if (node->level > 1 && node->level < w->top && node->nchildren < 2)
		w->good = false;
	for (i = 0; i < node->nchildren && w->good; i++) {
		uint64_t ptr = bmap_node_ptr(node, i) - FIRST_PTR;
		struct bmap_node child;

		if (node->level == 1) {
			meet(w, bmap_node_key(node, i), bmap_node_ptr(node, i));
			continue;
		}
		if (ptr >= s->n ||
		    bmap_node_check(s->block_size,
				    s->blocks + ptr * s->block_size)) {
			w->good = false;
			return;
		}
		bmap_node_read(s->block_size, s->blocks + ptr * s->block_size,
			       &child);
		if (child.level != node->level - 1 ||
		    bmap_node_key(&child, 0) != bmap_node_key(node, i))
			w->good = false;
		w->nodes++;
		walk_node(w, &child);
	}
}

/* True where MAP has exactly the blocks of RUNS, in as many nodes as kept. */
static bool reads_back(const struct store *s,
		       const le64 map[NILFS_INODE_BMAP_SIZE],
		       const struct bmapbuild_run *runs, size_t nruns)
{
	struct walk w = { s, runs, nruns, 0, 0, 0, true };
	struct bmap_node root;
	uint64_t key;

	if (bmap_is_btree(map)) {
		if (bmap_root_check(map) != RULE_OK)
			return false;
		bmap_root_read(map, &root);
		w.top = root.level;
		walk_node(&w, &root);
	} else {
		for (key = 0; key < NILFS_DIRECT_NBLOCKS; key++)
			if (bmap_direct_ptr(map, key))
				meet(&w, key, bmap_direct_ptr(map, key));
	}
	return w.good && !w.nruns && w.nodes == s->n && s->good;
}

static int build(struct bmapbuild *b, struct store *s,
		 const struct bmapbuild_run *runs, size_t nruns,
		 le64 map[NILFS_INODE_BMAP_SIZE], uint64_t *nodes)
{
	size_t i;
	int err;

	s->n = 0;
	s->good = true;
	bmapbuild_begin(b);
	for (i = 0; i < nruns; i++) {
		err = bmapbuild_add(b, &cx, &runs[i], keep_node, s);
		if (err)
			return err;
	}
	return bmapbuild_end(b, &cx, keep_node, s, map, nodes);
}

/*
 * Nodes of a file without holes, counted by hand for 63 and 255 children: one
 * per full node, and a level more wherever three would not do.
 */
static const struct {
	uint32_t block_size;
	uint64_t nblocks;
	unsigned int level;	/* of the root, 0: direct */
	uint64_t nodes;
} sizes[] = {
	{ 1024, 0, 0, 0 },	 { 1024, 1, 0, 0 },
	{ 1024, 5, 0, 0 },	 { 1024, 6, 0, 0 },
	{ 1024, 7, 2, 1 },	 { 1024, 63, 2, 1 },
	{ 1024, 64, 2, 2 },	 { 1024, 189, 2, 3 },
	{ 1024, 190, 3, 5 },	 { 1024, 3970, 3, 66 },
	{ 1024, 4032, 3, 66 },	 { 1024, 4033, 3, 67 },
	{ 1024, 7939, 3, 130 },	 { 1024, 11907, 3, 192 },
	{ 1024, 11908, 4, 195 }, { 1024, 250048, 4, 4036 },
	{ 1024, 250110, 4, 4036 }, { 1024, 750141, 4, 12099 },
	{ 1024, 750142, 5, 12103 }, { 4096, 6, 0, 0 },
	{ 4096, 7, 2, 1 },	 { 4096, 255, 2, 1 },
	{ 4096, 256, 2, 2 },	 { 4096, 765, 2, 3 },
	{ 4096, 766, 3, 5 },	 { 4096, 195075, 3, 768 },
	{ 4096, 195076, 4, 771 },
};

static void test_sizes(uint32_t block_size)
{
	struct store s = { .block_size = block_size };
	struct bmapbuild *b = NULL;
	le64 map[NILFS_INODE_BMAP_SIZE];
	struct bmap_node root;
	uint64_t nodes = 99;
	size_t i;

	ok(!bmapbuild_open(&b, &cx, block_size), "a builder for %u",
	   block_size);
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct bmapbuild_run run = { 0, 17, sizes[i].nblocks };

		if (sizes[i].block_size != block_size)
			continue;
		ok(!build(b, &s, &run, 1, map, &nodes) &&
		   reads_back(&s, map, &run, run.count != 0),
		   "%llu blocks of %u are read back",
		   (unsigned long long)run.count, block_size);
		bmap_root_read(map, &root);
		is_int(bmap_is_btree(map) ? root.level : 0, sizes[i].level,
		       "with the lowest root");
		is_int(nodes, sizes[i].nodes, "and the fewest nodes");
	}
	bmapbuild_close(b);
	free(s.blocks);
}

/* What the kernel makes of files with few blocks: direct.c, btree.c. */
static void test_sparse(void)
{
	const struct bmapbuild_run low[] = { { 0, 10, 1 }, { 5, 20, 1 } };
	const struct bmapbuild_run past[] = { { 0, 10, 1 }, { 6, 20, 2 } };
	const struct bmapbuild_run four[] = { { 1, 10, 3 }, { 6, 20, 1 } };
	const struct bmapbuild_run far[] = { { 1ull << 50, 10, 1 } };
	struct store s = { .block_size = 1024 };
	struct bmapbuild *b = NULL;
	le64 map[NILFS_INODE_BMAP_SIZE];
	struct bmap_node root;
	uint64_t nodes = 99;

	memset(map, 0, sizeof(map));
	ok(!bmapbuild_open(&b, &cx, s.block_size), "a builder");
	ok(!build(b, &s, low, 2, map, &nodes) && !bmap_is_btree(map) &&
	   reads_back(&s, map, low, 2), "blocks up to 5 are direct");
	ok(!build(b, &s, past, 2, map, &nodes) && bmap_is_btree(map) &&
	   reads_back(&s, map, past, 2), "block 6 makes a tree");
	bmap_root_read(map, &root);
	is_int(root.level, 1, "whose root has three data blocks");
	is_int(nodes, 0, "and no node");
	ok(!build(b, &s, four, 2, map, &nodes) &&
	   reads_back(&s, map, four, 2), "four blocks");
	is_int(nodes, 1, "take one");
	ok(!build(b, &s, far, 1, map, &nodes) && reads_back(&s, map, far, 1),
	   "one far away");
	is_int(nodes, 0, "takes none");
	bmapbuild_close(b);
	free(s.blocks);
}

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static size_t random_runs(uint64_t *state, struct bmapbuild_run *runs,
			  size_t most)
{
	size_t n = random_next(state) % most, i;
	uint64_t key = 0;

	for (i = 0; i < n; i++) {
		key += random_next(state) % 8;
		if (random_next(state) % 16 == 0)
			key += 1ull << (random_next(state) % 40);
		runs[i].blkoff = key;
		runs[i].ptr = 1 + random_next(state) % 1000000;
		runs[i].count = 1 + random_next(state) % 200;
		if (random_next(state) % 2)
			runs[i].count = 1;
		key += runs[i].count;
	}
	return n;
}

/* One builder for all: nothing of a file may be left for the next. */
static void test_random(uint32_t block_size)
{
	static struct bmapbuild_run runs[600];
	struct store s = { .block_size = block_size };
	struct bmapbuild *b = NULL;
	le64 map[NILFS_INODE_BMAP_SIZE];
	uint64_t nodes, state = 88172645463325252ull;
	int i, bad = 0;

	ok(!bmapbuild_open(&b, &cx, block_size), "a builder");
	for (i = 0; i < 300; i++) {
		size_t n = random_runs(&state, runs,
				       i % 3 ? 8 : sizeof(runs) / sizeof(*runs));

		if (build(b, &s, runs, n, map, &nodes) || nodes != s.n ||
		    !reads_back(&s, map, runs, n))
			bad++;
	}
	is_int(bad, 0, "300 files of random runs are read back");
	bmapbuild_close(b);
	free(s.blocks);
}

/* Equal files are equal bytes, whatever was built before. */
static void test_bytes(void)
{
	const struct bmapbuild_run large = { 0, 1, 20000 }, small = { 0, 7, 64 };
	struct store s = { .block_size = 1024 };
	uint8_t want[1024] = { 0, 1, 1 }; /* flags, level, children */
	struct bmapbuild *b = NULL;
	le64 map[NILFS_INODE_BMAP_SIZE];
	uint64_t nodes;

	want[16] = 63;
	want[16 + 63 * 8] = 7 + 63;
	ok(!bmapbuild_open(&b, &cx, s.block_size), "a builder");
	ok(!build(b, &s, &large, 1, map, &nodes) &&
	   !build(b, &s, &small, 1, map, &nodes) && nodes == 2,
	   "a small file after a large one");
	ok(!memcmp(s.blocks + 1024, want, sizeof(want)),
	   "its last node has one entry and nothing else");
	bmapbuild_close(b);
	free(s.blocks);
}

static int refuse(void *arg, struct context *c, unsigned int level,
		  uint64_t key, const void *block, uint64_t *ptr)
{
	(void)arg, (void)key, (void)block, (void)ptr;
	return fail(c, -ENOSPC, "level %u", level);
}

static void test_failures(void)
{
	const struct bmapbuild_run run = { 10, 10, 200 }, back = { 209, 1, 1 };
	const struct bmapbuild_run wraps = { UINT64_MAX - 1, 1, 3 };
	struct store s = { .block_size = 1024, .good = true };
	struct bmapbuild *b = NULL;
	le64 map[NILFS_INODE_BMAP_SIZE];
	uint64_t nodes;

	ok(!bmapbuild_open(&b, &cx, s.block_size), "a builder");
	bmapbuild_begin(b);
	ok(!bmapbuild_add(b, &cx, &run, keep_node, &s), "blocks 10 to 209");
	is_int(bmapbuild_add(b, &cx, &back, keep_node, &s), -EINVAL,
	       "an offset that is there already");
	is_int(bmapbuild_add(b, &cx, &wraps, keep_node, &s), -EUCLEAN,
	       "offsets past the end of the numbers");
	is_int(bmapbuild_end(b, &cx, refuse, NULL, map, &nodes), -ENOSPC,
	       "a failure of the receiver is passed on");
	bmapbuild_begin(b);
	is_int(bmapbuild_add(b, &cx, &run, refuse, NULL), -ENOSPC,
	       "at once where nodes get full");
	bmapbuild_close(b);
	bmapbuild_close(NULL);
	free(s.blocks);
}

int main(void)
{
	context_init(&cx);
	test_sizes(1024);
	test_sizes(4096);
	test_sparse();
	test_random(1024);
	test_random(4096);
	test_bytes();
	test_failures();
	return tap_done();
}
