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
#include "log/meta/metatree.h"

#include <errno.h>
#include <stdlib.h>

int metapath_check(const struct metafile *m, struct context *cx,
		   enum rule rule, const struct bmap_node *node)
{
	uint32_t i;

	if (rule == RULE_OK && node->keys)
		rule = bmap_node_check_entries(node);
	if (rule != RULE_OK)
		return fail(cx, -EUCLEAN, "inode %llu: block map: %s",
			    (unsigned long long)m->ino,
			    rule_info(rule)->text);
	for (i = 0; i < node->nchildren; i++)
		if (bmap_node_ptr(node, i) & METATREE_PROVISIONAL)
			return fail(cx, -EUCLEAN,
				    "inode %llu: block map points to %llu",
				    (unsigned long long)m->ino,
				    (unsigned long long)bmap_node_ptr(node, i));
	return 0;
}

/* The node that PTR leads to, from memory or the device. */
static int get_map_node(struct metafile *m, struct context *cx, uint64_t ptr,
			struct metablock **bp)
{
	struct metablock *b = metablocks_find(&m->blocks, true, ptr);
	struct bmap_node node;
	int err;

	*bp = b;
	if (b) {
		metablocks_use(&m->blocks, b, b->dirty);
		return 0;
	}
	if (metatree_is_provisional(m, ptr))
		return fail(cx, -EIO, "inode %llu: a node was never placed",
			    (unsigned long long)m->ino);
	*bp = b = metablocks_add(&m->blocks, cx, true, ptr, ptr);
	if (!b)
		return -ENOMEM;
	err = m->env->read(m->env->arg, cx, m->kind, ptr, b->data);
	if (!err) {
		bmap_node_read(m->block_size, b->data, &node);
		err = metapath_check(m, cx,
				     bmap_node_check(m->block_size, b->data),
				     &node);
	}
	if (err)
		free(metablocks_take(&m->blocks, b));
	return err;
}

int metapath_descend(struct metafile *m, struct context *cx, uint64_t key,
		     unsigned int level, struct metapath *p)
{
	struct bmapnode root = bmapnode_root(m->root);
	unsigned int l = root.head->bn_level;
	int err;

	p->top = l;
	if (l < level)
		return fail(cx, -EIO, "inode %llu: no node of level %u",
			    (unsigned long long)m->ino, level);
	p->step[l].block = NULL;
	p->step[l].node = root;
	for (;; l--) {
		struct metapath_step *s = &p->step[l], *below = s - 1;
		uint32_t n = bmapnode_count(&s->node);
		const struct bmap_node view = {
			.nchildren = (uint16_t)n, .keys = s->node.keys,
		};

		/* Files grow at their end. */
		if (n && le64_get(s->node.keys[n - 1]) <= key)
			s->index = (int)n - 1;
		else
			s->index = bmap_node_search(&view, key);
		if (l == level)
			return 0;
		/* A key lower than all others belongs to the leftmost child. */
		if (s->index < 0)
			s->index = 0;
		err = get_map_node(m, cx,
			       le64_get(s->node.ptrs[s->index]),
			       &below->block);
		if (err)
			return err;
		below->node = bmapnode_block(m->block_size, below->block->data);
		if (below->node.head->bn_level != l - 1)
			return metapath_check(m, cx, RULE_BMAP_NODE_LEVEL,
					      NULL);
	}
}

int metapath_new_ptr(struct metafile *m, struct context *cx, uint64_t *ptr,
		     bool replaces)
{
	uint64_t old = replaces ? *ptr : 0;
	int err = 0;

	if (m->kind == METAFILE_DAT)
		*ptr = METATREE_PROVISIONAL | ++m->serial;
	else
		err = m->env->alloc(m->env->arg, cx, ptr);
	return err || !replaces ? err : metapath_end_ptr(m, cx, old);
}

int metapath_end_ptr(struct metafile *m, struct context *cx, uint64_t ptr)
{
	if (m->kind == METAFILE_DAT)
		return m->env->superseded(m->env->arg, cx, ptr);
	return m->env->end(m->env->arg, cx, ptr, m->kind);
}

int metapath_renew(struct metafile *m, struct context *cx, struct metapath *p,
		   unsigned int level, uint64_t *ptr)
{
	struct metapath_step *s = &p->step[level];
	int err;

	*ptr = le64_get(s->node.ptrs[s->index]);
	err = metapath_dirty(m, cx, p, level);
	if (!err)
		err = metapath_new_ptr(m, cx, ptr, true);
	if (err)
		return err;
	s->node.ptrs[s->index] = le64_make(*ptr);
	return 0;
}

int metapath_dirty(struct metafile *m, struct context *cx, struct metapath *p,
		   unsigned int level)
{
	struct metablock *b = p->step[level].block;
	uint64_t ptr;
	int err;

	if (!b || b->dirty)
		return 0;
	err = metapath_renew(m, cx, p, level + 1, &ptr);
	if (err)
		return err;
	metablocks_set_ptr(&m->blocks, b, ptr);
	metablocks_use(&m->blocks, b, true);
	return 0;
}

int metapath_promote(struct metafile *m, struct context *cx,
		     struct metapath *p, unsigned int level)
{
	le64 key = p->step[level].node.keys[0];
	struct metapath_step *s;
	int err;

	do {
		if (level == p->top)
			return 0;
		err = metapath_dirty(m, cx, p, ++level);
		if (err)
			return err;
		s = &p->step[level];
		s->node.keys[s->index] = key;
	} while (!s->index);
	return 0;
}
