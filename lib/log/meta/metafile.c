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
	uint64_t ptr;
	int ret;

	*bp = b;
	if (b)
		return 1;
	ret = metatree_lookup(m, cx, blkoff, &ptr);
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
		metablocks_drop(&m->blocks, b);
	return ret ? ret : 1;
}

/*
 * Gets the block at BLKOFF as get_data(), dirty: 1, 0 for a new one of zeros.
 */
static int dirty_data(struct metafile *m, struct context *cx, uint64_t blkoff,
		      bool read, struct metablock **bp)
{
	int found = get_data(m, cx, blkoff, read, bp), err;
	struct metablock *b = *bp;
	uint64_t ptr;

	if (found < 0)
		return found;
	if (found) {
		/* The descent may read nodes and must not drop this block. */
		metablocks_use(&m->blocks, b, b->dirty);
		if (b->dirty)
			return 1;
		err = metatree_renew(m, cx, blkoff, &ptr);
		if (err)
			return err;
		metablocks_set_ptr(&m->blocks, b, ptr);
	} else {
		err = metapath_new_ptr(m, cx, &ptr);
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

	if (!m->last || m->last->blkoff != blkoff) {
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

bool metafile_has_nodes(const struct metafile *m, unsigned int level)
{
	const struct nilfs_btree_node *root = (const void *)m->root;

	return bmap_is_btree(m->root) && level < root->bn_level;
}

int metafile_adopt(struct metafile *m, struct context *cx, uint64_t blkoff,
		   uint64_t ptr)
{
	uint64_t old;
	int ret = metatree_lookup(m, cx, blkoff, &old);

	if (ret > 0 || !ptr)
		return fail(cx, -EINVAL, "inode %llu: block %llu cannot be "
			    "adopted", (unsigned long long)m->ino,
			    (unsigned long long)blkoff);
	m->kept = true;
	return ret ? ret : metatree_insert(m, cx, blkoff, ptr);
}

int metafile_truncate(struct metafile *m, struct context *cx, uint64_t blkoff)
{
	m->last = NULL;
	m->kept = true;
	return metacut_from(m, cx, blkoff);
}

int metafile_delete(struct metafile *m, struct context *cx, uint64_t blkoff)
{
	int ret = metacut_at(m, cx, blkoff);

	m->last = NULL;
	m->kept |= ret > 0;
	return ret < 0 ? ret : 0;
}

int metafile_look(struct metafile *m, struct context *cx, uint64_t blkoff,
		  const void **data)
{
	struct metablock *b = m->last;
	int found;

	if (!b || b->blkoff != blkoff) {
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
	int found = 1;

	if (b)
		*ptr = b->ptr;
	else
		found = metatree_lookup(m, cx, blkoff, ptr);
	if (found == 1 && metatree_is_provisional(m, *ptr))
		return 0;
	return found;
}

size_t metafile_dirty(const struct metafile *m)
{
	return m->blocks.data.n + m->blocks.nodes.n;
}

bool metafile_is_changed(const struct metafile *m)
{
	return m->kept || metafile_dirty(m);
}

static int compare_block(const void *a, const void *b)
{
	const struct metafile_block *x = a, *y = b;

	if (x->level != y->level)
		return x->level < y->level ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
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
		block->level = b->node ? bmapnode_level(&node) : 0;
		block->key = b->node ? bmapnode_key(&node, 0) : b->blkoff;
		block->ptr = m->kind == METAFILE_DAT ? 0 : b->ptr;
		block->data = b->data;
		block->handle = b;
	}
	sort_in_place(*blocks, *n, sizeof(**blocks), compare_block);
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

bool metafile_is_empty(const struct metafile *m)
{
	const le64 *root = m->root;
	struct bmap_node node;
	unsigned int i;

	if (bmap_is_btree(root)) {
		bmap_root_read(root, &node);
		return !node.nchildren;
	}
	for (i = 0; i < NILFS_INODE_BMAP_SIZE; i++)
		if (le64_get(root[i]))
			return false;
	return true;
}

uint64_t metafile_nblocks(const struct metafile *m)
{
	return m->nblocks;
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
