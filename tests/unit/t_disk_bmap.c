// SPDX-License-Identifier: GPL-2.0-or-later
/* Block maps: direct, root, node, search, and bytes that lie. */
#include "disk/bmap.h"

#include "tap.h"

static void test_direct(void)
{
	le64 map[NILFS_INODE_BMAP_SIZE] = { 0 };
	int i;

	for (i = 0; i < 6; i++)
		map[1 + i] = le64_make(10 + i);
	ok(!bmap_is_btree(map), "a direct map");
	is_int(bmap_direct_ptr(map, 0), 10, "key 0 is in the second word");
	is_int(bmap_direct_ptr(map, 5), 15, "key 5 in the last");
	is_int(bmap_direct_ptr(map, 6), 0, "key 6 is a hole");
	is_int(bmap_direct_ptr(map, UINT64_MAX), 0, "so is the last key");
}

/* Bytes as the kernel lays them out: header, three keys, three pointers. */
static void test_root(void)
{
	uint8_t bytes[56] = {
		1, 2, 2, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 0, 0, 0, 0,
		0, 1, 0, 0, 0, 0, 0, 0,
		0xee, 0, 0, 0, 0, 0, 0, 0,
		77, 0, 0, 0, 0, 0, 0, 0,
		78, 0, 0, 0, 0, 0, 0, 0,
	};
	const le64 *map = (const le64 *)bytes;
	struct bmap_node node;

	ok(bmap_is_btree(map), "a root");
	is_int(bmap_root_check(map), RULE_OK, "a sound one");
	bmap_root_read(map, &node);
	is_int(node.level, 2, "its level");
	is_int(node.nchildren, 2, "its children");
	is_int(node.max, 3, "it has room for three");
	is_int(bmap_node_key(&node, 1), 256, "its second key");
	is_int(bmap_node_ptr(&node, 0), 77, "pointers stand after all keys");
	is_int(bmap_node_ptr(&node, 1), 78, "however many there are");

	bytes[2] = bytes[3] = 0xff;
	is_int(bmap_root_check(map), RULE_BMAP_ROOT_NCHILDREN, "too many");
	bmap_root_read(map, &node);
	is_int(node.nchildren, 3, "are never read");
	bytes[1] = 1;
	bytes[2] = bytes[3] = 0;
	is_int(bmap_root_check(map), RULE_OK, "an empty root of level 1");
	bytes[1] = 0;
	is_int(bmap_root_check(map), RULE_BMAP_ROOT_LEVEL, "but not of 0");
	bytes[1] = 13;
	bytes[2] = 1;
	is_int(bmap_root_check(map), RULE_OK, "level 13 is the highest");
}

static void test_max(void)
{
	is_int(bmap_node_max(1024), 63, "children in 1 KiB");
	is_int(bmap_node_max(2048), 127, "in 2 KiB");
	is_int(bmap_node_max(4096), 255, "in 4 KiB");
	is_int(bmap_node_max(8192), 511, "in 8 KiB");
	is_int(bmap_node_max(65536), 4095, "in 64 KiB");
}

static void test_node(void)
{
	static uint8_t block[4096];
	struct nilfs_btree_node *bn = (void *)block;
	struct bmap_node node;

	bn->bn_level = 1;
	bn->bn_nchildren = le16_make(255);
	block[16] = 5;
	block[16 + 255 * 8] = 6;
	block[16 + 254 * 8] = 7;
	block[4096 - 8] = 8;
	is_int(bmap_node_check(4096, block), RULE_OK, "a full node");
	bmap_node_read(4096, block, &node);
	is_int(bmap_node_key(&node, 0), 5, "keys begin at byte 16");
	is_int(bmap_node_key(&node, 254), 7, "the last key");
	is_int(bmap_node_ptr(&node, 0), 6, "pointers follow");
	is_int(bmap_node_ptr(&node, 254), 8, "up to the end of the block");
	bn->bn_nchildren = le16_make(256);
	is_int(bmap_node_check(4096, block), RULE_BMAP_NODE_NCHILDREN,
	       "one child too many");
	bmap_node_read(4096, block, &node);
	is_int(node.nchildren, 255, "is not read");
	is_int(bmap_node_check(65536, block), RULE_OK,
	       "a larger block has room");
}

static void test_search(void)
{
	static const uint64_t wanted[] = { 3, 4, 9, 10, 11, 30, 99 };
	static const int found[] = { -1, 0, 0, 1, 1, 2, 2 };
	le64 keys[3] = { le64_make(4), le64_make(10), le64_make(20) };
	struct bmap_node node = { .nchildren = 3, .max = 3, .keys = keys };
	size_t i;

	for (i = 0; i < sizeof(found) / sizeof(found[0]); i++)
		is_int(bmap_node_search(&node, wanted[i]), found[i],
		       "largest key not above the wanted one");
	node.nchildren = 0;
	is_int(bmap_node_search(&node, 5), -1, "an empty node");
}

/* Any size and any key: as a search from the front would find it. */
static void test_search_all(void)
{
	static le64 keys[255];
	struct bmap_node node = { .max = 255, .keys = keys };
	int wrong = 0, i, n, key, want;

	for (i = 0; i < 255; i++)
		keys[i] = le64_make(3 * i + 1);
	for (n = 0; n <= 255; n += 17) {
		node.nchildren = n;
		for (key = 0; key < 800; key++) {
			want = -1;
			for (i = 0; i < n && 3 * i + 1 <= key; i++)
				want = i;
			wrong += bmap_node_search(&node, key) != want;
		}
	}
	is_int(wrong, 0, "the same as a search from the front");
}

int main(void)
{
	test_direct();
	test_root();
	test_max();
	test_node();
	test_search();
	test_search_all();
	return tap_done();
}
