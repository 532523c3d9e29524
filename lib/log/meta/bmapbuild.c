// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Block maps built in bulk.
 *
 * There is one open node per level.  Runs fill the one of level 1; a full node
 * is finished when the next entry is added, and becomes an entry of the level
 * above.  At the end the lowest level with at most three entries becomes the
 * root, and the open nodes below it are finished: all nodes but the last of
 * each level are full, and no level is superfluous.
 *
 * The kernel takes a node with a single child for the root, and damages the map
 * when it deletes the last block of a file with such a node below the root
 * (nilfs_btree_prepare_delete()).  So above level 1 a full node is held until
 * the number of children of the next one is known: if it is one, the last child
 * of the held node is moved to it.
 *
 * A map that ends within the first six blocks is direct: the entries collected
 * so far are copied.  Memory is reused for the next file.
 */
#include "log/meta/bmapbuild.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "log/meta/bmapnode.h"

struct level {
	struct bmapnode node;	/* head: NULL until the level is needed */
	uint32_t count;		/* entries; bn_nchildren follows at the end */
	struct bmapnode held;	/* the full node before it; as above */
	uint32_t nheld;		/* number of entries; 0: no node is open */
};

struct bmapbuild {
	uint32_t block_size;
	uint64_t next;		/* lowest offset that the next run may have */
	uint64_t nodes;		/* finished nodes */
	bmapbuild_node *give;	/* receives finished nodes */
	void *arg;
	/* One more than levels, so that the highest level has one above it. */
	struct level levels[NILFS_BTREE_LEVEL_MAX + 1];
};

static int need_node(struct bmapbuild *b, struct context *cx,
		     struct bmapnode *node, unsigned int level)
{
	void *block;

	if (node->head)
		return 0;
	if (level >= NILFS_BTREE_LEVEL_MAX)
		return fail(cx, -EFBIG, "block map of more than %d levels",
			    NILFS_BTREE_LEVEL_MAX - 1);
	block = malloc(b->block_size);
	if (!block)
		return fail(cx, -ENOMEM, "node of a block map");
	*node = bmapnode_block(b->block_size, block);
	bmapnode_init(node, level);
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
	err = need_node(b, cx, &b->levels[NILFS_BTREE_LEVEL_NODE_MIN].node,
			NILFS_BTREE_LEVEL_NODE_MIN);
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
	for (i = 0; i < NILFS_BTREE_LEVEL_MAX; i++) {
		free(b->levels[i].node.head);
		free(b->levels[i].held.head);
	}
	free(b);
}

void bmapbuild_begin(struct bmapbuild *b)
{
	unsigned int i;

	for (i = 0; i <= NILFS_BTREE_LEVEL_MAX; i++)
		b->levels[i].count = b->levels[i].nheld = 0;
	b->next = 0;
	b->nodes = 0;
}

static int make_room(struct bmapbuild *b, struct context *cx,
		     unsigned int level);

/* Finishes N of LEVEL, which has *COUNT entries; *COUNT becomes 0. */
static int give_node(struct bmapbuild *b, struct context *cx,
		     unsigned int level, struct bmapnode *n, uint32_t *count)
{
	struct level *above = &b->levels[level + 1];
	size_t unused = (n->max - *count) * sizeof(le64);
	uint64_t ptr = NILFS_BMAP_INVALID_PTR;
	int err;

	err = need_node(b, cx, &above->node, level + 1);
	if (!err && above->count == above->node.max)
		err = make_room(b, cx, level + 1);
	if (err)
		return err;
	/* Erase entries of the previous node. */
	memset(n->keys + *count, 0, unused);
	memset(n->ptrs + *count, 0, unused);
	n->head->bn_nchildren = le16_make((uint16_t)*count);
	err = b->give(b->arg, cx, level, le64_get(n->keys[0]), n->head, &ptr);
	if (err)
		return err;
	above->node.keys[above->count] = n->keys[0];
	above->node.ptrs[above->count++] = le64_make(ptr);
	*count = 0;
	b->nodes++;
	return 0;
}

