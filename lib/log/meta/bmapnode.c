// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Nodes of a block map, changed in place.
 *
 * The reader's view of a node (disk/bmap.h) is read-only and does not trust its
 * counts.  This one is for nodes that were made here, or checked when they were
 * read: it changes them and keeps unused bytes zero, so that equal maps are
 * equal bytes.
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

static void init(struct bmapnode *node, unsigned int level)
{
	size_t before = (size_t)((uint8_t *)node->keys - (uint8_t *)node->head);

	memset(node->head, 0, before);
	memset(node->keys, 0, node->max * sizeof(le64));
	memset(node->ptrs, 0, node->max * sizeof(le64));
	node->head->bn_level = (uint8_t)level;
}

void bmapnode_init_root(struct bmapnode *node, unsigned int level)
{
	init(node, level);
	node->head->bn_flags = NILFS_BTREE_NODE_ROOT;
}

void bmapnode_init_block(struct bmapnode *node, unsigned int level)
{
	init(node, level);
}

int bmapnode_search(const struct bmapnode *node, uint64_t key)
{
	struct bmap_node view = {
		.nchildren = (uint16_t)bmapnode_count(node),
		.keys = node->keys,
	};
	uint32_t n = view.nchildren;

	/* Files grow at their end. */
	if (n && bmapnode_key(node, n - 1) <= key)
		return (int)n - 1;
	return bmap_node_search(&view, key);
}

void bmapnode_insert(struct bmapnode *node, uint32_t at, uint64_t key,
		     uint64_t ptr)
{
	uint32_t n = bmapnode_count(node);
	size_t behind = (n - at) * sizeof(le64);

	memmove(node->keys + at + 1, node->keys + at, behind);
	memmove(node->ptrs + at + 1, node->ptrs + at, behind);
	node->keys[at] = le64_make(key);
	node->ptrs[at] = le64_make(ptr);
	node->head->bn_nchildren = le16_make((uint16_t)(n + 1));
}

void bmapnode_remove_last(struct bmapnode *node)
{
	uint32_t n = bmapnode_count(node) - 1;

	node->keys[n] = le64_make(0);
	node->ptrs[n] = le64_make(0);
	node->head->bn_nchildren = le16_make((uint16_t)n);
}

void bmapnode_remove(struct bmapnode *node, uint32_t at)
{
	size_t behind = (bmapnode_count(node) - at - 1) * sizeof(le64);

	memmove(node->keys + at, node->keys + at + 1, behind);
	memmove(node->ptrs + at, node->ptrs + at + 1, behind);
	bmapnode_remove_last(node);
}

/* N words after the L of LEFT, from the R of RIGHT. */
static void take_left(le64 *left, uint32_t l, le64 *right, uint32_t r,
		      uint32_t n)
{
	memcpy(left + l, right, n * sizeof(*left));
	memmove(right, right + n, (r - n) * sizeof(*right));
	memset(right + r - n, 0, n * sizeof(*right));
}

/* N words before the R of RIGHT, from the L of LEFT. */
static void take_right(le64 *left, uint32_t l, le64 *right, uint32_t r,
		       uint32_t n)
{
	memmove(right + n, right, r * sizeof(*right));
	memcpy(right, left + l - n, n * sizeof(*right));
	memset(left + l - n, 0, n * sizeof(*left));
}

void bmapnode_share(struct bmapnode *left, struct bmapnode *right, uint32_t n)
{
	uint32_t l = bmapnode_count(left), r = bmapnode_count(right);

	if (n > l) {
		take_left(left->keys, l, right->keys, r, n - l);
		take_left(left->ptrs, l, right->ptrs, r, n - l);
	} else {
		take_right(left->keys, l, right->keys, r, l - n);
		take_right(left->ptrs, l, right->ptrs, r, l - n);
	}
	left->head->bn_nchildren = le16_make((uint16_t)n);
	right->head->bn_nchildren = le16_make((uint16_t)(l + r - n));
}

void bmapnode_move(struct bmapnode *node, uint32_t at, struct bmapnode *to)
{
	uint32_t n = bmapnode_count(node);
	size_t size = (n - at) * sizeof(le64);

	memcpy(to->keys, node->keys + at, size);
	memcpy(to->ptrs, node->ptrs + at, size);
	memset(node->keys + at, 0, size);
	memset(node->ptrs + at, 0, size);
	to->head->bn_nchildren = le16_make((uint16_t)(n - at));
	node->head->bn_nchildren = le16_make((uint16_t)at);
}
