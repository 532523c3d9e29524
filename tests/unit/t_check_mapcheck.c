// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Block maps walked whole, over hand-made nodes: what is broken is named once
 * and left alone, and all beside it is visited.
 *
 * Pointers are blocks of a device in memory.
 */
#include "check/mapcheck.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/testdev/memory.h"
#include "disk/bmap.h"
#include "vol/volume.h"

#include "tap.h"

#define BLOCK 1024u
#define BLOCKS 1024u
#define NODE_MAX ((BLOCK - 16) / 16)

static struct volume vol;
static struct context cx;
static char disk[BLOCKS * BLOCK];

/* What a walk visited, and the last thing it reported. */
struct seen {
	unsigned int nodes, blocks;
	uint64_t sum;			/* of the keys of blocks */
	struct lifetime within;		/* of the last pointer */
	struct finding last;
	bool order;			/* keys ascended */
	uint64_t key;			/* of the last block */
	uint64_t skip;			/* a pointer not to follow */
	bool by_node;			/* blocks are shown node by node */
};

static void open_disk(void)
{
	context_init(&cx);
	vol.geo = (struct nilfs_geometry){
		.block_size = BLOCK,
		.block_bits = 10,
	};
	if (memory_open(&vol.dev, &cx, disk, sizeof(disk)) ||
	    cache_open(&vol.cache, &cx, vol.dev, BLOCK, 16 * BLOCK))
		exit(99);
}

static void close_disk(void)
{
	cache_close(vol.cache);
	dev_close(vol.dev);
}

struct child {
	uint64_t key, ptr;
};

static struct nilfs_btree_node *node_at(uint64_t blocknr)
{
	return (void *)(disk + blocknr * BLOCK);
}

static le64 *keys_at(uint64_t blocknr)
{
	return (void *)(disk + blocknr * BLOCK + 16);
}

static le64 *ptrs_at(uint64_t blocknr)
{
	return keys_at(blocknr) + NODE_MAX;
}

/* Lays a node of LEVEL with COUNT children on block BLOCKNR. */
static void lay_node(uint64_t blocknr, unsigned int level, unsigned int count,
		     const struct child *children)
{
	unsigned int i;

	memset(node_at(blocknr), 0, BLOCK);
	node_at(blocknr)->bn_level = (uint8_t)level;
	node_at(blocknr)->bn_nchildren = le16_make((uint16_t)count);
	for (i = 0; i < count; i++) {
		keys_at(blocknr)[i] = le64_make(children[i].key);
		ptrs_at(blocknr)[i] = le64_make(children[i].ptr);
	}
}

/* An inode whose map is a B-tree root of LEVEL. */
static struct nilfs_inode tree(unsigned int level, unsigned int count,
			       const struct child *children)
{
	struct nilfs_inode inode;
	uint8_t *at = (uint8_t *)inode.i_bmap;
	unsigned int i;

	memset(&inode, 0, sizeof(inode));
	at[0] = 1;
	at[1] = (uint8_t)level;
	at[2] = (uint8_t)count;
	for (i = 0; i < count; i++) {
		inode.i_bmap[1 + i] = le64_make(children[i].key);
		inode.i_bmap[4 + i] = le64_make(children[i].ptr);
	}
	return inode;
}

/* A map of three levels: keys 10, 20, ... 90 at blocks 501 ... 509. */
static struct nilfs_inode three_levels(void)
{
	lay_node(100, 1, 3, (struct child[]){
		{ 10, 501 }, { 20, 502 }, { 30, 503 } });
	lay_node(101, 1, 3, (struct child[]){
		{ 40, 504 }, { 50, 505 }, { 60, 506 } });
	lay_node(102, 1, 3, (struct child[]){
		{ 70, 507 }, { 80, 508 }, { 90, 509 } });
	lay_node(200, 2, 2, (struct child[]){ { 10, 100 }, { 40, 101 } });
	lay_node(201, 2, 1, (struct child[]){ { 70, 102 } });
	return tree(3, 2, (struct child[]){ { 10, 200 }, { 70, 201 } });
}

