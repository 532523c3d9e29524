// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Block maps over hand-made nodes, and their differences.
 *
 * The map is the DAT's, whose pointers are disk blocks, so that nodes can be
 * laid by hand on a device in memory with nothing else on it.
 */
#include "vol/blockmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/testdev/memory.h"
#include "vol/extent.h"
#include "vol/inodediff.h"
#include "vol/mapdiff.h"
#include "vol/rollforward.h"
#include "vol/volume.h"

#include "tap.h"

#define BLOCK 1024u
#define BLOCKS 1024u

static struct volume vol;
static struct context cx;
static char disk[BLOCKS * BLOCK];

static void open_disk(void)
{
	memset(disk, 0, sizeof(disk));
	context_init(&cx);
	memset(&vol, 0, sizeof(vol));
	vol.geo = (struct nilfs_geometry){
		.block_size = BLOCK,
		.block_bits = 10,
		.blocks_per_segment = 16,
		.inode_size = 128,
		.dat_entry_size = 32,
		.first_data_block = 1,
		.nsegments = BLOCKS / 16,
		.nblocks = BLOCKS,
	};
	if (memory_open(&vol.dev, &cx, disk, sizeof(disk)) ||
	    cache_open(&vol.cache, &cx, vol.dev, BLOCK, 64 * BLOCK))
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

/* Lays a node of LEVEL with COUNT children on block BLOCKNR. */
static void lay_node(uint64_t blocknr, unsigned int level, unsigned int count,
		     const struct child *children)
{
	char *at = disk + blocknr * BLOCK;
	unsigned int max = (BLOCK - 16) / 16, i;
	le16 n = le16_make((uint16_t)count);

	memset(at, 0, BLOCK);
	at[1] = (char)level;
	memcpy(at + 2, &n, 2);
	for (i = 0; i < count; i++) {
		le64 key = le64_make(children[i].key);
		le64 ptr = le64_make(children[i].ptr);

		memcpy(at + 16 + 8 * i, &key, 8);
		memcpy(at + 16 + 8 * max + 8 * i, &ptr, 8);
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
	inode.i_mode = le16_make(0100644);
	at[0] = 1;
	at[1] = (uint8_t)level;
	at[2] = (uint8_t)count;
	for (i = 0; i < count; i++) {
		inode.i_bmap[1 + i] = le64_make(children[i].key);
		inode.i_bmap[4 + i] = le64_make(children[i].ptr);
	}
	return inode;
}

static struct file make_file(const struct nilfs_inode *inode)
{
	struct file file;

	if (file_init(&file, &cx, &vol, NILFS_DAT_INO, inode))
		exit(98);
	return file;
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

static void test_direct(void)
{
	struct nilfs_inode inode;
	struct blockmap_cursor cur;
	struct blockmap_item item;
	struct file file;
	uint64_t ptr;

	memset(&inode, 0, sizeof(inode));
	inode.i_mode = le16_make(0100644);
	inode.i_bmap[1 + 2] = le64_make(40);
	inode.i_bmap[1 + 5] = le64_make(41);
	file = make_file(&inode);
	is_int(blockmap_lookup(&file.map, &cx, 2, &ptr), 1, "direct: found");
	is_int(ptr, 40, "direct: its pointer");
	is_int(blockmap_lookup(&file.map, &cx, 3, &ptr), 0, "direct: hole");
	is_int(blockmap_lookup(&file.map, &cx, 6, &ptr), 0, "direct: behind");
	is_int(blockmap_cursor_open(&cur, &cx, &file.map, 3, false), 0,
	       "direct: cursor at a hole");
	is_int(blockmap_cursor_next(&cur, &cx, &item), 1, "direct: an item");
	is_int(item.key, 5, "direct: after the hole");
	is_int(blockmap_cursor_next(&cur, &cx, &item), 0, "direct: the end");
	blockmap_cursor_close(&cur);
}

static void test_lookups(void)
{
	struct nilfs_inode inode = three_levels();
	struct file file = make_file(&inode);
	unsigned int key, wrong = 0;
	uint64_t ptr;

	for (key = 0; key <= 100; key++) {
		bool there = key && key % 10 == 0 && key < 100;
		int ret = blockmap_lookup(&file.map, &cx, key, &ptr);

		wrong += ret != there || (there && ptr != 500 + key / 10);
	}
	is_int(wrong, 0, "tree: every key is found, every hole is one");
}

/* The keys a cursor yields from KEY on, as a sum that depends on order. */
static int walk_from(const struct file *file, uint64_t key, uint64_t *sum,
		     unsigned int *nodes)
{
	struct blockmap_cursor cur;
	struct blockmap_item item;
	int ret;

	*sum = *nodes = 0;
	ret = blockmap_cursor_open(&cur, &cx, &file->map, key, true);
	while (!ret && (ret = blockmap_cursor_next(&cur, &cx, &item)) > 0) {
		ret = 0;
		if (item.level)
			++*nodes;
		else
			*sum = *sum * 16 + item.key / 10;
	}
	blockmap_cursor_close(&cur);
	return ret;
}

static void test_cursor(void)
{
	struct nilfs_inode inode = three_levels();
	struct file file = make_file(&inode);
	unsigned int nodes;
	uint64_t sum;

	is_int(walk_from(&file, 0, &sum, &nodes), 0, "tree: whole walk");
	is_int(sum, 0x123456789, "tree: keys in order, each once");
	is_int(nodes, 5, "tree: each node once");
	walk_from(&file, 60, &sum, &nodes);
	is_int(sum, 0x6789, "tree: from a key");
	walk_from(&file, 61, &sum, &nodes);
	is_int(sum, 0x789, "tree: from between two nodes");
	walk_from(&file, 91, &sum, &nodes);
	is_int(sum, 0, "tree: from after the last");
}

static void refuses(const struct nilfs_inode *inode, const char *what)
{
	struct file file = make_file(inode);
	unsigned int nodes;
	uint64_t sum;

	/* The nodes were laid after the back of the cache. */
	cache_close(vol.cache);
	if (cache_open(&vol.cache, &cx, vol.dev, BLOCK, 64 * BLOCK))
		exit(97);
	is_int(walk_from(&file, 0, &sum, &nodes), -EUCLEAN, what);
}

static void test_hostile(void)
{
	struct nilfs_inode inode = three_levels();

	lay_node(101, 1, 2, (struct child[]){ { 50, 504 }, { 40, 505 } });
	refuses(&inode, "keys that descend");
	inode = three_levels();
	lay_node(101, 1, 2, (struct child[]){ { 40, 504 }, { 75, 505 } });
	refuses(&inode, "a key past the end of its node's range");
	inode = three_levels();
	lay_node(101, 1, 2, (struct child[]){ { 30, 504 }, { 50, 505 } });
	refuses(&inode, "a key before its node's range");
	inode = three_levels();
	lay_node(200, 2, 2, (struct child[]){ { 10, 200 }, { 40, 101 } });
	refuses(&inode, "a node that is its own child");
	inode = three_levels();
	lay_node(200, 2, 2, (struct child[]){ { 10, 100 }, { 40, 100 } });
	refuses(&inode, "a node with two parents");
	inode = three_levels();
	lay_node(200, 2, 2, (struct child[]){ { 10, 100 }, { 40, 5000 } });
	refuses(&inode, "a pointer outside the volume");
	inode = three_levels();
	lay_node(200, 2, 0, NULL);
	refuses(&inode, "a node without children");
}

/* What is passed over counts as seen: no key below it follows. */
static void test_passed_over(void)
{
	struct nilfs_inode inode = tree(2, 1, (struct child[]){ { 40, 100 } });
	struct blockmap_cursor a, b;
	struct blockmap_item item;
	struct file file;

	lay_node(100, 1, 4, (struct child[]){
		{ 40, 501 }, { 41, 502 }, { 42, 503 }, { 5, 504 } });
	file = make_file(&inode);
	blockmap_cursor_open(&a, &cx, &file.map, 40, false);
	is_int(blockmap_cursor_next(&a, &cx, &item), 1, "passed over: first");
	is_int(blockmap_cursor_skip_row(&a, item.key), 42,
	       "passed over: the row ends where the keys descend");
	is_int(blockmap_cursor_next(&a, &cx, &item), -EUCLEAN,
	       "passed over: a key below the row");
	blockmap_cursor_close(&a);

	blockmap_cursor_open(&a, &cx, &file.map, 40, false);
	blockmap_cursor_open(&b, &cx, &file.map, 40, false);
	blockmap_cursor_skip_same(&a, &b);
	is_int(blockmap_cursor_next(&a, &cx, &item), -EUCLEAN,
	       "passed over: a key below what is the same in two");
	is_int(blockmap_cursor_next(&b, &cx, &item), -EUCLEAN,
	       "passed over: in both");
	blockmap_cursor_close(&a);
	blockmap_cursor_close(&b);
}

static void test_extents(void)
{
	struct salvaged_block blocks[] = {
		{ .ino = NILFS_DAT_INO, .blkoff = 12, .blocknr = 300 },
		{ .ino = NILFS_DAT_INO, .blkoff = 20, .blocknr = 301 },
	};
	struct rollforward rf = { .blocks = blocks, .count = 2 };
	struct nilfs_inode inode;
	struct extent_cursor cur;
	struct extent e;
	struct file file;

	lay_node(100, 1, 5, (struct child[]){ { 10, 501 }, { 11, 502 },
		{ 12, 503 }, { 13, 504 }, { 15, 505 } });
	inode = tree(2, 1, (struct child[]){ { 10, 100 } });
	file = make_file(&inode);

	is_int(extent_cursor_open(&cur, &cx, &file, 0), 0, "extents: open");
	is_int(extent_cursor_next(&cur, &cx, 100, &e), 1, "extents: first");
	ok(e.blkoff == 10 && e.blocknr == 501 && e.count == 4,
	   "extents: neighbours are one");
	is_int(extent_cursor_next(&cur, &cx, 100, &e), 1, "extents: second");
	ok(e.blkoff == 15 && e.count == 1, "extents: a hole parts them");
	is_int(extent_cursor_next(&cur, &cx, 100, &e), 0, "extents: end");
	is_int(extent_cursor_next(&cur, &cx, 100, &e), 0, "extents: no more");
	extent_cursor_close(&cur);

	extent_cursor_open(&cur, &cx, &file, 0);
	extent_cursor_next(&cur, &cx, 3, &e);
	is_int(e.count, 3, "extents: no longer than asked");
	extent_cursor_next(&cur, &cx, 3, &e);
	ok(e.blkoff == 13 && e.count == 1, "extents: and the rest after it");
	extent_cursor_close(&cur);

	vol.rollforward = &rf;
	file = make_file(&inode);
	extent_cursor_open(&cur, &cx, &file, 0);
	extent_cursor_next(&cur, &cx, 100, &e);
	ok(e.blkoff == 10 && e.count == 2, "preview: up to the salvaged block");
	extent_cursor_next(&cur, &cx, 100, &e);
	ok(e.blkoff == 12 && e.blocknr == 300 && e.count == 1,
	   "preview: the salvaged block wins");
	extent_cursor_next(&cur, &cx, 100, &e);
	ok(e.blkoff == 13 && e.blocknr == 504, "preview: then the map again");
	extent_cursor_next(&cur, &cx, 100, &e);
	is_int(extent_cursor_next(&cur, &cx, 100, &e), 1, "preview: one more");
	ok(e.blkoff == 20 && e.blocknr == 301, "preview: after the map's end");
	is_int(extent_cursor_next(&cur, &cx, 100, &e), 0, "preview: end");
	extent_cursor_close(&cur);
	vol.rollforward = NULL;
}

/* The differences of two maps, as text. */
static char seen[512];

static int write_block(void *arg, struct context *c,
		       const struct mapdiff_item *item)
{
	size_t len = strlen(seen);

	(void)c;
	snprintf(seen + len, sizeof(seen) - len, "%s%llu/%u:%llu-%llu",
		 len ? " " : "", (unsigned long long)item->key, item->level,
		 (unsigned long long)item->a, (unsigned long long)item->b);
	return arg && item->key == *(uint64_t *)arg ? 7 : 0;
}

static int compare(const struct nilfs_inode *a, const struct nilfs_inode *b)
{
	seen[0] = '\0';
	cache_close(vol.cache);
	if (cache_open(&vol.cache, &cx, vol.dev, BLOCK, 64 * BLOCK))
		exit(97);
	return mapdiff_run_file(&cx, &vol, NILFS_DAT_INO, a, b, write_block,
				NULL);
}

static void test_differences(void)
{
	const struct nilfs_inode a = three_levels();
	struct nilfs_inode b = a, flat;
	struct file x = make_file(&a), y;
	uint64_t key = 40;

	is_int(compare(&a, &a), 0, "differences: the same map");
	is_str(seen, "", "differences: there are none");
	is_int(compare(NULL, NULL), 0, "differences: without maps");
	/* Node 103 replaces 101; the nodes that both maps have are broken. */
	lay_node(103, 1, 3, (struct child[]){
		{ 40, 604 }, { 50, 505 }, { 65, 606 } });
	lay_node(202, 2, 2, (struct child[]){ { 10, 100 }, { 40, 103 } });
	lay_node(100, 3, 0, NULL);
	lay_node(201, 3, 0, NULL);
	b = tree(3, 2, (struct child[]){ { 10, 202 }, { 70, 201 } });
	is_int(compare(&a, &b), 0, "differences: shared nodes are not read");
	is_str(seen, "40/0:504-604 60/0:506-0 65/0:0-606",
	       "differences: changed, removed and added");
	y = make_file(&b);
	seen[0] = '\0';
	is_int(mapdiff_walk(&cx, &x.map, &y.map, true, write_block, &key), 7,
	       "differences: the visitor ends them");
	is_str(seen, "10/2:200-202 40/1:101-103",
	       "differences: nodes before their blocks");
	is_int(compare(&a, NULL), -EUCLEAN, "differences: all of a broken map");
	/* Maps of different depth. */
	three_levels();
	memset(&flat, 0, sizeof(flat));
	flat.i_mode = le16_make(0100644);
	flat.i_bmap[1 + 3] = le64_make(40);
	is_int(compare(&flat, &b), 0, "differences: a map and a direct one");
	is_str(seen, "3/0:40-0 10/0:0-501 20/0:0-502 30/0:0-503 40/0:0-604 "
		     "50/0:0-505 65/0:0-606 70/0:0-507 80/0:0-508 90/0:0-509",
	       "differences: of each its own blocks");
	lay_node(103, 1, 2, (struct child[]){ { 50, 504 }, { 40, 505 } });
	is_int(compare(&a, &b), -EUCLEAN, "differences: keys that descend");
	lay_node(202, 2, 2, (struct child[]){ { 10, 100 }, { 40, 202 } });
	is_int(compare(&a, &b), -EUCLEAN, "differences: a loop");
	lay_node(202, 2, 2, (struct child[]){ { 10, 100 }, { 40, 0 } });
	is_int(compare(&a, &b), -EUCLEAN, "differences: a null pointer");
}

/* Adds the number, with "a" and "b" for each side that has an inode. */
static int write_inode(void *arg, struct context *c,
		       const struct inodediff_item *item)
{
	size_t len = strlen(seen);

	(void)c;
	snprintf(seen + len, sizeof(seen) - len, "%s%llu%s%s", len ? " " : "",
		 (unsigned long long)item->ino, item->a ? "a" : "",
		 item->b ? "b" : "");
	return arg != NULL;
}

/* The ifile of a root: descriptor, bitmap and inodes 8 to 15 at BLOCKS; 0: none. */
static struct root make_root(const uint64_t blocks[3])
{
	struct root root = { .vol = &vol };
	struct nilfs_inode inode;

	memset(&inode, 0, sizeof(inode));
	inode.i_bmap[1] = le64_make(blocks[0]);
	inode.i_bmap[1 + 1] = le64_make(blocks[1]);
	inode.i_bmap[1 + 3] = le64_make(blocks[2]);
	root.ifile = make_file(&inode);
	return root;
}

static int compare_inodes(const struct root *a, const struct root *b,
			  enum inodediff_what what)
{
	seen[0] = '\0';
	return inodediff_run(&cx, a, b, what, write_inode, NULL);
}

static void test_inodes(void)
{
	/* Blocks of descriptors are not read: these are outside the device. */
	const struct root a = make_root((uint64_t[]){ 5000, 40, 42 });
	const struct root b = make_root((uint64_t[]){ 5001, 41, 43 });
	const struct root less = make_root((uint64_t[]){ 5000, 40, 0 });
	struct nilfs_inode dir = { .i_mode = le16_make(040755),
				   .i_links_count = le16_make(2) };
	struct nilfs_inode file = { .i_mode = le16_make(0100644),
				    .i_links_count = le16_make(1) };
	const struct nilfs_inode far =
		tree(2, 1, (struct child[]){ { 0, 100 } });
	struct root wrong = a;

	palloc_init(&vol.ifile_palloc, BLOCK, 128);
	disk[40 * BLOCK] = 3;		/* 0 and 1 */
	disk[41 * BLOCK] = 2;
	disk[41 * BLOCK + 9] = 4;	/* 74 */
	/* 11 and 12 are directories, of which 12 changes; 13 becomes one. */
	memcpy(disk + 42 * BLOCK + 3 * 128, &dir, sizeof(dir));
	memcpy(disk + 43 * BLOCK + 3 * 128, &dir, sizeof(dir));
	memcpy(disk + 42 * BLOCK + 4 * 128, &dir, sizeof(dir));
	memcpy(disk + 42 * BLOCK + 5 * 128, &file, sizeof(file));
	memcpy(disk + 43 * BLOCK + 5 * 128, &dir, sizeof(dir));
	dir.i_size = le64_make(2048);
	memcpy(disk + 43 * BLOCK + 4 * 128, &dir, sizeof(dir));
	is_int(compare_inodes(&a, &a, INODEDIFF_BITS), 0, "inodes: the same");
	is_str(seen, "", "inodes: none differ");
	is_int(compare_inodes(&a, &b, INODEDIFF_ALL), 0, "inodes: all");
	is_str(seen, "8ab 9ab 10ab 11ab 12ab 13ab 14ab 15ab",
	       "inodes: those of the changed block");
	is_int(compare_inodes(&a, &b, INODEDIFF_BITS), 0, "inodes: bits");
	is_str(seen, "0 74 8ab 9ab 10ab 11ab 12ab 13ab 14ab 15ab",
	       "inodes: bits before the inodes");
	is_int(compare_inodes(&a, &b, INODEDIFF_DIRS), 0, "inodes: directories");
	is_str(seen, "12ab 13b", "inodes: changed and new directories");
	is_int(compare_inodes(NULL, &b, INODEDIFF_DIRS), 0,
	       "inodes: all directories of one");
	is_str(seen, "11b 12b 13b", "inodes: there are three");
	is_int(compare_inodes(&less, &b, INODEDIFF_DIRS), 0,
	       "inodes: a block that one ifile lacks");
	is_str(seen, "11b 12b 13b", "inodes: they are new");
	seen[0] = '\0';
	is_int(inodediff_run(&cx, &a, &b, INODEDIFF_ALL, write_inode, seen), 1,
	       "inodes: the visitor ends them");
	is_str(seen, "8ab", "inodes: after the first one");
	lay_node(100, 1, 1, (struct child[]){ { UINT64_MAX - 1, 42 } });
	wrong.ifile = make_file(&far);
	is_int(compare_inodes(&a, &wrong, INODEDIFF_ALL), -EUCLEAN,
	       "inodes: a block past the end of an ifile");
}

int main(void)
{
	open_disk();
	test_direct();
	test_lookups();
	test_cursor();
	close_disk();

	open_disk();
	test_extents();
	close_disk();

	open_disk();
	test_hostile();
	close_disk();

	open_disk();
	test_passed_over();
	close_disk();

	open_disk();
	test_differences();
	close_disk();

	open_disk();
	test_inodes();
	close_disk();
	return tap_done();
}
