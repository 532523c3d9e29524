// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Paths through a block map that is changed.
 *
 * A path is the list of nodes from the root down to a level, each with the
 * index of the child taken.  Before a node is changed it is made dirty, which
 * gives it a new pointer, which changes its parent, and so on up to a dirty
 * node or the root in the inode, which can always be changed.  So all ancestors
 * of a dirty block are dirty.
 *
 * The DAT has no virtual numbers.  There a dirty block has a provisional
 * pointer with the top bit set until it has a position; its ancestors, dirty as
 * well, are written after that.
 */
#include "log/meta/metapath.h"

#include <errno.h>

#include "disk/bmap.h"
#include "log/meta/bmapnode.h"

int metapath_broken(const struct metatree *t, struct context *cx,
		    enum rule rule)
{
	return fail(cx, -EUCLEAN, "inode %llu: block map: %s",
		    (unsigned long long)t->ino, rule_info(rule)->text);
}

int metapath_check_ptrs(const struct metatree *t, struct context *cx,
			const le64 *ptrs, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (le64_get(ptrs[i]) & METATREE_PROVISIONAL)
			return fail(cx, -EUCLEAN,
				    "inode %llu: block map points to %llu",
				    (unsigned long long)t->ino,
				    (unsigned long long)le64_get(ptrs[i]));
	return 0;
}

static int check_node(const struct metatree *t, struct context *cx,
		      const void *block)
{
	enum rule rule = bmap_node_check(t->block_size, block);
	struct bmap_node node;

	bmap_node_read(t->block_size, block, &node);
	if (rule == RULE_OK)
		rule = bmap_node_check_entries(&node);
	if (rule != RULE_OK)
		return metapath_broken(t, cx, rule);
	return metapath_check_ptrs(t, cx, node.ptrs, node.nchildren);
}

static int read_node(struct metatree *t, struct context *cx, uint64_t ptr,
		     struct metablock **bp)
{
	struct metablock *b;
	int err;

	if (metatree_is_provisional(t, ptr))
		return fail(cx, -EIO, "inode %llu: a node was never placed",
			    (unsigned long long)t->ino);
	b = metablocks_add_node(&t->blocks, cx, ptr);
	if (!b)
		return -ENOMEM;
	err = t->env->read(t->env->arg, cx, t->kind, ptr, b->data);
	if (!err)
		err = check_node(t, cx, b->data);
	if (err) {
		metablocks_drop(&t->blocks, b);
		return err;
	}
	*bp = b;
	return 0;
}

/* The node at PTR, which must be of LEVEL, becomes a step of the path. */
static int get_node(struct metatree *t, struct context *cx, uint64_t ptr,
		    unsigned int level, struct metapath_step *s)
{
	struct metablock *b = metablocks_node(&t->blocks, ptr);
	int err;

	if (b) {
		metablocks_touch(&t->blocks, b);
	} else {
		err = read_node(t, cx, ptr, &b);
		if (err)
			return err;
	}
	s->block = b;
	s->node = bmapnode_block(t->block_size, b->data);
	if (bmapnode_level(&s->node) != level)
		return metapath_broken(t, cx, RULE_BMAP_NODE_LEVEL);
	return 0;
}

int metapath_descend(struct metatree *t, struct context *cx, uint64_t key,
		     unsigned int level, struct metapath *p)
{
	struct bmapnode root = bmapnode_root(t->root);
	unsigned int l = bmapnode_level(&root);
	int err;

	p->top = l;
	if (l < level)
		return fail(cx, -EIO, "inode %llu: no node of level %u",
			    (unsigned long long)t->ino, level);
	p->step[l].block = NULL;
	p->step[l].node = root;
	for (;; l--) {
		struct metapath_step *s = &p->step[l];

		s->index = bmapnode_search(&s->node, key);
		if (l == level)
			return 0;
		/* A key left of all others belongs to the leftmost child. */
		if (s->index < 0)
			s->index = 0;
		err = get_node(t, cx,
			       bmapnode_ptr(&s->node, (uint32_t)s->index),
			       l - 1, &p->step[l - 1]);
		if (err)
			return err;
	}
}

bool metapath_is_at(const struct metapath_step *s, uint64_t key)
{
	return s->index >= 0 &&
	       bmapnode_key(&s->node, (uint32_t)s->index) == key;
}

int metapath_new_ptr(struct metatree *t, struct context *cx, uint64_t *ptr)
{
	if (t->kind != METAFILE_DAT)
		return t->env->alloc(t->env->arg, cx, ptr);
	*ptr = METATREE_PROVISIONAL | ++t->serial;
	return 0;
}

int metapath_replace_ptr(struct metatree *t, struct context *cx, uint64_t *ptr)
{
	uint64_t old = *ptr;
	int err;

	err = metapath_new_ptr(t, cx, ptr);
	if (err)
		return err;
	if (t->kind == METAFILE_DAT)
		return t->env->superseded(t->env->arg, cx, old);
	return t->env->end(t->env->arg, cx, old, t->kind);
}

int metapath_renew(struct metatree *t, struct context *cx, struct metapath *p,
		   unsigned int level, uint64_t *ptr)
{
	struct metapath_step *s = &p->step[level];
	int err;

	*ptr = bmapnode_ptr(&s->node, (uint32_t)s->index);
	err = metapath_dirty(t, cx, p, level);
	if (!err)
		err = metapath_replace_ptr(t, cx, ptr);
	if (err)
		return err;
	s->node.ptrs[s->index] = le64_make(*ptr);
	return 0;
}

int metapath_dirty(struct metatree *t, struct context *cx, struct metapath *p,
		   unsigned int level)
{
	struct metablock *b = p->step[level].block;
	uint64_t ptr;
	int err;

	if (!b || b->dirty)
		return 0;
	err = metapath_renew(t, cx, p, level + 1, &ptr);
	if (err)
		return err;
	metablocks_set_ptr(&t->blocks, b, ptr);
	metablocks_set_dirty(&t->blocks, b);
	return 0;
}

int metapath_promote(struct metatree *t, struct context *cx,
		     struct metapath *p, unsigned int level)
{
	le64 key = p->step[level].node.keys[0];
	struct metapath_step *s;
	int err;

	do {
		if (level == p->top)
			return 0;
		err = metapath_dirty(t, cx, p, ++level);
		if (err)
			return err;
		s = &p->step[level];
		s->node.keys[s->index] = key;
	} while (!s->index);
	return 0;
}