/* Nodes live shorter than what holds them: the walk must hand that on. */
static int visit(void *arg, struct context *c, const struct mapcheck_pointer *p,
		 uint64_t *blocknr, struct lifetime *life)
{
	struct seen *s = arg;

	(void)c;
	s->within = p->within;
	if (p->ptr == s->skip)
		return 0;
	if (p->level) {
		s->nodes++;
		*blocknr = p->ptr;
		*life = (struct lifetime){ p->within.start - 1, 90 };
		return 1;
	}
	s->order &= !s->blocks || s->key < p->key;
	s->key = p->key;
	s->blocks++;
	s->sum += p->key;
	return 1;
}

/* Data blocks a node at a time. */
static int visit_blocks(void *arg, struct context *c,
			const struct mapcheck_blocks *b)
{
	struct seen *s = arg;
	uint32_t i;

	(void)c;
	for (i = 0; i < b->count; i++) {
		if (!le64_get(b->ptrs[i]))
			continue;
		s->blocks++;
		s->sum += b->keys ? le64_get(b->keys[i]) : i;
	}
	s->within = b->within;
	return s->blocks == s->skip ? -EINTR : 0;
}

static int refuse(void *arg, struct context *c,
		  const struct mapcheck_pointer *p, uint64_t *blocknr,
		  struct lifetime *life)
{
	(void)life;
	*blocknr = p->ptr;
	if (p->level)
		return 1;
	++*(unsigned int *)arg;
	return fail(c, -ENOMEM, "no more");
}

static void keep(void *arg, const struct finding *f)
{
	((struct seen *)arg)->last = *f;
}

/* Walks the map of INODE on the disk as it is now. */
static int walk(const struct nilfs_inode *inode, struct seen *s,
		uint64_t *nfindings)
{
	struct findings *findings;
	struct mapcheck m = {
		.vol = &vol, .cno = 7, .ino = 12,
		.within = { 50, 80 }, .visit = visit, .arg = s,
		.visit_blocks = s->by_node ? visit_blocks : NULL,
	};
	int ret;

	s->order = true;
	open_disk();
	if (findings_open(&findings, &cx, keep, s, true))
		exit(98);
	m.findings = findings;
	ret = mapcheck_run(&m, &cx, inode);
	*nfindings = findings_count_severity(findings, RULE_WARNING);
	findings_close(findings);
	close_disk();
	return ret;
}

static void is_whole(const struct nilfs_inode *inode, unsigned int nodes,
		     unsigned int blocks, uint64_t sum, const char *name)
{
	struct seen s = { 0 };
	uint64_t nfindings;
	int ret = walk(inode, &s, &nfindings);

	ok(!ret && !nfindings && s.order && s.nodes == nodes &&
	   s.blocks == blocks && s.sum == sum, "sound: %s", name);
	if (ret || nfindings)
		printf("# got %d, rule %d\n", ret, (int)s.last.rule);
}

/* One finding of RULE at KEY and LEVEL, and BLOCKS blocks beside it. */
static void is_broken(const struct nilfs_inode *inode, enum rule rule,
		      uint64_t key, unsigned int level, unsigned int blocks,
		      const char *name)
{
	struct seen s = { 0 };
	uint64_t nfindings;
	int ret = walk(inode, &s, &nfindings);
	const struct place *at = &s.last.place;

	ok(ret == 1 && nfindings == 1 && s.last.rule == rule,
	   "broken: %s", name);
	if (s.last.rule != rule || nfindings != 1)
		printf("# got %d, %llu findings, the last of rule %d\n", ret,
		       (unsigned long long)nfindings, (int)s.last.rule);
	ok(at->cno == 7 && at->ino == 12 && at->blkoff == key &&
	   at->level == level && s.blocks == blocks && s.order,
	   "%s: its place, and %u blocks beside it", name, blocks);
}

