// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Metadata files that are being changed.
 *
 * Dirty blocks are in memory; others are read on demand, and a few clean ones
 * are cached.  Least recently changed data blocks are written first, and their
 * memory is freed at once.  Nodes are only collected together with all other
 * blocks, so that a node with changed pointers is written once per checkpoint.
 *
 * Consecutive changes mostly concern the block that was changed last, which is
 * therefore tried before the table.
 *
 * To truncate the map, its last entry is deleted repeatedly.  A node that loses
 * its last child is deleted without being made dirty first, which would only
 * allocate a number to end it.  Nodes with few children are left as they are: the
 * kernel balances them when it deletes the next entry.  When single blocks are
 * deleted nodes are balanced here, as otherwise a file of holes would keep all its
 * nodes.  At the end, as long as the root has one child whose entries fit into it,
 * it takes them over.
 */
#include "log/meta/metafile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "log/meta/metatree.h"

int metafile_open(struct metafile **mp, struct context *cx,
		  const struct metafile_env *env, uint32_t block_size,
		  uint64_t ino, enum metafile_kind kind,
		  const struct nilfs_inode *inode)
{
	struct metafile *m = calloc(1, sizeof(*m));
	enum rule rule = RULE_OK;
	struct bmap_node root;
	int err;

	*mp = NULL;
	if (!m)
		return fail(cx, -ENOMEM, "inode %llu", (unsigned long long)ino);
	m->blocks.block_size = block_size;
	m->env = env;
	m->block_size = block_size;
	m->ino = ino;
	m->kind = kind;
	*mp = m;
	if (!inode)
		return 0;
	memcpy(m->root, inode->i_bmap, sizeof(m->root));
	m->nblocks = le64_get(inode->i_blocks) / (block_size / 512);
	m->opened = m->nblocks;
	m->odd = le64_get(inode->i_blocks) % (block_size / 512);
	if (bmap_is_btree(m->root)) {
		rule = bmap_root_check(m->root);
		bmap_root_read(m->root, &root);
	} else {
		root = (struct bmap_node){
			.nchildren = NILFS_DIRECT_NBLOCKS, .ptrs = m->root + 1,
		};
	}
	err = metapath_check(m, cx, rule, &root);
	if (err) {
		metafile_close(m);
		*mp = NULL;
	}
	return err;
}

void metafile_close(struct metafile *m)
{
	if (!m)
		return;
	metablocks_fini(&m->blocks);
	free(m);
}

/*
 * Gets the block at BLKOFF, dirty or not, with its content if READ: 1, 0 for a
 * hole.
 */
static int get_data(struct metafile *m, struct context *cx, uint64_t blkoff,
		    bool read, struct metablock **bp)
{
	struct metablock *b = metablocks_find(&m->blocks, false, blkoff);
	struct metapath p;
	uint64_t ptr;
	int ret;

	*bp = b;
	if (b)
		return 1;
	ret = metatree_lookup(m, cx, blkoff, &p, &ptr);
	if (ret <= 0)
		return ret;
	if (read && metatree_is_provisional(m, ptr))
		return fail(cx, -EIO, "inode %llu: block %llu was never placed",
			    (unsigned long long)m->ino,
			    (unsigned long long)blkoff);
	*bp = b = metablocks_add(&m->blocks, cx, false, blkoff, ptr);
	if (!b)
		return -ENOMEM;
	if (!read)
		return 1;
	ret = m->env->read(m->env->arg, cx, m->kind, ptr, b->data);
	if (ret)
		free(metablocks_take(&m->blocks, b));
	return ret ? ret : 1;
}

/*
 * Gets the block at BLKOFF as get_data(), dirty: 1, 0 for a new one of zeros.
 */
static int dirty_data(struct metafile *m, struct context *cx, uint64_t blkoff,
		      bool read, struct metablock **bp)
{
	int found = get_data(m, cx, blkoff, read, bp), err;
	unsigned int level = NILFS_BTREE_LEVEL_NODE_MIN;
	struct metablock *b = *bp;
	struct metapath p;
	uint64_t ptr;

	if (found < 0)
		return found;
	if (found) {
		/* The descent may read nodes and must not drop this block. */
		metablocks_use(&m->blocks, b, b->dirty);
		if (b->dirty)
			return 1;
		/* Follows nilfs_bmap_propagate(). */
		if (bmap_is_btree(m->root)) {
			err = metapath_descend(m, cx, blkoff, level, &p);
			if (!err)
				err = metapath_renew(m, cx, &p, level, &ptr);
		} else {
			ptr = bmap_direct_ptr(m->root, blkoff);
			err = metapath_new_ptr(m, cx, &ptr, true);
			if (!err)
				m->root[1 + blkoff] = le64_make(ptr);
		}
		if (err)
			return err;
		metablocks_set_ptr(&m->blocks, b, ptr);
	} else {
		err = metapath_new_ptr(m, cx, &ptr, false);
		if (!err)
			err = metatree_insert(m, cx, blkoff, ptr);
		if (err)
			return err;
		*bp = b = metablocks_add(&m->blocks, cx, false, blkoff, ptr);
		if (!b)
			return -ENOMEM;
		memset(b->data, 0, m->block_size);
	}
	metablocks_use(&m->blocks, b, true);
	return found;
}

