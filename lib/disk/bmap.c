// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The block map.
 *
 * Seven words in the inode: bit 0 of the first byte distinguishes six direct
 * pointers from the root of a B-tree.  A node is a header, then room for all keys,
 * then room for all pointers, so the place of the pointers depends on the size of
 * the node, not on the number of children.  Nodes are read in place; the walk from
 * node to node is in lib/vol.
 */
#include "disk/bmap.h"

#define ENTRY_SIZE (2 * sizeof(le64))
#define NODE_HEADER                                                            \
	(sizeof(struct nilfs_btree_node) + NILFS_BTREE_NODE_EXTRA_PAD_SIZE)

bool bmap_is_btree(const le64 map[NILFS_INODE_BMAP_SIZE])
{
	return map[0].b[0] & NILFS_BTREE_NODE_ROOT;
}

uint64_t bmap_direct_ptr(const le64 map[NILFS_INODE_BMAP_SIZE], uint64_t key)
{
	if (key >= NILFS_DIRECT_NBLOCKS)
		return NILFS_BMAP_INVALID_PTR;
	return le64_get(map[1 + key]);
}

static bool level_is_valid(unsigned int level)
{
	return level >= NILFS_BTREE_LEVEL_NODE_MIN &&
	       level < NILFS_BTREE_LEVEL_MAX;
}

enum rule bmap_root_check(const le64 map[NILFS_INODE_BMAP_SIZE])
{
	const struct nilfs_btree_node *root =
		(const struct nilfs_btree_node *)map;
	unsigned int nchildren = le16_get(root->bn_nchildren);

	if (!level_is_valid(root->bn_level))
		return RULE_BMAP_ROOT_LEVEL;
	if (nchildren > NILFS_BTREE_ROOT_NCHILDREN_MAX ||
	    (!nchildren && root->bn_level > NILFS_BTREE_LEVEL_NODE_MIN))
		return RULE_BMAP_ROOT_NCHILDREN;
	return RULE_OK;
}

static void read_node(const struct nilfs_btree_node *bn, const void *entries,
		      uint32_t max, struct bmap_node *node)
{
	node->level = bn->bn_level;
	node->nchildren = le16_get(bn->bn_nchildren);
	if (node->nchildren > max)
		node->nchildren = max;
	node->max = max;
	node->keys = entries;
	node->ptrs = node->keys + max;
}

void bmap_root_read(const le64 map[NILFS_INODE_BMAP_SIZE],
		    struct bmap_node *node)
{
	read_node((const struct nilfs_btree_node *)map, map + 1,
		  NILFS_BTREE_ROOT_NCHILDREN_MAX, node);
}

uint32_t bmap_node_max(uint32_t block_size)
{
	return (block_size - NODE_HEADER) / ENTRY_SIZE;
}

enum rule bmap_node_check(uint32_t block_size, const void *block)
{
	const struct nilfs_btree_node *bn = block;
	unsigned int nchildren = le16_get(bn->bn_nchildren);

	if (!level_is_valid(bn->bn_level))
		return RULE_BMAP_NODE_LEVEL;
	if (bn->bn_flags & NILFS_BTREE_NODE_ROOT)
		return RULE_BMAP_NODE_FLAGS;
	if (!nchildren || nchildren > bmap_node_max(block_size))
		return RULE_BMAP_NODE_NCHILDREN;
	return RULE_OK;
}

void bmap_node_read(uint32_t block_size, const void *block,
		    struct bmap_node *node)
{
	read_node(block, (const uint8_t *)block + NODE_HEADER,
		  bmap_node_max(block_size), node);
}

enum rule bmap_node_check_entries(const struct bmap_node *node)
{
	uint32_t i;

	for (i = 0; i < node->nchildren; i++) {
		if (i && bmap_node_key(node, i - 1) >= bmap_node_key(node, i))
			return RULE_BMAP_KEY_ORDER;
		if (bmap_node_ptr(node, i) == NILFS_BMAP_INVALID_PTR)
			return RULE_BMAP_NULL_POINTER;
	}
	return RULE_OK;
}

int bmap_node_search(const struct bmap_node *node, uint64_t key)
{
	int low = -1, high = node->nchildren, middle;

	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (bmap_node_key(node, middle) <= key)
			low = middle;
		else
			high = middle;
	}
	return low;
}

uint64_t bmap_first_ptr(const le64 *map)
{
	struct bmap_node root;

	if (!bmap_is_btree(map))
		return bmap_direct_ptr(map, 0);
	if (bmap_root_check(map) != RULE_OK)
		return 0;
	bmap_root_read(map, &root);
	return bmap_node_ptr(&root, 0);
}
