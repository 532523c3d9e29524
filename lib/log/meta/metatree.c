// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Changing a block map.
 *
 * Keys are only added here; metafile.c deletes them.  A full node is split in
 * halves, as the kernel does, except at the end of the file: an appended block
 * opens a new node, so that a file written in order has full leaves and hardly
 * more levels than it needs.  The kernel balances siblings for the same
 * purpose; readers accept both.  A new node above the leaves takes a child from
 * its sibling, since the kernel takes a node with a single child for the root
 * (nilfs_btree_prepare_delete()).
 */
#include "log/meta/metatree.h"

#include <errno.h>
#include <string.h>

int metatree_lookup(struct metafile *m, struct context *cx, uint64_t key,
		    struct metapath *p, uint64_t *ptr)
{
	const struct metapath_step *leaf = &p->step[NILFS_BTREE_LEVEL_NODE_MIN];
	int err;

	if (!bmap_is_btree(m->root)) {
		*ptr = bmap_direct_ptr(m->root, key);
		return *ptr != NILFS_BMAP_INVALID_PTR;
	}
	err = metapath_descend(m, cx, key, NILFS_BTREE_LEVEL_NODE_MIN, p);
	if (err || leaf->index < 0 ||
	    le64_get(leaf->node.keys[leaf->index]) != key)
		return err;
	*ptr = le64_get(leaf->node.ptrs[leaf->index]);
	return 1;
}

/* A new, dirty and empty node of LEVEL. */
static int new_node(struct metafile *m, struct context *cx,
		    unsigned int level, struct metapath_step *s)
{
	uint64_t ptr = NILFS_BMAP_INVALID_PTR;
	int err;

	err = metapath_new_ptr(m, cx, &ptr, false);
	if (err)
		return err;
	s->block = metablocks_add(&m->blocks, cx, true, ptr, ptr);
	if (!s->block)
		return -ENOMEM;
	metablocks_use(&m->blocks, s->block, true);
	memset(s->block->data, 0, m->block_size);
	s->node = bmapnode_block(m->block_size, s->block->data);
	bmapnode_init(&s->node, level);
	m->nblocks++;
	return 0;
}

/* An entry to be inserted into a node, before the child at index AT. */
struct entry {
	uint64_t key;
	uint64_t ptr;
	uint32_t at;
};

static int insert_in(struct metafile *m, struct context *cx,
		     struct metapath *p, unsigned int level,
		     const struct entry *e)
{
	int err;

	err = metapath_dirty(m, cx, p, level);
	if (err)
		return err;
	bmapnode_insert(&p->step[level].node, e->at, e->key, e->ptr);
	return e->at ? 0 : metapath_promote(m, cx, p, level);
}

/*
 * Splits the full node at LEVEL and adds E to it or to the new one at its
 * right.  E becomes the entry of the new one in the parent.
 */
static int split_node(struct metafile *m, struct context *cx, struct metapath *p,
		      unsigned int level, struct entry *e)
{
	struct metapath_step *left = &p->step[level], right;
	uint32_t n = bmapnode_count(&left->node);
	bool leaf = level == NILFS_BTREE_LEVEL_NODE_MIN;
	bool append = e->at == n;
	unsigned int above;
	uint32_t kept;
	int err = 0;

	/* Only the last node of its level counts as appended to. */
	for (above = level + 1; append && above <= p->top; above++)
		append = (uint32_t)p->step[above].index + 1 >=
			 bmapnode_count(&p->step[above].node);
	kept = append ? n - !leaf : (n + 1) / 2;
	if (kept < n)
		err = metapath_dirty(m, cx, p, level);
	if (!err)
		err = new_node(m, cx, level, &right);
	if (err)
		return err;
	bmapnode_share(&left->node, &right.node, kept);
	if (append || e->at > kept)
		bmapnode_insert(&right.node, e->at - kept, e->key, e->ptr);
	else
		err = insert_in(m, cx, p, level, e);
	e->key = le64_get(right.node.keys[0]);
	e->ptr = right.block->ptr;
	e->at = (uint32_t)p->step[level + 1].index + 1;
	return err;
}

int metatree_insert(struct metafile *m, struct context *cx, uint64_t key,
		    uint64_t ptr)
{
	struct bmapnode root = bmapnode_root(m->root);
	struct metapath_step leaf = { .node = root }, top, child;
	unsigned int level = NILFS_BTREE_LEVEL_NODE_MIN;
	struct entry e = { .key = key, .ptr = ptr };
	le64 direct[NILFS_INODE_BMAP_SIZE];
	const struct bmapnode *node;
	struct metapath p;
	uint64_t old, i;
	uint32_t n = 0;
	int err = 0;

	if (!bmap_is_btree(m->root) && key < NILFS_DIRECT_NBLOCKS) {
		m->nblocks++;
		m->root[1 + key] = le64_make(ptr);
		return 0;
	}
	/*
	 * A direct map becomes a B-tree: its entries go into the root if there
	 * are at most three, otherwise into a node.
	 */
	if (!bmap_is_btree(m->root)) {
		memcpy(direct, m->root, sizeof(direct));
		for (i = 0; i < NILFS_DIRECT_NBLOCKS; i++)
			n += bmap_direct_ptr(direct, i) != NILFS_BMAP_INVALID_PTR;
		if (n > root.max)
			err = new_node(m, cx, level, &leaf);
		if (err)
			return err;
		bmapnode_init(&root, level);
		for (i = 0, n = 0; i < NILFS_DIRECT_NBLOCKS; i++) {
			old = bmap_direct_ptr(direct, i);
			if (old != NILFS_BMAP_INVALID_PTR)
				bmapnode_insert(&leaf.node, n++, i, old);
		}
		if (leaf.block) {
			bmapnode_init(&root, level + 1);
			bmapnode_insert(&root, 0, le64_get(leaf.node.keys[0]),
					leaf.block->ptr);
		}
	}
	m->nblocks++;
	err = metapath_descend(m, cx, key, level, &p);
	if (err)
		return err;
	e.at = (uint32_t)(p.step[level].index + 1);
	for (; !err; level++) {
		node = &p.step[level].node;
		if (bmapnode_count(node) == node->max && level == p.top) {
			/* The root is full: its entries move to a node below it. */
			if (level + 1 >= NILFS_BTREE_LEVEL_MAX)
				return fail(cx, -EFBIG, "inode %llu: block map is "
					    "too high", (unsigned long long)m->ino);
			top = child = p.step[level];
			err = new_node(m, cx, level, &child);
			if (err)
				return err;
			bmapnode_share(&top.node, &child.node, 0);
			bmapnode_init(&top.node, level + 1);
			bmapnode_insert(&top.node, 0,
					le64_get(child.node.keys[0]),
					child.block->ptr);
			top.index = 0;
			p.top = level + 1;
			p.step[p.top] = top;
			p.step[level] = child;
		}
		if (bmapnode_count(node) < node->max)
			return insert_in(m, cx, &p, level, &e);
		err = split_node(m, cx, &p, level, &e);
	}
	return err;
}