/* The open node of LEVEL is full: it becomes the held one, or is finished. */
static int make_room(struct bmapbuild *b, struct context *cx,
		     unsigned int level)
{
	struct level *l = &b->levels[level];
	struct bmapnode full = l->node;
	int err = 0;

	if (level == NILFS_BTREE_LEVEL_NODE_MIN)
		return give_node(b, cx, level, &l->node, &l->count);
	if (l->nheld)
		err = give_node(b, cx, level, &l->held, &l->nheld);
	if (!err)
		err = need_node(b, cx, &l->held, level);
	if (err)
		return err;
	l->node = l->held;
	l->held = full;
	l->nheld = l->count;
	l->count = 0;
	return 0;
}

int bmapbuild_add(struct bmapbuild *b, struct context *cx,
		  const struct bmapbuild_run *run, bmapbuild_node *node,
		  void *arg)
{
	struct level *leaf = &b->levels[NILFS_BTREE_LEVEL_NODE_MIN];
	uint64_t i, end;
	int err;

	if (!checked_add(run->blkoff, run->count, &end))
		return fail(cx, -EUCLEAN, "block map: no file can have %llu blocks "
			    "from %llu on", (unsigned long long)run->count,
			    (unsigned long long)run->blkoff);
	if (run->blkoff < b->next)
		return fail(cx, -EINVAL, "block map: block %llu after %llu",
			    (unsigned long long)run->blkoff,
			    (unsigned long long)b->next - 1);
	b->give = node;
	b->arg = arg;
	for (i = 0; i < run->count; i++) {
		if (leaf->count == leaf->node.max) {
			err = make_room(b, cx, NILFS_BTREE_LEVEL_NODE_MIN);
			if (err)
				return err;
		}
		leaf->node.keys[leaf->count] = le64_make(run->blkoff + i);
		leaf->node.ptrs[leaf->count++] = le64_make(run->ptr + i);
	}
	if (run->count)
		b->next = end;
	return 0;
}

int bmapbuild_end(struct bmapbuild *b, struct context *cx,
		  bmapbuild_node *node, void *arg,
		  le64 map[NILFS_INODE_BMAP_SIZE], uint64_t *nodes)
{
	unsigned int level = NILFS_BTREE_LEVEL_NODE_MIN;
	struct level *l = &b->levels[level];
	struct bmapnode root = bmapnode_root(map);
	uint32_t i;
	int err = 0;

	b->give = node;
	b->arg = arg;
	memset(map, 0, NILFS_INODE_BMAP_SIZE * sizeof(le64));
	*nodes = 0;
	if (b->next <= NILFS_DIRECT_NBLOCKS) {
		for (i = 0; i < l->count; i++)
			map[1 + le64_get(l->node.keys[i])] = l->node.ptrs[i];
		return 0;
	}
	for (; l[1].count || l->nheld ||
	       l->count > NILFS_BTREE_ROOT_NCHILDREN_MAX; l++, level++) {
		if (l->nheld && l->count == 1) {
			/* The only child gets a sibling before it. */
			l->nheld--;
			l->node.keys[1] = l->node.keys[0];
			l->node.ptrs[1] = l->node.ptrs[0];
			l->node.keys[0] = l->held.keys[l->nheld];
			l->node.ptrs[0] = l->held.ptrs[l->nheld];
			l->count++;
		}
		if (l->nheld)
			err = give_node(b, cx, level, &l->held, &l->nheld);
		if (!err)
			err = give_node(b, cx, level, &l->node, &l->count);
		if (err)
			return err;
	}
	bmapnode_init(&root, level);
	memcpy(root.keys, l->node.keys, l->count * sizeof(le64));
	memcpy(root.ptrs, l->node.ptrs, l->count * sizeof(le64));
	root.head->bn_nchildren = le16_make((uint16_t)l->count);
	*nodes = b->nodes;
	return 0;
}
