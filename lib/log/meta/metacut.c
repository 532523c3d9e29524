// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Truncating a block map, or deleting a block of it.
 *
 * To truncate the map, its last entry is deleted repeatedly.  A node that loses
 * its last child is deleted without being made dirty first, which would only
 * allocate a number to end it.  At the end, as long as the root has one child
 * whose entries fit into it, the root takes them over.
 *
 * After a truncation, nodes with few children are left unchanged: the kernel
 * balances them when it deletes the next entry, and readers accept them.  When
 * single blocks are deleted nodes are balanced here; otherwise a file of holes
 * would keep all its nodes.
 */
#include "log/meta/metatree.h"

#include <string.h>

/* Block B (NULL if it is not in memory) with pointer PTR leaves the file. */
static int metacut_drop(struct metafile *m, struct context *cx,
			struct metablock *b, uint64_t ptr)
{
	if (b)
		metablocks_drop(&m->blocks, b);
	m->nblocks--;
	if (metatree_is_provisional(m, ptr))
		return 0;
	if (m->kind == METAFILE_DAT)
		return m->env->superseded(m->env->arg, cx, ptr);
	return m->env->end(m->env->arg, cx, ptr, m->kind);
}

/* Data block KEY with pointer PTR leaves the file. */
static int metacut_drop_data(struct metafile *m, struct context *cx,
			     uint64_t key, uint64_t ptr)
{
	return metacut_drop(m, cx, metablocks_find(&m->blocks, false, key),
			    ptr);
}

/* Deletes KEY from a direct map: 1 if it existed. */
static int delete_pointer(struct metafile *m, struct context *cx, uint64_t key)
{
	uint64_t ptr = bmap_direct_ptr(m->root, key);
	int err;

	if (ptr == NILFS_BMAP_INVALID_PTR)
		return 0;
	m->root[1 + key] = le64_make(NILFS_BMAP_INVALID_PTR);
	err = metacut_drop_data(m, cx, key, ptr);
	return err ? err : 1;
}

/* Makes the root as low as possible after an entry was removed. */
static int lower_root(struct metafile *m, struct context *cx)
{
	struct bmapnode root = bmapnode_root(m->root);
	struct metapath_step *child;
	struct metapath p;
	unsigned int level;
	int err;

	while ((level = bmapnode_level(&root)) > NILFS_BTREE_LEVEL_NODE_MIN &&
	       bmapnode_count(&root) == 1) {
		err = metapath_descend(m, cx, UINT64_MAX, level - 1, &p);
		if (err)
			return err;
		child = &p.step[level - 1];
		if (bmapnode_count(&child->node) > root.max)
			break;
		bmapnode_init(&root, level - 1);
		bmapnode_share(&child->node, &root, 0);
		err = metacut_drop(m, cx, child->block, child->block->ptr);
		if (err)
			return err;
	}
	/* A root without entries becomes an empty direct map. */
	if (!bmapnode_count(&root))
		memset(m->root, 0, sizeof(m->root));
	return 0;
}

int metacut_from(struct metafile *m, struct context *cx, uint64_t key)
{
	struct bmapnode root = bmapnode_root(m->root), *node;
	struct metapath_step *s;
	struct metapath p;
	uint64_t last;
	int ret = 0;

	if (!bmap_is_btree(m->root)) {
		for (; key < NILFS_DIRECT_NBLOCKS && ret >= 0; key++)
			ret = delete_pointer(m, cx, key);
		return ret < 0 ? ret : 0;
	}
	while (bmapnode_count(&root)) {
		unsigned int level = NILFS_BTREE_LEVEL_NODE_MIN;

		ret = metapath_descend(m, cx, UINT64_MAX, level, &p);
		if (ret)
			return ret;
		s = &p.step[level];
		node = &s->node;
		if (s->index < 0)
			return metapath_broken(m, cx,
					       RULE_BMAP_NODE_NCHILDREN);
		last = bmapnode_key(node, (uint32_t)s->index);
		if (last < key)
			break;
		ret = metacut_drop_data(m, cx, last,
					bmapnode_ptr(node, (uint32_t)s->index));
		for (; !ret && level < p.top && bmapnode_count(node) == 1;
		     node = &s->node) {
			ret = metacut_drop(m, cx, s->block, s->block->ptr);
			s = &p.step[++level];
		}
		if (!ret)
			ret = metapath_dirty(m, cx, &p, level);
		if (ret)
			return ret;
		bmapnode_remove(node, bmapnode_count(node) - 1);
	}
	return lower_root(m, cx);
}