static void test_sound(void)
{
	struct nilfs_inode inode = { 0 };

	is_whole(&inode, 0, 0, 0, "empty direct map");
	inode.i_bmap[1 + 2] = le64_make(40);
	inode.i_bmap[1 + 5] = le64_make(41);
	is_whole(&inode, 0, 2, 7, "direct map with holes");
	inode = tree(1, 0, NULL);
	is_whole(&inode, 0, 0, 0, "level-1 root without children");
	inode = tree(1, 2, (struct child[]){ { 3, 501 }, { 900, 502 } });
	is_whole(&inode, 0, 2, 903, "level-1 root");
	lay_node(100, 1, 1, (struct child[]){ { 0, 501 } });
	inode = tree(2, 1, (struct child[]){ { 0, 100 } });
	is_whole(&inode, 1, 1, 0, "B-tree of one block");
	inode = three_levels();
	is_whole(&inode, 5, 9, 450, "three levels");
}

/* Thirteen levels of one child each, the deepest map that can be. */
static struct nilfs_inode deepest(void)
{
	unsigned int level;

	for (level = 1; level < NILFS_BTREE_LEVEL_MAX - 1; level++)
		lay_node(300 + level, level, 1,
			 (struct child[]){ { 5, 299 + level } });
	return tree(NILFS_BTREE_LEVEL_MAX - 1, 1, (struct child[]){
			    { 5, 300 + NILFS_BTREE_LEVEL_MAX - 2 } });
}

static void test_deep(void)
{
	struct nilfs_inode inode = deepest();
	struct seen s = { 0 };
	uint64_t nfindings;

	is_whole(&inode, 12, 1, 5, "as deep as can be");
	walk(&inode, &s, &nfindings);
	is_int(s.within.start, 50 - 12, "a lifetime comes down from node to node");
	is_int(s.within.end, 90, "and so does its end");
	/* A pointer that leads back up: the level says so. */
	ptrs_at(305)[0] = le64_make(311);
	is_broken(&inode, RULE_BMAP_NODE_LEVEL, 5, 4, 0, "a loop");
}

static void test_roots(void)
{
	struct nilfs_inode inode = tree(14, 1, (struct child[]){ { 0, 100 } });

	is_broken(&inode, RULE_BMAP_ROOT_LEVEL, 0, 0, 0, "level of the root");
	inode = three_levels();
	((uint8_t *)inode.i_bmap)[2] = 4;
	is_broken(&inode, RULE_BMAP_ROOT_NCHILDREN, 0, 0, 0,
		  "children of the root");
	inode = three_levels();
	inode.i_bmap[2] = le64_make(10);
	is_broken(&inode, RULE_BMAP_KEY_ORDER, 0, 0, 0, "keys of the root");
	inode = three_levels();
	inode.i_bmap[4] = le64_make(0);
	is_broken(&inode, RULE_BMAP_NULL_POINTER, 0, 0, 0,
		  "null pointer in the root");
}

static void test_nodes(void)
{
	struct nilfs_inode inode = three_levels();

	node_at(101)->bn_level = 2;
	is_broken(&inode, RULE_BMAP_NODE_LEVEL, 40, 1, 6, "level of a node");
	inode = three_levels();
	node_at(200)->bn_level = 0;
	is_broken(&inode, RULE_BMAP_NODE_LEVEL, 10, 2, 3, "level 0");
	inode = three_levels();
	node_at(102)->bn_flags = NILFS_BTREE_NODE_ROOT;
	is_broken(&inode, RULE_BMAP_NODE_FLAGS, 70, 1, 6, "flags of a node");
	inode = three_levels();
	node_at(100)->bn_nchildren = le16_make(0);
	is_broken(&inode, RULE_BMAP_NODE_NCHILDREN, 10, 1, 6, "no children");
	inode = three_levels();
	node_at(100)->bn_nchildren = le16_make(NODE_MAX + 1);
	is_broken(&inode, RULE_BMAP_NODE_NCHILDREN, 10, 1, 6,
		  "too many children");
	inode = three_levels();
	keys_at(101)[1] = le64_make(40);
	is_broken(&inode, RULE_BMAP_KEY_ORDER, 40, 1, 6, "equal keys");
	inode = three_levels();
	ptrs_at(102)[2] = le64_make(0);
	is_broken(&inode, RULE_BMAP_NULL_POINTER, 70, 1, 6, "null pointer");
}

