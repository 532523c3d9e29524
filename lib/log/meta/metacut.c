// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Truncating a block map, or deleting a block of it.
 *
 * To truncate the map, its last entry is deleted repeatedly.  A node that loses
 * its last child is deleted without being made dirty first, which would only
 * allocate a number to end it.  At the end, as long as the root has one child
 * whose entries fit into it, it takes them over.
 *
 * Nodes with few children are left as they are: the kernel balances them when
 * it deletes the next entry, and readers do not care.  When single blocks are
 * deleted nodes are balanced here, as otherwise a file of holes would keep all
 * its nodes.
 */
#include "log/meta/metacut.h"

#include <string.h>

#include "disk/bmap.h"
#include "log/meta/bmapnode.h"
#include "log/meta/metapath.h"

/* A block of the file is no part of it any more. */
static int lose(struct metatree *t, struct context *cx, uint64_t ptr)
{
	t->nblocks--;
	if (metatree_is_provisional(t, ptr))
		return 0;
	if (t->kind == METAFILE_DAT)
		return t->env->superseded(t->env->arg, cx, ptr);
	return t->env->end(t->env->arg, cx, ptr, t->kind);
}

static int lose_data(struct metatree *t, struct context *cx, uint64_t key,
		     uint64_t ptr)
{
	struct metablock *b = metablocks_data(&t->blocks, key);

	if (b)
		metablocks_drop(&t->blocks, b);
	return lose(t, cx, ptr);
}

/* 1 where there was one. */
static int cut_pointer(struct metatree *t, struct context *cx, uint64_t key)
{
	uint64_t ptr = bmap_direct_ptr(t->root, key);
	int err;

	if (ptr == NILFS_BMAP_INVALID_PTR)
		return 0;
	t->root[1 + key] = le64_make(NILFS_BMAP_INVALID_PTR);
	err = lose_data(t, cx, key, ptr);
	return err ? err : 1;
}

static int cut_direct(struct metatree *t, struct context *cx, uint64_t key)
{
	int ret = 0;

	for (; key < NILFS_DIRECT_NBLOCKS && ret >= 0; key++)
		ret = cut_pointer(t, cx, key);
	return ret < 0 ? ret : 0;
}

/* Deletes the last entry of the map, to which P leads. */
static int cut_last(struct metatree *t, struct context *cx, struct metapath *p)
{
	unsigned int level = NILFS_BTREE_LEVEL_NODE_MIN;
	struct bmapnode *node = &p->step[level].node;
	uint32_t last = bmapnode_count(node) - 1;
	int err = lose_data(t, cx, bmapnode_key(node, last),
			    bmapnode_ptr(node, last));

	while (!err && level < p->top &&
	       bmapnode_count(&p->step[level].node) == 1) {
		struct metablock *b = p->step[level++].block;
		uint64_t ptr = b->ptr;

		metablocks_drop(&t->blocks, b);
		err = lose(t, cx, ptr);
	}
	if (!err)
		err = metapath_dirty(t, cx, p, level);
	if (!err)
		bmapnode_remove_last(&p->step[level].node);
	return err;
}

static int cut_tree(struct metatree *t, struct context *cx, uint64_t key)
{
	struct bmapnode root = bmapnode_root(t->root);
	const struct metapath_step *leaf;
	struct metapath p;
	int err = 0;

	while (!err && bmapnode_count(&root)) {
		err = metapath_descend(t, cx, UINT64_MAX,
				       NILFS_BTREE_LEVEL_NODE_MIN, &p);
		if (err)
			break;
		leaf = &p.step[NILFS_BTREE_LEVEL_NODE_MIN];
		if (leaf->index < 0)
			return metapath_broken(t, cx,
					       RULE_BMAP_NODE_NCHILDREN);
		if (bmapnode_key(&leaf->node, (uint32_t)leaf->index) < key)
			break;
		err = cut_last(t, cx, &p);
	}
	return err;
}

/* The root takes the entries of its only child: 1, 0 where it cannot. */
static int pull_up(struct metatree *t, struct context *cx)
{
	struct bmapnode root = bmapnode_root(t->root);
	unsigned int level = bmapnode_level(&root);
	struct metapath p;
	struct metapath_step *child;
	uint64_t ptr;
	int err;

	if (bmapnode_count(&root) != 1 || level <= NILFS_BTREE_LEVEL_NODE_MIN)
		return 0;
	err = metapath_descend(t, cx, UINT64_MAX, level - 1, &p);
	if (err)
		return err;
	child = &p.step[level - 1];
	if (bmapnode_count(&child->node) > root.max)
		return 0;
	bmapnode_init_root(&root, level - 1);
	bmapnode_move(&child->node, 0, &root);
	ptr = child->block->ptr;
	metablocks_drop(&t->blocks, child->block);
	err = lose(t, cx, ptr);
	return err ? err : 1;
}

/* The root becomes as low as it can be, once an entry is gone. */
static int lower(struct metatree *t, struct context *cx)
{
	struct bmapnode root = bmapnode_root(t->root);
	int ret;

	while ((ret = pull_up(t, cx)) > 0)
		;
	/* Nothing can be put below a root that has no nodes. */
	if (!ret && !bmapnode_count(&root))
		memset(t->root, 0, sizeof(t->root));
	return ret;
}