/* Deletes the entry of P at LEVEL. */
static int metacut_remove_entry(struct metafile *m, struct context *cx,
				struct metapath *p, unsigned int level)
{
	struct metapath_step *s = &p->step[level];
	int err = metapath_dirty(m, cx, p, level);

	if (err)
		return err;
	bmapnode_remove(&s->node, (uint32_t)s->index);
	if (s->index || !bmapnode_count(&s->node))
		return 0;
	return metapath_promote(m, cx, p, level);
}

/* Deletes the node of P at LEVEL, which has no entries: 1. */
static int metacut_drop_node(struct metafile *m, struct context *cx,
			     struct metapath *p, unsigned int level)
{
	struct metablock *b = p->step[level].block;
	int err = metacut_drop(m, cx, b, b->ptr);

	if (!err)
		err = metacut_remove_entry(m, cx, p, level + 1);
	return err ? err : 1;
}

/*
 * LEFT and RIGHT are paths to neighbours at LEVEL.  If their entries fit into
 * one node, the left one gets all and the other is deleted: 1.  Otherwise the
 * entries are distributed evenly: 0.
 */
static int share_entries(struct metafile *m, struct context *cx,
			 struct metapath *left, struct metapath *right,
			 unsigned int level)
{
	struct bmapnode *l = &left->step[level].node;
	struct bmapnode *r = &right->step[level].node;
	uint32_t n = bmapnode_count(l) + bmapnode_count(r);
	bool one = n <= l->max;
	int err = metapath_dirty(m, cx, left, level);

	if (!err && !one)
		err = metapath_dirty(m, cx, right, level);
	if (err)
		return err;
	bmapnode_share(l, r, one ? n : n / 2);
	err = metapath_promote(m, cx, left, level);
	if (err)
		return err;
	return one ? metacut_drop_node(m, cx, right, level) :
		     metapath_promote(m, cx, right, level);
}

/* The leaf of P has lost an entry: balances nodes less than half full. */
static int balance_nodes(struct metafile *m, struct context *cx,
			 struct metapath *p)
{
	unsigned int level = NILFS_BTREE_LEVEL_NODE_MIN;
	struct metapath left, right;
	int ret = 1;

	/* Repeat while the level above has lost an entry. */
	for (; ret > 0 && level < p->top; level++) {
		const struct bmapnode *node = &p->step[level].node;
		const struct bmapnode *up = &p->step[level + 1].node;
		uint32_t at = (uint32_t)p->step[level + 1].index;

		/* NILFS_BTREE_NODE_NCHILDREN_MIN of the kernel. */
		if (bmapnode_count(node) >= (node->max - 1) / 2 + 1)
			return 0;
		if (!at && bmapnode_count(up) <= 1) {
			ret = bmapnode_count(node) ? 0 :
				metacut_drop_node(m, cx, p, level);
			continue;
		}
		left = right = *p;
		ret = at ? metapath_descend(m, cx, bmapnode_key(up, at - 1),
					    level, &left) :
			   metapath_descend(m, cx, bmapnode_key(up, 1), level,
					    &right);
		if (!ret)
			ret = share_entries(m, cx, &left, &right, level);
	}
	return ret < 0 ? ret : 0;
}

int metacut_at(struct metafile *m, struct context *cx, uint64_t key)
{
	unsigned int level = NILFS_BTREE_LEVEL_NODE_MIN;
	struct metapath p;
	uint64_t ptr;
	int ret;

	if (!bmap_is_btree(m->root))
		return delete_pointer(m, cx, key);
	ret = metapath_find(m, cx, key, &p, &ptr);
	if (ret <= 0)
		return ret;
	ret = metacut_drop_data(m, cx, key, ptr);
	if (!ret)
		ret = metacut_remove_entry(m, cx, &p, level);
	if (!ret)
		ret = balance_nodes(m, cx, &p);
	if (!ret)
		ret = lower_root(m, cx);
	return ret ? ret : 1;
}
