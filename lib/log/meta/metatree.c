// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Changing a block map.
 *
 * Keys are only added here; metacut.c deletes them.  A full node is split in
 * halves, as the kernel does, except at the end of the file: an appended block
 * opens a new node, so that a file filled from front to back has full leaves
 * and hardly more levels than it needs.  The kernel balances siblings for the
 * same purpose; readers do not care.  A new node above leaves then takes a
 * child of its sibling, since the kernel takes a node with a single child for
 * the root (nilfs_btree_prepare_delete()).
 */
#include "log/meta/metatree.h"

#include <errno.h>
#include <string.h>

#include "disk/bmap.h"
#include "log/meta/bmapnode.h"
#include "log/meta/metapath.h"

static int check_root(const struct metatree *t, struct context *cx)
{
	struct bmap_node root;
	enum rule rule;

	if (!bmap_is_btree(t->root))
		return metapath_check_ptrs(t, cx, t->root + 1,
					   NILFS_DIRECT_NBLOCKS);
	rule = bmap_root_check(t->root);
	bmap_root_read(t->root, &root);
	if (rule == RULE_OK)
		rule = bmap_node_check_entries(&root);
	if (rule != RULE_OK)
		return metapath_broken(t, cx, rule);
	return metapath_check_ptrs(t, cx, root.ptrs, root.nchildren);
}

int metatree_init(struct metatree *t, struct context *cx,
		  const struct metafile_env *env, uint32_t block_size,
		  uint64_t ino, enum metafile_kind kind,
		  const struct nilfs_inode *inode)
{
	memset(t, 0, sizeof(*t));
	metablocks_init(&t->blocks, block_size);
	t->env = env;
	t->block_size = block_size;
	t->ino = ino;
	t->kind = kind;
	if (!inode)
		return 0;
	memcpy(t->root, inode->i_bmap, sizeof(t->root));
	t->nblocks = le64_get(inode->i_blocks) / (block_size / 512);
	t->opened = t->nblocks;
	t->odd = le64_get(inode->i_blocks) % (block_size / 512);
	return check_root(t, cx);
}

void metatree_fini(struct metatree *t)
{
	metablocks_fini(&t->blocks);
}

int metatree_lookup(struct metatree *t, struct context *cx, uint64_t key,
		    uint64_t *ptr)
{
	struct metapath p;
	struct metapath_step *leaf = &p.step[NILFS_BTREE_LEVEL_NODE_MIN];
	int err;

	if (!bmap_is_btree(t->root)) {
		*ptr = bmap_direct_ptr(t->root, key);
		return *ptr != NILFS_BMAP_INVALID_PTR;
	}
	err = metapath_descend(t, cx, key, NILFS_BTREE_LEVEL_NODE_MIN, &p);
	if (err)
		return err;
	if (!metapath_is_at(leaf, key))
		return 0;
	*ptr = bmapnode_ptr(&leaf->node, (uint32_t)leaf->index);
	return 1;
}

static int renew_direct(struct metatree *t, struct context *cx, uint64_t key,
			uint64_t *ptr)
{
	int err;

	*ptr = bmap_direct_ptr(t->root, key);
	err = metapath_replace_ptr(t, cx, ptr);
	if (err)
		return err;
	t->root[1 + key] = le64_make(*ptr);
	return 0;
}

int metatree_renew(struct metatree *t, struct context *cx, uint64_t key,
		   uint64_t *ptr)
{
	struct metapath p;
	int err;

	if (!bmap_is_btree(t->root))
		return renew_direct(t, cx, key, ptr);
	err = metapath_descend(t, cx, key, NILFS_BTREE_LEVEL_NODE_MIN, &p);
	if (err)
		return err;
	return metapath_renew(t, cx, &p, NILFS_BTREE_LEVEL_NODE_MIN, ptr);
}

int metatree_touch(struct metatree *t, struct context *cx, unsigned int level,
		   uint64_t key)
{
	struct metapath p;
	int err = metapath_descend(t, cx, key, level, &p);

	return err ? err : metapath_dirty(t, cx, &p, level);
}

