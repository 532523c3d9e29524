/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A node of a block map that is being changed: root or node block. */
#ifndef NILFS2_LOG_BMAPNODE_H
#define NILFS2_LOG_BMAPNODE_H

#include <stdint.h>

#include "disk/ondisk.h"

/* Pointers to its parts, valid as long as its bytes. */
struct bmapnode {
	struct nilfs_btree_node *head;
	le64 *keys;
	le64 *ptrs;
	uint32_t max;		/* maximum number of children */
};

/* Views of the root in an inode, and of a node block, without changing them. */
struct bmapnode bmapnode_root(le64 map[NILFS_INODE_BMAP_SIZE]);
struct bmapnode bmapnode_block(uint32_t block_size, void *block);

/*
 * Makes it an empty node of LEVEL, with the root flag if it is a root; other
 * bytes are zero.
 */
void bmapnode_init(struct bmapnode *node, unsigned int level);

static inline uint32_t bmapnode_count(const struct bmapnode *node)
{
	return le16_get(node->head->bn_nchildren);
}

/* Puts an entry before the one at index AT; there is room for it. */
void bmapnode_insert(struct bmapnode *node, uint32_t at, uint64_t key,
		     uint64_t ptr);

/* Removes the entry at index AT. */
void bmapnode_remove(struct bmapnode *node, uint32_t at);

/* LEFT gets the first N entries of both, RIGHT the rest; both have room. */
void bmapnode_share(struct bmapnode *left, struct bmapnode *right, uint32_t n);

#endif