int metafile_change(struct metafile *m, struct context *cx, uint64_t blkoff,
		    void **data, bool *fresh)
{
	int found = 1;

	if (!m->last || m->last->id != blkoff) {
		struct metablock *b;

		found = dirty_data(m, cx, blkoff, true, &b);
		if (found < 0)
			return found;
		m->last = b;
	}
	if (fresh)
		*fresh = !found;
	*data = m->last->data;
	return 0;
}

int metafile_replace(struct metafile *m, struct context *cx, uint64_t blkoff,
		     void **data)
{
	struct metablock *b;
	int ret = dirty_data(m, cx, blkoff, false, &b);

	if (ret < 0)
		return ret;
	memset(b->data, 0, m->block_size);
	m->last = b;
	*data = b->data;
	return 0;
}

int metafile_touch(struct metafile *m, struct context *cx, unsigned int level,
		   uint64_t key)
{
	struct metablock *b;
	struct metapath p;
	int ret;

	if (level) {
		ret = metapath_descend(m, cx, key, level, &p);
		return ret ? ret : metapath_dirty(m, cx, &p, level);
	}
	ret = get_data(m, cx, key, true, &b);
	if (!ret)
		return fail(cx, -EUCLEAN, "inode %llu: block %llu is a hole",
			    (unsigned long long)m->ino,
			    (unsigned long long)key);
	if (ret > 0)
		ret = dirty_data(m, cx, key, true, &b);
	return ret < 0 ? ret : 0;
}

int metafile_adopt(struct metafile *m, struct context *cx, uint64_t blkoff,
		   uint64_t ptr)
{
	struct metapath p;
	uint64_t old;
	int ret = metatree_lookup(m, cx, blkoff, &p, &old);

	if (ret > 0 || !ptr)
		return fail(cx, -EINVAL, "inode %llu: block %llu cannot be "
			    "adopted", (unsigned long long)m->ino,
			    (unsigned long long)blkoff);
	m->kept = true;
	return ret ? ret : metatree_insert(m, cx, blkoff, ptr);
}

/* A node with pointer PTR, or data block KEY with it, leaves the file. */
static int lose_block(struct metafile *m, struct context *cx, bool node, uint64_t key,
		      uint64_t ptr)
{
	struct metablock *b = metablocks_find(&m->blocks, node, node ? ptr : key);

	if (b)
		free(metablocks_take(&m->blocks, b));
	m->nblocks--;
	return metatree_is_provisional(m, ptr) ? 0 : metapath_end_ptr(m, cx, ptr);
}

/* Deletes KEY from a direct map: 1 where it was there. */
static int cut_pointer(struct metafile *m, struct context *cx, uint64_t key)
{
	uint64_t ptr = bmap_direct_ptr(m->root, key);
	int err;

	if (ptr == NILFS_BMAP_INVALID_PTR)
		return 0;
	m->root[1 + key] = le64_make(NILFS_BMAP_INVALID_PTR);
	err = lose_block(m, cx, false, key, ptr);
	return err ? err : 1;
}

/* The root becomes as low as it can be, once an entry is gone. */
static int lower_root(struct metafile *m, struct context *cx)
{
	struct bmapnode root = bmapnode_root(m->root);
	struct metapath_step *child;
	struct metapath p;
	unsigned int level;
	int err;

	while ((level = root.head->bn_level) > NILFS_BTREE_LEVEL_NODE_MIN &&
	       bmapnode_count(&root) == 1) {
		err = metapath_descend(m, cx, UINT64_MAX, level - 1, &p);
		if (err)
			return err;
		child = &p.step[level - 1];
		if (bmapnode_count(&child->node) > root.max)
			break;
		bmapnode_init(&root, level - 1);
		bmapnode_share(&child->node, &root, 0);
		err = lose_block(m, cx, true, 0, child->block->ptr);
		if (err)
			return err;
	}
	/* Nothing can be put below a root that has no nodes. */
	if (!bmapnode_count(&root))
		memset(m->root, 0, sizeof(m->root));
	return 0;
}