bool metatree_has_nodes(struct metatree *t, unsigned int level)
{
	struct bmapnode root = bmapnode_root(t->root);

	return bmap_is_btree(t->root) && level < bmapnode_level(&root);
}

/* A node of LEVEL that is new to the file, dirty and empty. */
static int new_node(struct metatree *t, struct context *cx,
		    unsigned int level, struct metapath_step *s)
{
	uint64_t ptr = NILFS_BMAP_INVALID_PTR;
	int err;

	err = metapath_new_ptr(t, cx, &ptr);
	if (err)
		return err;
	s->block = metablocks_add_node(&t->blocks, cx, ptr);
	if (!s->block)
		return -ENOMEM;
	metablocks_set_dirty(&t->blocks, s->block);
	memset(s->block->data, 0, t->block_size);
	s->node = bmapnode_block(t->block_size, s->block->data);
	bmapnode_init_block(&s->node, level);
	t->nblocks++;
	return 0;
}

/* The root is full: its entries move to a node below it. */
static int grow_tree(struct metatree *t, struct context *cx, struct metapath *p)
{
	struct metapath_step *root = &p->step[p->top], child = *root;
	unsigned int level = p->top;
	int err;

	if (level + 1 >= NILFS_BTREE_LEVEL_MAX)
		return fail(cx, -EFBIG, "inode %llu: block map is too high",
			    (unsigned long long)t->ino);
	err = new_node(t, cx, level, &child);
	if (err)
		return err;
	bmapnode_move(&root->node, 0, &child.node);
	bmapnode_init_root(&root->node, level + 1);
	bmapnode_insert(&root->node, 0, bmapnode_key(&child.node, 0),
			child.block->ptr);
	p->top = level + 1;
	p->step[p->top] = *root;
	p->step[p->top].index = 0;
	p->step[level] = child;
	return 0;
}

/* Whether nothing of the file is right of the node at LEVEL. */
static bool is_rightmost(const struct metapath *p, unsigned int level)
{
	while (++level <= p->top)
		if ((uint32_t)p->step[level].index + 1 <
		    bmapnode_count(&p->step[level].node))
			return false;
	return true;
}

/* An entry on its way into a node, before the child at index AT. */
struct entry {
	uint64_t key;
	uint64_t ptr;
	uint32_t at;
};

static int insert_in(struct metatree *t, struct context *cx,
		     struct metapath *p, unsigned int level,
		     const struct entry *e)
{
	int err;

	err = metapath_dirty(t, cx, p, level);
	if (err)
		return err;
	bmapnode_insert(&p->step[level].node, e->at, e->key, e->ptr);
	return e->at ? 0 : metapath_promote(t, cx, p, level);
}

/*
 * Splits the full node at LEVEL and adds E to it or to the new one at its
 * right.  E becomes the entry of the new one in the parent.
 */
static int split(struct metatree *t, struct context *cx, struct metapath *p,
		 unsigned int level, struct entry *e)
{
	struct metapath_step *left = &p->step[level], right;
	uint32_t n = bmapnode_count(&left->node);
	bool append = e->at == n && is_rightmost(p, level);
	bool leaf = level == NILFS_BTREE_LEVEL_NODE_MIN;
	uint32_t kept = append ? n - !leaf : (n + 1) / 2;
	int err = 0;

	if (kept < n)
		err = metapath_dirty(t, cx, p, level);
	if (!err)
		err = new_node(t, cx, level, &right);
	if (err)
		return err;
	bmapnode_move(&left->node, kept, &right.node);
	if (append || e->at > kept)
		bmapnode_insert(&right.node, e->at - kept, e->key, e->ptr);
	else
		err = insert_in(t, cx, p, level, e);
	e->key = bmapnode_key(&right.node, 0);
	e->ptr = right.block->ptr;
	e->at = (uint32_t)p->step[level + 1].index + 1;
	return err;
}

static int insert_at(struct metatree *t, struct context *cx,
		     struct metapath *p, struct entry *e)
{
	unsigned int level = NILFS_BTREE_LEVEL_NODE_MIN;
	int err;

