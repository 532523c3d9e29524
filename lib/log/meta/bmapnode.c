// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Nodes of a block map, changed in place.
 *
 * The reader's view of a node (disk/bmap.h) is read-only and does not trust its
 * counts.  This one is for nodes that were created here, or checked when they
 * were read.  It changes them and keeps unused bytes zero, so that equal maps
 * have equal bytes.
 */
#include "log/meta/bmapnode.h"

#include <string.h>

#include "disk/bmap.h"

#define NODE_HEADER                                                            \
	(sizeof(struct nilfs_btree_node) + NILFS_BTREE_NODE_EXTRA_PAD_SIZE)

struct bmapnode bmapnode_root(le64 map[NILFS_INODE_BMAP_SIZE])
{
	return (struct bmapnode){
		.head = (struct nilfs_btree_node *)map,
		.keys = map + 1,
		.ptrs = map + 1 + NILFS_BTREE_ROOT_NCHILDREN_MAX,
		.max = NILFS_BTREE_ROOT_NCHILDREN_MAX,
	};
}

struct bmapnode bmapnode_block(uint32_t block_size, void *block)
{
	uint32_t max = bmap_node_max(block_size);
	le64 *keys = (le64 *)((uint8_t *)block + NODE_HEADER);

	return (struct bmapnode){
		.head = block, .keys = keys, .ptrs = keys + max, .max = max,
	};
}

void bmapnode_init(struct bmapnode *node, unsigned int level)
{
	size_t before = (size_t)((uint8_t *)node->keys - (uint8_t *)node->head);

	memset(node->head, 0, before);
	memset(node->keys, 0, node->max * sizeof(le64));
	memset(node->ptrs, 0, node->max * sizeof(le64));
	node->head->bn_level = (uint8_t)level;
	if (node->max == NILFS_BTREE_ROOT_NCHILDREN_MAX)
		node->head->bn_flags = NILFS_BTREE_NODE_ROOT;
}

void bmapnode_insert(struct bmapnode *node, uint32_t at, uint64_t key,
		     uint64_t ptr)
{
	uint32_t n = bmapnode_count(node);
	size_t after = (n - at) * sizeof(le64);

	memmove(node->keys + at + 1, node->keys + at, after);
	memmove(node->ptrs + at + 1, node->ptrs + at, after);
	node->keys[at] = le64_make(key);
	node->ptrs[at] = le64_make(ptr);
	node->head->bn_nchildren = le16_make((uint16_t)(n + 1));
}

void bmapnode_remove(struct bmapnode *node, uint32_t at)
{
	uint32_t n = bmapnode_count(node) - 1;

	memmove(node->keys + at, node->keys + at + 1, (n - at) * sizeof(le64));
	memmove(node->ptrs + at, node->ptrs + at + 1, (n - at) * sizeof(le64));
	node->keys[n] = le64_make(0);
	node->ptrs[n] = le64_make(0);
	node->head->bn_nchildren = le16_make((uint16_t)n);
}

void bmapnode_share(struct bmapnode *left, struct bmapnode *right, uint32_t n)
{
	uint32_t l = bmapnode_count(left), r = bmapnode_count(right), i;
	uint32_t moved = n > l ? n - l : l - n;
	size_t size = moved * sizeof(le64);

	/* Keys, then pointers. */
	for (i = 0; i < 2; i++) {
		le64 *to = i ? left->ptrs : left->keys;
		le64 *from = i ? right->ptrs : right->keys;

		if (n > l) {
			memcpy(to + l, from, size);
			memmove(from, from + moved, (r - moved) * sizeof(le64));
			memset(from + r - moved, 0, size);
		} else {
			memmove(from + moved, from, r * sizeof(le64));
			memcpy(from, to + n, size);
			memset(to + n, 0, size);
		}
	}
	left->head->bn_nchildren = le16_make((uint16_t)n);
	right->head->bn_nchildren = le16_make((uint16_t)(l + r - n));
}
