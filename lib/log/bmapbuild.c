// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Block maps in bulk.
 *
 * There is one open node per level.  Runs fill the one of level 1; a full node
 * is given away when the next entry comes and becomes an entry of the level
 * above.  At the end the lowest level that holds everything in three entries
 * becomes the root, and what is open below it is given away as it is: nodes
 * are full but for the last of each level, and no level is there for nothing.
 *
 * A map that ends within the first six blocks is direct.  It costs no more
 * than a copy of the entries collected so far, and no memory is allocated for
 * a file that a file before it did not need as well.
 */
#include "log/bmapbuild.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "disk/bmap.h"
#include "log/bmapnode.h"

struct level {
	struct bmapnode node;	/* head: NULL until the level is needed */
	uint32_t count;		/* entries; bn_nchildren follows at the end */
};

struct bmapbuild {
	uint32_t block_size;
	uint64_t next;		/* least offset that the next run may have */
	uint64_t nodes;		/* given away */
	/* One more than levels: nothing is ever above the highest. */
	struct level levels[NILFS_BTREE_LEVEL_MAX + 1];
};

static int need_level(struct bmapbuild *b, struct context *cx,
		      unsigned int level)
{
	void *block;

	if (b->levels[level].node.head)
		return 0;
	if (level >= NILFS_BTREE_LEVEL_MAX)
		return fail(cx, -EFBIG, "block map of more than %d levels",
			    NILFS_BTREE_LEVEL_MAX - 1);
	block = malloc(b->block_size);
	if (!block)
		return fail(cx, -ENOMEM, "node of a block map");
	b->levels[level].node = bmapnode_block(b->block_size, block);
	bmapnode_init_block(&b->levels[level].node, level);
	return 0;
}

int bmapbuild_open(struct bmapbuild **bp, struct context *cx,
		   uint32_t block_size)
{
	struct bmapbuild *b = calloc(1, sizeof(*b));
	int err;

	*bp = NULL;
	if (!b)
		return fail(cx, -ENOMEM, "builder of block maps");
	b->block_size = block_size;
	err = need_level(b, cx, NILFS_BTREE_LEVEL_NODE_MIN);
	if (err) {
		free(b);
		return err;
	}
	*bp = b;
	return 0;
}

void bmapbuild_close(struct bmapbuild *b)
{
	unsigned int i;

	if (!b)
		return;
	for (i = 0; i < NILFS_BTREE_LEVEL_MAX; i++)
		free(b->levels[i].node.head);
	free(b);
}

void bmapbuild_begin(struct bmapbuild *b)
{
	unsigned int i;

	for (i = 0; i <= NILFS_BTREE_LEVEL_MAX; i++)
		b->levels[i].count = 0;
	b->next = 0;
	b->nodes = 0;
}

/* Completes the open node of L: entries of a node before it are erased. */
static void complete(struct level *l)
{
	size_t behind = (l->node.max - l->count) * sizeof(le64);

	memset(l->node.keys + l->count, 0, behind);
	memset(l->node.ptrs + l->count, 0, behind);
	l->node.head->bn_nchildren = le16_make((uint16_t)l->count);
}

static int give_node(struct bmapbuild *b, struct context *cx,
		     unsigned int level, bmapbuild_node *node, void *arg)
{
	struct level *l = &b->levels[level], *above = &b->levels[level + 1];
	uint64_t ptr = NILFS_BMAP_INVALID_PTR;
	int err;

	err = need_level(b, cx, level + 1);
	if (!err && above->count == above->node.max)
		err = give_node(b, cx, level + 1, node, arg);
	if (err)
		return err;
	complete(l);
	err = node(arg, cx, level, bmapnode_key(&l->node, 0), l->node.head,
		   &ptr);
	if (err)
		return err;
	above->node.keys[above->count] = l->node.keys[0];
	above->node.ptrs[above->count++] = le64_make(ptr);
	l->count = 0;
	b->nodes++;
	return 0;
}

/* Appends N entries to the open leaf, which has room for them. */
static void fill_leaf(struct level *leaf, uint64_t key, uint64_t ptr,
		      uint32_t n)
{
	le64 *keys = leaf->node.keys + leaf->count;
	le64 *ptrs = leaf->node.ptrs + leaf->count;
	uint32_t i;

	for (i = 0; i < n; i++) {
		keys[i] = le64_make(key + i);
		ptrs[i] = le64_make(ptr + i);
	}
	leaf->count += n;
}

int bmapbuild_add(struct bmapbuild *b, struct context *cx,
		  const struct bmapbuild_run *run, bmapbuild_node *node,
		  void *arg)
{
	struct level *leaf = &b->levels[NILFS_BTREE_LEVEL_NODE_MIN];
	uint64_t done = 0, end;
	int err;

	if (run->blkoff < b->next ||
	    !checked_add(run->blkoff, run->count, &end))
		return fail(cx, -EINVAL, "block map: %llu blocks from %llu on",
			    (unsigned long long)run->count,
			    (unsigned long long)run->blkoff);
	while (done < run->count) {
		uint64_t n = run->count - done;

		if (leaf->count == leaf->node.max) {
			err = give_node(b, cx, NILFS_BTREE_LEVEL_NODE_MIN, node,
					arg);
			if (err)
				return err;
		}
		if (n > leaf->node.max - leaf->count)
			n = leaf->node.max - leaf->count;
		fill_leaf(leaf, run->blkoff + done, run->ptr + done,
			  (uint32_t)n);
		done += n;
	}
	if (run->count)
		b->next = end;
	return 0;
}

static void make_direct(const struct level *leaf,
			le64 map[NILFS_INODE_BMAP_SIZE])
{
	uint32_t i;

	for (i = 0; i < leaf->count; i++)
		map[1 + bmapnode_key(&leaf->node, i)] = leaf->node.ptrs[i];
}

static void make_root(const struct level *l, unsigned int level,
		      le64 map[NILFS_INODE_BMAP_SIZE])
{
	struct bmapnode root = bmapnode_root(map);

	bmapnode_init_root(&root, level);
	memcpy(root.keys, l->node.keys, l->count * sizeof(le64));
	memcpy(root.ptrs, l->node.ptrs, l->count * sizeof(le64));
	root.head->bn_nchildren = le16_make((uint16_t)l->count);
}

int bmapbuild_end(struct bmapbuild *b, struct context *cx,
		  bmapbuild_node *node, void *arg,
		  le64 map[NILFS_INODE_BMAP_SIZE], uint64_t *nodes)
{
	unsigned int level = NILFS_BTREE_LEVEL_NODE_MIN;
	const struct level *l = b->levels;
	int err;

	memset(map, 0, NILFS_INODE_BMAP_SIZE * sizeof(le64));
	*nodes = 0;
	if (b->next <= NILFS_DIRECT_NBLOCKS) {
		make_direct(&l[level], map);
		return 0;
	}
	while (l[level + 1].count ||
	       l[level].count > NILFS_BTREE_ROOT_NCHILDREN_MAX) {
		err = give_node(b, cx, level++, node, arg);
		if (err)
			return err;
	}
	make_root(&l[level], level, map);
	*nodes = b->nodes;
	return 0;
}

uint64_t bmapbuild_count(uint32_t block_size, uint64_t nblocks)
{
	uint64_t n = nblocks, nodes = 0;

	if (nblocks <= NILFS_DIRECT_NBLOCKS)
		return 0;
	while (n > NILFS_BTREE_ROOT_NCHILDREN_MAX) {
		n = div_round_up(n, bmap_node_max(block_size));
		nodes += n;
	}
	return nodes;
}