static void test_ranges(void)
{
	struct nilfs_inode inode = three_levels();

	keys_at(101)[0] = le64_make(39);
	is_broken(&inode, RULE_BMAP_FIRST_KEY, 40, 1, 6, "first key smaller");
	inode = three_levels();
	keys_at(101)[0] = le64_make(41);
	is_broken(&inode, RULE_BMAP_FIRST_KEY, 40, 1, 6, "first key larger");
	inode = three_levels();
	keys_at(100)[2] = le64_make(40);
	is_broken(&inode, RULE_BMAP_KEY_RANGE, 10, 1, 6, "keys past the next");
	/* The end that counts is that of a grandparent. */
	inode = three_levels();
	keys_at(101)[2] = le64_make(70);
	is_broken(&inode, RULE_BMAP_KEY_RANGE, 40, 1, 6,
		  "keys past the next of the parent");
	inode = three_levels();
	keys_at(101)[2] = le64_make(69);
	is_whole(&inode, 5, 9, 459, "the last key that has room");
}

static void test_reading(void)
{
	struct nilfs_inode inode = three_levels();
	struct seen s = { .skip = 200 };
	uint64_t nfindings;

	ptrs_at(200)[1] = le64_make(BLOCKS + 5);
	is_broken(&inode, RULE_DEV_UNREADABLE, 40, 1, 6, "block past the end");
	inode = three_levels();
	is_int(walk(&inode, &s, &nfindings), 0, "a node that is not followed");
	is_int(s.blocks, 3, "its neighbour is");
}

static void test_by_node(void)
{
	struct seen direct = { .by_node = true }, deep = { .by_node = true };
	struct seen stop = { .by_node = true, .skip = 3 };
	struct nilfs_inode inode = { 0 };
	uint64_t nfindings;

	inode.i_bmap[1 + 2] = le64_make(40);
	inode.i_bmap[1 + 5] = le64_make(41);
	is_int(walk(&inode, &direct, &nfindings), 0, "a direct map at once");
	is_int(direct.sum, 7, "its blocks");
	is_int(direct.within.start, 50, "they live with the inode");
	inode = three_levels();
	is_int(walk(&inode, &deep, &nfindings), 0, "blocks node by node");
	ok(deep.blocks == 9 && deep.sum == 450 && deep.nodes == 5, "all");
	is_int(deep.within.start, 48, "they live with their node");
	is_int(walk(&inode, &stop, &nfindings), -EINTR, "a failure of one");
	is_int(stop.blocks, 3, "is the end");
}

static void test_failure(void)
{
	struct nilfs_inode inode = three_levels();
	struct findings *findings;
	unsigned int calls = 0;
	struct mapcheck m = { .vol = &vol, .visit = refuse, .arg = &calls };

	open_disk();
	if (findings_open(&findings, &cx, keep, NULL, true))
		exit(98);
	m.findings = findings;
	is_int(mapcheck_run(&m, &cx, &inode), -ENOMEM, "a failure ends it");
	is_int(calls, 1, "at once");
	findings_close(findings);
	close_disk();
}

int main(void)
{
	test_sound();
	test_deep();
	test_roots();
	test_nodes();
	test_ranges();
	test_reading();
	test_by_node();
	test_failure();
	return tap_done();
}