	for (;; level++) {
		const struct bmapnode *node = &p->step[level].node;

		if (bmapnode_count(node) == node->max && level == p->top) {
			err = grow_tree(t, cx, p);
			if (err)
				return err;
		}
		if (bmapnode_count(node) < node->max)
			return insert_in(t, cx, p, level, e);
		err = split(t, cx, p, level, e);
		if (err)
			return err;
	}
}

/*
 * Converts a direct map to a B-tree.  Its entries go into the root if there are
 * at most three, otherwise into a node.
 */
static int convert(struct metatree *t, struct context *cx)
{
	struct bmapnode root = bmapnode_root(t->root);
	struct metapath_step leaf = { .node = root };
	le64 direct[NILFS_INODE_BMAP_SIZE];
	uint32_t n = 0;
	uint64_t key;
	int err;

	memcpy(direct, t->root, sizeof(direct));
	for (key = 0; key < NILFS_DIRECT_NBLOCKS; key++)
		n += bmap_direct_ptr(direct, key) != NILFS_BMAP_INVALID_PTR;
	if (n > root.max) {
		err = new_node(t, cx, NILFS_BTREE_LEVEL_NODE_MIN, &leaf);
		if (err)
			return err;
	}
	bmapnode_init_root(&root, NILFS_BTREE_LEVEL_NODE_MIN);
	for (key = 0, n = 0; key < NILFS_DIRECT_NBLOCKS; key++)
		if (bmap_direct_ptr(direct, key) != NILFS_BMAP_INVALID_PTR)
			bmapnode_insert(&leaf.node, n++, key,
					bmap_direct_ptr(direct, key));
	if (leaf.block) {
		bmapnode_init_root(&root, NILFS_BTREE_LEVEL_NODE_MIN + 1);
		bmapnode_insert(&root, 0, bmapnode_key(&leaf.node, 0),
				leaf.block->ptr);
	}
	return 0;
}

int metatree_insert(struct metatree *t, struct context *cx, uint64_t key,
		    uint64_t *ptr)
{
	int err = metapath_new_ptr(t, cx, ptr);

	return err ? err : metatree_adopt(t, cx, key, *ptr);
}

int metatree_adopt(struct metatree *t, struct context *cx, uint64_t key,
		   uint64_t ptr)
{
	struct metapath p;
	struct entry e = { .key = key, .ptr = ptr };
	int err = 0;

	if (!bmap_is_btree(t->root) && key >= NILFS_DIRECT_NBLOCKS)
		err = convert(t, cx);
	if (err)
		return err;
	t->nblocks++;
	if (!bmap_is_btree(t->root)) {
		t->root[1 + key] = le64_make(ptr);
		return 0;
	}
	err = metapath_descend(t, cx, key, NILFS_BTREE_LEVEL_NODE_MIN, &p);
	if (err)
		return err;
	e.at = (uint32_t)(p.step[NILFS_BTREE_LEVEL_NODE_MIN].index + 1);
	return insert_at(t, cx, &p, &e);
}

/* The word of the map that points to B. */
static int parent_word(struct metatree *t, struct context *cx,
		       const struct metablock *b, unsigned int level,
		       uint64_t key, le64 **word)
{
	struct metapath p;
	const struct metapath_step *s;
	int err;

	if (!bmap_is_btree(t->root) && key < NILFS_DIRECT_NBLOCKS) {
		*word = &t->root[1 + key];
		return 0;
	}
	err = metapath_descend(t, cx, key, level + 1, &p);
	if (err)
		return err;
	s = &p.step[level + 1];
	if (s->index < 0 || (s->block && !s->block->dirty) ||
	    le64_get(s->node.ptrs[s->index]) != b->ptr)
		return fail(cx, -EUCLEAN, "inode %llu: block %llu of level %u "
			    "is not in its map",
			    (unsigned long long)t->ino,
			    (unsigned long long)key, level);
	*word = &s->node.ptrs[s->index];
	return 0;
}

int metatree_place(struct metatree *t, struct context *cx, struct metablock *b,
		   unsigned int level, uint64_t key, uint64_t blocknr)
{
	le64 *word;
	int err;

	err = parent_word(t, cx, b, level, key, &word);
	if (err)
		return err;
	*word = le64_make(blocknr);
	metablocks_set_ptr(&t->blocks, b, blocknr);
	return 0;
}
