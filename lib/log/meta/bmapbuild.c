// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Block maps built in bulk.
 *
 * There is one open node per level.  Runs fill the one of level 1; a full node
 * is finished when the next entry comes and becomes an entry of the level
 * above.  At the end the lowest level whose entries fit into three becomes the
 * root, and the open nodes below it are finished: all nodes but the last of
 * each level are full, and no level is superfluous.
 *
 * The kernel takes a node with a single child for the root, and damages the map
 * when it deletes the last block of a file with such a node below the root
 * (nilfs_btree_prepare_delete()).  So above level 1 a full node is held until
 * the number of children of the next one is known: if it is one, it gets the
 * last child of the held node.
 *
 * A map that ends within the first six blocks is direct: the entries collected
 * so far are copied.  Memory is reused from file to file.
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
	struct bmapnode held;	/* the full one before it; as above */
	uint32_t nheld;		/* number of entries; 0: no node is open */
};

struct bmapbuild {
	uint32_t block_size;
	uint64_t next;		/* least offset that the next run may have */
	uint64_t nodes;		/* given away */
	/* One more than levels: nothing is ever above the highest. */
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
	bmapnode_init_block(node, level);
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

/* NODE has COUNT entries: those of a node before it are erased. */
static void complete_node(struct bmapnode *node, uint32_t count)
{
	size_t behind = (node->max - count) * sizeof(le64);

	memset(node->keys + count, 0, behind);
	memset(node->ptrs + count, 0, behind);
	node->head->bn_nchildren = le16_make((uint16_t)count);
}

/* Receives finished nodes. */
struct receiver {
	bmapbuild_node *node;
	void *arg;
};

static int make_room(struct bmapbuild *b, struct context *cx,
		     unsigned int level, const struct receiver *to);

/* Finishes N of LEVEL, which has *COUNT entries; *COUNT becomes 0. */
static int give_node(struct bmapbuild *b, struct context *cx,
		     unsigned int level, struct bmapnode *n, uint32_t *count,
		     const struct receiver *to)
{
	struct level *above = &b->levels[level + 1];
	uint64_t ptr = NILFS_BMAP_INVALID_PTR;
	int err;

	err = need_node(b, cx, &above->node, level + 1);
	if (!err && above->count == above->node.max)
		err = make_room(b, cx, level + 1, to);
	if (err)
		return err;
	complete_node(n, *count);
	err = to->node(to->arg, cx, level, bmapnode_key(n, 0), n->head, &ptr);
	if (err)
		return err;
	above->node.keys[above->count] = n->keys[0];
	above->node.ptrs[above->count++] = le64_make(ptr);
	*count = 0;
	b->nodes++;
	return 0;
}

/* The open node of LEVEL is full: it becomes the held one, or is given. */
static int make_room(struct bmapbuild *b, struct context *cx,
		     unsigned int level, const struct receiver *to)
{
	struct level *l = &b->levels[level];
	struct bmapnode full = l->node;
	int err = 0;

	if (level == NILFS_BTREE_LEVEL_NODE_MIN)
		return give_node(b, cx, level, &l->node, &l->count, to);
	if (l->nheld)
		err = give_node(b, cx, level, &l->held, &l->nheld, to);
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

/* The only child of the open node of L gets one more before it. */
static void take_held(struct level *l)
{
	l->nheld--;
	l->node.keys[1] = l->node.keys[0];
	l->node.ptrs[1] = l->node.ptrs[0];
	l->node.keys[0] = l->held.keys[l->nheld];
	l->node.ptrs[0] = l->held.ptrs[l->nheld];
	l->count++;
}

/* LEVEL, below the root, is complete. */
static int give_last(struct bmapbuild *b, struct context *cx,
		     unsigned int level, const struct receiver *to)
{
	struct level *l = &b->levels[level];
	int err = 0;

	if (l->nheld && l->count == 1)
		take_held(l);
	if (l->nheld)
		err = give_node(b, cx, level, &l->held, &l->nheld, to);
	return err ? err : give_node(b, cx, level, &l->node, &l->count, to);
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
	const struct receiver to = { node, arg };
	uint64_t done = 0, end;
	int err;

	if (!checked_add(run->blkoff, run->count, &end))
		return fail(cx, -EUCLEAN, "block map: no file has %llu blocks "
			    "from %llu on", (unsigned long long)run->count,
			    (unsigned long long)run->blkoff);
	if (run->blkoff < b->next)
		return fail(cx, -EINVAL, "block map: block %llu after %llu",
			    (unsigned long long)run->blkoff,
			    (unsigned long long)b->next - 1);
	while (done < run->count) {
		uint64_t n = run->count - done;

		if (leaf->count == leaf->node.max) {
			err = make_room(b, cx, NILFS_BTREE_LEVEL_NODE_MIN,
					&to);
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
	const struct receiver to = { node, arg };
	const struct level *l = b->levels;
	int err;

	memset(map, 0, NILFS_INODE_BMAP_SIZE * sizeof(le64));
	*nodes = 0;
	if (b->next <= NILFS_DIRECT_NBLOCKS) {
		make_direct(&l[level], map);
		return 0;
	}
	while (l[level + 1].count || l[level].nheld ||
	       l[level].count > NILFS_BTREE_ROOT_NCHILDREN_MAX) {
		err = give_last(b, cx, level++, &to);
		if (err)
			return err;
	}
	make_root(&l[level], level, map);
	*nodes = b->nodes;
	return 0;
}
