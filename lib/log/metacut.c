// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A block map that loses its end.
 *
 * The last entry of the map goes, again and again, as long as it is one of
 * those to go.  A node that loses its last child goes with it, without having
 * been made dirty first: it would be given a number only to end it.  In the
 * end, as long as the root has one child whose entries it can hold itself, it
 * takes them.
 *
 * Nodes with few children stay as they are.  The kernel evens them out when it
 * deletes the next entry; readers do not care.
 */
#include "log/metacut.h"

#include <string.h>

#include "disk/bmap.h"
#include "log/bmapnode.h"
#include "log/metapath.h"

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

static int cut_direct(struct metatree *t, struct context *cx, uint64_t key)
{
	uint64_t ptr;
	int err = 0;

	for (; key < NILFS_DIRECT_NBLOCKS && !err; key++) {
		ptr = bmap_direct_ptr(t->root, key);
		if (ptr == NILFS_BMAP_INVALID_PTR)
			continue;
		t->root[1 + key] = le64_make(NILFS_BMAP_INVALID_PTR);
		err = lose_data(t, cx, key, ptr);
	}
	return err;
}

/* The last entry of the map, to which P leads, goes. */
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

int metacut_from(struct metatree *t, struct context *cx, uint64_t key)
{
	struct bmapnode root = bmapnode_root(t->root);
	int ret;

	if (!bmap_is_btree(t->root))
		return cut_direct(t, cx, key);
	ret = cut_tree(t, cx, key);
	while (!ret && (ret = pull_up(t, cx)) > 0)
		ret = 0;
	/* Nothing can be put below a root that has no nodes. */
	if (!ret && !bmapnode_count(&root))
		memset(t->root, 0, sizeof(t->root));
	return ret;
}