int metafile_truncate(struct metafile *m, struct context *cx, uint64_t key)
{
	struct bmapnode root = bmapnode_root(m->root), *node;
	struct metapath_step *s;
	struct metapath p;
	uint64_t last;
	int ret = 0;

	m->last = NULL;
	m->kept = true;
	if (!bmap_is_btree(m->root)) {
		for (; key < NILFS_DIRECT_NBLOCKS && ret >= 0; key++)
			ret = cut_pointer(m, cx, key);
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
			return metapath_check(m, cx, RULE_BMAP_NODE_NCHILDREN,
					      NULL);
		last = le64_get(node->keys[s->index]);
		if (last < key)
			break;
		ret = lose_block(m, cx, false, last,
				      le64_get(node->ptrs[s->index]));
		for (; !ret && level < p.top && bmapnode_count(node) == 1;
		     node = &s->node) {
			ret = lose_block(m, cx, true, 0, s->block->ptr);
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

/* Deletes the entry that P takes at LEVEL. */
static int remove_entry(struct metafile *m, struct context *cx,
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
static int lose_node(struct metafile *m, struct context *cx,
		     struct metapath *p, unsigned int level)
{
	int err = lose_block(m, cx, true, 0, p->step[level].block->ptr);

	if (!err)
		err = remove_entry(m, cx, p, level + 1);
	return err ? err : 1;
}

/*
 * The leaf of P has lost an entry: a node less than half full takes entries of a
 * sibling, or is merged with it, as by nilfs_bmap_delete().
 */
static int even_out(struct metafile *m, struct context *cx, struct metapath *p)
{
	unsigned int level = NILFS_BTREE_LEVEL_NODE_MIN;
	struct metapath left, right;
	int ret = 1;

	/* As long as the level above has lost an entry. */
	for (; ret > 0 && level < p->top; level++) {
		const struct bmapnode *node = &p->step[level].node;
		const struct bmapnode *up = &p->step[level + 1].node;
		struct bmapnode *l = &left.step[level].node;
		struct bmapnode *r = &right.step[level].node;
		uint32_t at = (uint32_t)p->step[level + 1].index, n;

		/* The kernel's NILFS_BTREE_NODE_NCHILDREN_MIN. */
		if (bmapnode_count(node) >= (node->max - 1) / 2 + 1)
			return 0;
		if (!at && bmapnode_count(up) <= 1) {
			ret = bmapnode_count(node) ? 0 :
				lose_node(m, cx, p, level);
			continue;
		}
		left = right = *p;
		ret = at ? metapath_descend(m, cx, le64_get(up->keys[at - 1]),
					    level, &left) :
			   metapath_descend(m, cx, le64_get(up->keys[1]), level,
					    &right);
		if (!ret)
			ret = metapath_dirty(m, cx, &left, level);
		n = ret ? 0 : bmapnode_count(l) + bmapnode_count(r);
		if (!ret && n > l->max)
			ret = metapath_dirty(m, cx, &right, level);
		if (ret)
			return ret;
		/* Evenly; all go to the left node if they fit. */
		bmapnode_share(l, r, n > l->max ? n / 2 : n);
		ret = metapath_promote(m, cx, &left, level);
		if (!ret)
			ret = n > l->max ?
				metapath_promote(m, cx, &right, level) :
				lose_node(m, cx, &right, level);
	}
	return ret < 0 ? ret : 0;
}

int metafile_delete(struct metafile *m, struct context *cx, uint64_t key)
{
	struct metapath p;
	uint64_t ptr;
	int ret;

	m->last = NULL;
	if (!bmap_is_btree(m->root)) {
		ret = cut_pointer(m, cx, key);
		m->kept |= ret > 0;
		return ret < 0 ? ret : 0;
	}
	ret = metatree_lookup(m, cx, key, &p, &ptr);
	if (ret <= 0)
		return ret;
	ret = lose_block(m, cx, false, key, ptr);
	if (!ret)
		ret = remove_entry(m, cx, &p, NILFS_BTREE_LEVEL_NODE_MIN);
	if (!ret)
		ret = even_out(m, cx, &p);
	if (!ret)
		ret = lower_root(m, cx);
	m->kept |= !ret;
	return ret;
}

int metafile_look(struct metafile *m, struct context *cx, uint64_t blkoff,
		  const void **data)
{
	struct metablock *b = m->last;
	int found;

	if (!b || b->id != blkoff) {
		found = get_data(m, cx, blkoff, true, &b);
		if (found <= 0)
			return found;
		if (!b->dirty)
			metablocks_use(&m->blocks, b, false);
	}
	*data = b->data;
	return 1;
}

int metafile_lookup(struct metafile *m, struct context *cx, uint64_t blkoff,
		    uint64_t *ptr)
{
	const struct metablock *b = metablocks_find(&m->blocks, false, blkoff);
	struct metapath p;
	int found = 1;

	if (b)
		*ptr = b->ptr;
	else
		found = metatree_lookup(m, cx, blkoff, &p, ptr);
	if (found == 1 && metatree_is_provisional(m, *ptr))
		return 0;
	return found;
}

size_t metafile_dirty(const struct metafile *m)
{
	return m->blocks.data.n + m->blocks.nodes.n;
}

static int compare_metafile_blocks(const void *a, const void *b)
{
	const struct metafile_block *x = a, *y = b;

	return sort_order(x->level, y->level) ?: sort_order(x->key, y->key);
}

int metafile_collect(struct metafile *m, struct context *cx, bool all,
		     size_t keep, struct metafile_block **blocks, size_t *n)
{
	const struct metablocks *t = &m->blocks;
	size_t data = t->data.n, i;
	struct metablock *b;

	if (!all)
		data -= keep < data ? keep : data;
	*blocks = NULL;
	*n = data + (all ? t->nodes.n : 0);
	if (!*n)
		return 0;
	*blocks = malloc(*n * sizeof(**blocks));
	if (!*blocks)
		return fail(cx, -ENOMEM, "list of %zu dirty blocks", *n);
	for (b = t->data.oldest, i = 0; i < *n; b = b->newer, i++) {
		struct metafile_block *block = &(*blocks)[i];
		struct bmapnode node;

		if (i == data)
			b = t->nodes.oldest;
		node = bmapnode_block(m->block_size, b->data);
		block->level = b->node ? node.head->bn_level : 0;
		block->key = b->node ? le64_get(node.keys[0]) : b->id;
		block->ptr = m->kind == METAFILE_DAT ? 0 : b->ptr;
		block->data = b->data;
		block->handle = b;
	}
	sort_in_place(*blocks, *n, sizeof(**blocks), compare_metafile_blocks);
	return 0;
}

int metafile_place(struct metafile *m, struct context *cx,
		   const struct metafile_block *block, uint64_t blocknr)
{
	unsigned int level = block->level + 1;
	struct metablock *b = block->handle;
	const struct metapath_step *s;
	struct metapath p;
	int err;

	if (m->kind != METAFILE_DAT)
		return 0;
	if (!bmap_is_btree(m->root) && block->key < NILFS_DIRECT_NBLOCKS) {
		m->root[1 + block->key] = le64_make(blocknr);
	} else {
		err = metapath_descend(m, cx, block->key, level, &p);
		if (err)
			return err;
		s = &p.step[level];
		if (s->index < 0 || (s->block && !s->block->dirty) ||
		    le64_get(s->node.ptrs[s->index]) != b->ptr)
			return fail(cx, -EUCLEAN, "inode %llu: block %llu of "
				    "level %u is not in its map",
				    (unsigned long long)m->ino,
				    (unsigned long long)block->key,
				    block->level);
		s->node.ptrs[s->index] = le64_make(blocknr);
	}
	metablocks_set_ptr(&m->blocks, b, blocknr);
	return 0;
}

/* Nodes stay in memory, since they lead to other blocks of the file. */
int metafile_take(struct metafile *m, struct context *cx,
		  const struct metafile_block *block, void **own,
		  const void **data)
{
	struct metablocks *t = &m->blocks;
	struct metablock *b = block->handle;

	m->last = NULL;
	*own = b;
	*data = b->data;
	if (!b->node) {
		metablocks_take(t, b);
		return 0;
	}
	*own = malloc(m->block_size);
	if (!*own)
		return fail(cx, -ENOMEM, "block of metadata");
	*data = memcpy(*own, b->data, m->block_size);
	metablocks_use(t, b, false);
	return 0;
}

struct metafile_facts metafile_facts(const struct metafile *m)
{
	const struct nilfs_btree_node *root = (const void *)m->root;
	struct metafile_facts facts = {
		.nblocks = m->nblocks,
		.levels = bmap_is_btree(m->root) ? root->bn_level : 0,
		.changed = m->kept || metafile_dirty(m),
	};
	struct bmap_node node;
	unsigned int i;

	if (facts.levels) {
		bmap_root_read(m->root, &node);
		facts.empty = !node.nchildren;
		return facts;
	}
	for (i = 0; i < NILFS_INODE_BMAP_SIZE && !le64_get(m->root[i]);)
		i++;
	facts.empty = i == NILFS_INODE_BMAP_SIZE;
	return facts;
}

void metafile_recount(struct metafile *m, uint64_t nblocks)
{
	m->nblocks += nblocks - m->opened;
	m->opened = nblocks;
	m->odd = 0;
}

void metafile_inode(const struct metafile *m, struct nilfs_inode *inode)
{
	memcpy(inode->i_bmap, m->root, sizeof(m->root));
	inode->i_blocks = le64_make(m->nblocks * (m->block_size / 512) +
				    m->odd);
}
