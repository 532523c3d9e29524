/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The block map of a file: direct pointers or the nodes of a B-tree. */
#ifndef NILFS2_DISK_BMAP_H
#define NILFS2_DISK_BMAP_H

#include <stdbool.h>
#include <stdint.h>

#include "disk/ondisk.h"
#include "disk/rule.h"

/* A node read in place; valid as long as its block. */
struct bmap_node {
	uint8_t level;		/* 1: the pointers are of data blocks */
	uint16_t nchildren;	/* never above max */
	uint16_t max;		/* maximum number of children */
	const le64 *keys;	/* nchildren of them, ascending */
	const le64 *ptrs;
};

/* True if MAP (i_bmap of an inode) is a B-tree, false if direct. */
bool bmap_is_btree(const le64 map[NILFS_INODE_BMAP_SIZE]);

/* Pointer of block KEY in a direct map, 0 for a hole or a KEY above 5. */
uint64_t bmap_direct_ptr(const le64 map[NILFS_INODE_BMAP_SIZE], uint64_t key);

/* Checks level and number of children of a B-tree root: nilfs_btree_root_broken(). */
enum rule bmap_root_check(const le64 map[NILFS_INODE_BMAP_SIZE]);

/* Reads the root in an inode; does not access other bytes, even if unchecked. */
void bmap_root_read(const le64 map[NILFS_INODE_BMAP_SIZE],
		    struct bmap_node *node);

/* Maximum number of children in a node block: NILFS_BTREE_NODE_NCHILDREN_MAX(). */
uint32_t bmap_node_max(uint32_t block_size);

/* Checks level, flags, number of children of a node: nilfs_btree_node_broken(). */
enum rule bmap_node_check(uint32_t block_size, const void *block);

/* Reads a node block; does not access other bytes, even if unchecked. */
void bmap_node_read(uint32_t block_size, const void *block,
		    struct bmap_node *node);

/* Checks for ascending keys and null pointers; the kernel checks neither. */
enum rule bmap_node_check_entries(const struct bmap_node *node);

static inline uint64_t bmap_node_key(const struct bmap_node *node, uint32_t i)
{
	return le64_get(node->keys[i]);
}

static inline uint64_t bmap_node_ptr(const struct bmap_node *node, uint32_t i)
{
	return le64_get(node->ptrs[i]);
}

/* Index of the largest key <= KEY, or -1 if all keys are larger. */
int bmap_node_search(const struct bmap_node *node, uint64_t key);

/* The first pointer of MAP (an i_bmap); of a direct map that of block 0.  0 if there
   is none, or the root is refused by bmap_root_check(). */
uint64_t bmap_first_ptr(const le64 *map);

#endif