int metacut_from(struct metatree *t, struct context *cx, uint64_t key)
{
	int ret;

	if (!bmap_is_btree(t->root))
		return cut_direct(t, cx, key);
	ret = cut_tree(t, cx, key);
	return ret ? ret : lower(t, cx);
}

/* Deletes the entry that P takes at LEVEL. */
static int remove_entry(struct metatree *t, struct context *cx,
			struct metapath *p, unsigned int level)
{
	struct metapath_step *s = &p->step[level];
	int err = metapath_dirty(t, cx, p, level);

	if (err)
		return err;
	bmapnode_remove(&s->node, (uint32_t)s->index);
	if (s->index || !bmapnode_count(&s->node))
		return 0;
	return metapath_promote(t, cx, p, level);
}

/* Two neighbours below one node, and the way to each. */
struct pair {
	struct metapath left, right;
	unsigned int level;
};

/* Finds the node of P at LEVEL and a sibling: 1, or 0 if there is none. */
static int find_pair(struct metatree *t, struct context *cx,
		     const struct metapath *p, unsigned int level,
		     struct pair *pair)
{
	const struct metapath_step *up = &p->step[level + 1];
	uint32_t at = (uint32_t)up->index;
	int err;

	pair->level = level;
	pair->left = pair->right = *p;
	if (at)
		err = metapath_descend(t, cx, bmapnode_key(&up->node, at - 1),
				       level, &pair->left);
	else if (bmapnode_count(&up->node) > 1)
		err = metapath_descend(t, cx, bmapnode_key(&up->node, 1),
				       level, &pair->right);
	else
		return 0;
	return err ? err : 1;
}

/* Deletes the node of P at LEVEL, which has no entries: 1. */
static int lose_node(struct metatree *t, struct context *cx,
		     struct metapath *p, unsigned int level)
{
	struct metablock *b = p->step[level].block;
	uint64_t ptr = b->ptr;
	int err;

	metablocks_drop(&t->blocks, b);
	err = lose(t, cx, ptr);
	if (!err)
		err = remove_entry(t, cx, p, level + 1);
	return err ? err : 1;
}

/*
 * Distributes the entries evenly, or moves all to the left node if they fit and
 * deletes the other: 1.
 */
static int share(struct metatree *t, struct context *cx, struct pair *pair)
{
	struct bmapnode *left = &pair->left.step[pair->level].node;
	struct bmapnode *right = &pair->right.step[pair->level].node;
	uint32_t n = bmapnode_count(left) + bmapnode_count(right);
	bool one = n <= left->max;
	int err = metapath_dirty(t, cx, &pair->left, pair->level);

	if (!err && !one)
		err = metapath_dirty(t, cx, &pair->right, pair->level);
	if (err)
		return err;
	bmapnode_share(left, right, one ? n : n / 2);
	err = metapath_promote(t, cx, &pair->left, pair->level);
	if (err)
		return err;
	return one ? lose_node(t, cx, &pair->right, pair->level) :
		     metapath_promote(t, cx, &pair->right, pair->level);
}

/* The kernel's NILFS_BTREE_NODE_NCHILDREN_MIN. */
static uint32_t least(const struct bmapnode *node)
{
	return (node->max - 1) / 2 + 1;
}

/* The leaf of P has lost an entry. */
static int even_out(struct metatree *t, struct context *cx, struct metapath *p)
{
	unsigned int level = NILFS_BTREE_LEVEL_NODE_MIN;
	const struct bmapnode *node;
	struct pair pair;
	int ret = 1;

	for (; ret > 0 && level < p->top; level++) {
		node = &p->step[level].node;
		if (bmapnode_count(node) >= least(node))
			return 0;
		ret = find_pair(t, cx, p, level, &pair);
		if (ret > 0)
			ret = share(t, cx, &pair);
		else if (!ret && !bmapnode_count(node))
			ret = lose_node(t, cx, p, level);
	}
	return ret < 0 ? ret : 0;
}

static int cut_entry(struct metatree *t, struct context *cx,
		     struct metapath *p)
{
	unsigned int level = NILFS_BTREE_LEVEL_NODE_MIN;
	const struct metapath_step *leaf = &p->step[level];
	uint32_t at = (uint32_t)leaf->index;
	int err = lose_data(t, cx, bmapnode_key(&leaf->node, at),
			    bmapnode_ptr(&leaf->node, at));

	if (!err)
		err = remove_entry(t, cx, p, level);
	if (!err)
		err = even_out(t, cx, p);
	return err ? err : lower(t, cx);
}

int metacut_at(struct metatree *t, struct context *cx, uint64_t key)
{
	struct metapath p;
	int err;

	if (!bmap_is_btree(t->root))
		return cut_pointer(t, cx, key);
	err = metapath_descend(t, cx, key, NILFS_BTREE_LEVEL_NODE_MIN, &p);
	if (err || !metapath_is_at(&p.step[NILFS_BTREE_LEVEL_NODE_MIN], key))
		return err;
	err = cut_entry(t, cx, &p);
	return err ? err : 1;
}
