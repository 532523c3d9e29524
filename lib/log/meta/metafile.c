// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Metadata files that are being changed.
 *
 * Dirty blocks are in memory; others are read on demand, and a few clean ones
 * are cached.  A data block leaves memory as soon as it is written, the least
 * recently changed ones first.  Nodes are only collected together with
 * everything else, so that a pointer that changes costs one write of the node
 * per checkpoint.
 *
 * Consecutive changes mostly concern the block that was changed last, which is
 * therefore tried before the table.
 */
#include "log/meta/metafile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "disk/bmap.h"
#include "log/meta/bmapnode.h"
#include "log/meta/metablocks.h"
#include "log/meta/metacut.h"
#include "log/meta/metatree.h"

struct metafile {
	struct metatree tree;
	struct metablock *last;	/* changed last, still dirty; or NULL */
	bool kept;	/* blocks came that are not dirty, or have gone */
};

int metafile_open(struct metafile **mp, struct context *cx,
		  const struct metafile_env *env, uint32_t block_size,
		  uint64_t ino, enum metafile_kind kind,
		  const struct nilfs_inode *inode)
{
	struct metafile *m = malloc(sizeof(*m));
	int err;

	*mp = NULL;
	if (!m)
		return fail(cx, -ENOMEM, "inode %llu", (unsigned long long)ino);
	m->last = NULL;
	m->kept = false;
	err = metatree_init(&m->tree, cx, env, block_size, ino, kind, inode);
	if (err) {
		metafile_close(m);
		return err;
	}
	*mp = m;
	return 0;
}

void metafile_close(struct metafile *m)
{
	if (!m)
		return;
	metatree_fini(&m->tree);
	free(m);
}

/* Reads the clean data block at BLKOFF, whose pointer is PTR. */
static int read_data(struct metafile *m, struct context *cx, uint64_t blkoff,
		     uint64_t ptr, struct metablock **bp)
{
	struct metatree *t = &m->tree;
	struct metablock *b;
	int err;

	if (metatree_is_provisional(t, ptr))
		return fail(cx, -EIO, "inode %llu: block %llu was never placed",
			    (unsigned long long)t->ino,
			    (unsigned long long)blkoff);
	b = metablocks_add_data(&t->blocks, cx, blkoff, ptr);
	if (!b)
		return -ENOMEM;
	err = t->env->read(t->env->arg, cx, t->kind, ptr, b->data);
	if (err) {
		metablocks_drop(&t->blocks, b);
		return err;
	}
	*bp = b;
	return 0;
}

/* The current block at BLKOFF, dirty or not: 1, 0 for a hole. */
static int get_data(struct metafile *m, struct context *cx, uint64_t blkoff,
		    struct metablock **bp)
{
	uint64_t ptr;
	int found, err;

	*bp = metablocks_data(&m->tree.blocks, blkoff);
	if (*bp)
		return 1;
	found = metatree_lookup(&m->tree, cx, blkoff, &ptr);
	if (found <= 0)
		return found;
	err = read_data(m, cx, blkoff, ptr, bp);
	return err ? err : 1;
}

static int make_data(struct metafile *m, struct context *cx, uint64_t blkoff,
		     struct metablock **bp)
{
	uint64_t ptr;
	int err;

	err = metatree_insert(&m->tree, cx, blkoff, &ptr);
	if (err)
		return err;
	*bp = metablocks_add_data(&m->tree.blocks, cx, blkoff, ptr);
	if (!*bp)
		return -ENOMEM;
	memset((*bp)->data, 0, m->tree.block_size);
	metablocks_set_dirty(&m->tree.blocks, *bp);
	return 0;
}

static int dirty_data(struct metafile *m, struct context *cx,
		      struct metablock *b)
{
	uint64_t ptr;
	int err;

	if (b->dirty) {
		metablocks_touch(&m->tree.blocks, b);
		return 0;
	}
	/* The way down may read nodes: this block is not the one to go. */
	metablocks_touch(&m->tree.blocks, b);
	err = metatree_renew(&m->tree, cx, b->blkoff, &ptr);
	if (err)
		return err;
	metablocks_set_ptr(&m->tree.blocks, b, ptr);
	metablocks_set_dirty(&m->tree.blocks, b);
	return 0;
}

int metafile_change(struct metafile *m, struct context *cx, uint64_t blkoff,
		    void **data, bool *fresh)
{
	struct metablock *b = m->last;
	bool made = false;
	int err;

	if (!b || b->blkoff != blkoff) {
		err = get_data(m, cx, blkoff, &b);
		if (err < 0)
			return err;
		made = !err;
		err = made ? make_data(m, cx, blkoff, &b) :
			     dirty_data(m, cx, b);
		if (err)
			return err;
		m->last = b;
	}
	if (fresh)
		*fresh = made;
	*data = b->data;
	return 0;
}

/* The block at BLKOFF with any content: 1, 0 for a hole. */
static int get_unread(struct metafile *m, struct context *cx, uint64_t blkoff,
		      struct metablock **bp)
{
	struct metatree *t = &m->tree;
	uint64_t ptr;
	int found;

	*bp = metablocks_data(&t->blocks, blkoff);
	if (*bp)
		return 1;
	found = metatree_lookup(t, cx, blkoff, &ptr);
	if (found <= 0)
		return found;
	*bp = metablocks_add_data(&t->blocks, cx, blkoff, ptr);
	return *bp ? 1 : -ENOMEM;
}

int metafile_replace(struct metafile *m, struct context *cx, uint64_t blkoff,
		     void **data)
{
	struct metablock *b;
	int err = get_unread(m, cx, blkoff, &b);

	if (err < 0)
		return err;
	err = err ? dirty_data(m, cx, b) : make_data(m, cx, blkoff, &b);
	if (err)
		return err;
	memset(b->data, 0, m->tree.block_size);
	m->last = b;
	*data = b->data;
	return 0;
}

int metafile_touch(struct metafile *m, struct context *cx, unsigned int level,
		   uint64_t key)
{
	struct metablock *b;
	int ret;

	if (level)
		return metatree_touch(&m->tree, cx, level, key);
	ret = get_data(m, cx, key, &b);
	if (ret <= 0)
		return ret ? ret : fail(cx, -EUCLEAN,
					"inode %llu: block %llu is a hole",
					(unsigned long long)m->tree.ino,
					(unsigned long long)key);
	return dirty_data(m, cx, b);
}

bool metafile_has_nodes(struct metafile *m, unsigned int level)
{
	return metatree_has_nodes(&m->tree, level);
}

int metafile_adopt(struct metafile *m, struct context *cx, uint64_t blkoff,
		   uint64_t blocknr)
{
	struct metatree *t = &m->tree;
	struct metablock *b;
	uint64_t ptr;
	int ret = metatree_lookup(t, cx, blkoff, &ptr);

	if (ret > 0 || t->kind != METAFILE_DAT)
		ret = fail(cx, -EINVAL, "inode %llu: block %llu is there",
			   (unsigned long long)t->ino,
			   (unsigned long long)blkoff);
	if (!ret)
		ret = metatree_insert(t, cx, blkoff, &ptr);
	if (ret)
		return ret;
	b = metablocks_add_data(&t->blocks, cx, blkoff, ptr);
	if (!b)
		return -ENOMEM;
	ret = metatree_place(t, cx, b, 0, blkoff, blocknr);
	metablocks_drop(&t->blocks, b);
	m->kept = true;
	return ret;
}

int metafile_keep(struct metafile *m, struct context *cx, uint64_t blkoff,
		  uint64_t ptr)
{
	if (m->tree.kind == METAFILE_DAT || !ptr)
		return fail(cx, -EINVAL, "inode %llu: block %llu cannot be "
			    "kept", (unsigned long long)m->tree.ino,
			    (unsigned long long)blkoff);
	m->kept = true;
	return metatree_adopt(&m->tree, cx, blkoff, ptr);
}

int metafile_truncate(struct metafile *m, struct context *cx, uint64_t blkoff)
{
	m->last = NULL;
	m->kept = true;
	return metacut_from(&m->tree, cx, blkoff);
}

int metafile_delete(struct metafile *m, struct context *cx, uint64_t blkoff)
{
	int ret = metacut_at(&m->tree, cx, blkoff);

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
		found = get_data(m, cx, blkoff, &b);
		if (found <= 0)
			return found;
		if (!b->dirty)
			metablocks_touch(&m->tree.blocks, b);
	}
	*data = b->data;
	return 1;
}

int metafile_lookup(struct metafile *m, struct context *cx, uint64_t blkoff,
		    uint64_t *ptr)
{
	const struct metablock *b = metablocks_data(&m->tree.blocks, blkoff);
	int found = 1;

	if (b)
		*ptr = b->ptr;
	else
		found = metatree_lookup(&m->tree, cx, blkoff, ptr);
	if (found == 1 && metatree_is_provisional(&m->tree, *ptr))
		return 0;
	return found;
}

size_t metafile_dirty(const struct metafile *m)
{
	return m->tree.blocks.data.n + m->tree.blocks.nodes.n;
}

bool metafile_is_changed(const struct metafile *m)
{
	return m->kept || metafile_dirty(m);
}

static void describe_block(const struct metafile *m, struct metablock *b,
			   struct metafile_block *block)
{
	struct bmapnode node = bmapnode_block(m->tree.block_size, b->data);

	block->level = b->node ? bmapnode_level(&node) : 0;
	block->key = b->node ? bmapnode_key(&node, 0) : b->blkoff;
	block->ptr = m->tree.kind == METAFILE_DAT ? 0 : b->ptr;
	block->data = b->data;
	block->handle = b;
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
	const struct metablocks *t = &m->tree.blocks;
	size_t data = t->data.n, i = 0;
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
	for (b = t->data.oldest; i < data; b = b->newer)
		describe_block(m, b, &(*blocks)[i++]);
	for (b = t->nodes.oldest; i < *n; b = b->newer)
		describe_block(m, b, &(*blocks)[i++]);
	sort_in_place(*blocks, *n, sizeof(**blocks), compare_block);
	return 0;
}

int metafile_place(struct metafile *m, struct context *cx,
		   const struct metafile_block *block, uint64_t blocknr)
{
	if (m->tree.kind != METAFILE_DAT)
		return 0;
	return metatree_place(&m->tree, cx, block->handle, block->level,
			      block->key, blocknr);
}

/* Nodes stay, since more of the file is found by them. */
int metafile_take(struct metafile *m, struct context *cx,
		  const struct metafile_block *block, void **own,
		  const void **data)
{
	struct metablocks *t = &m->tree.blocks;
	struct metablock *b = block->handle;

	m->last = NULL;
	*own = b;
	*data = b->data;
	if (!b->node) {
		metablocks_take(t, b);
		return 0;
	}
	*own = malloc(t->block_size);
	if (!*own)
		return fail(cx, -ENOMEM, "block of metadata");
	*data = memcpy(*own, b->data, t->block_size);
	metablocks_set_clean(t, b);
	return 0;
}

bool metafile_is_empty(const struct metafile *m)
{
	const le64 *root = m->tree.root;
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
	return m->tree.nblocks;
}

void metafile_recount(struct metafile *m, uint64_t nblocks)
{
	struct metatree *t = &m->tree;

	t->nblocks += nblocks - t->opened;
	t->opened = nblocks;
	t->odd = 0;
}

void metafile_inode(const struct metafile *m, struct nilfs_inode *inode)
{
	const struct metatree *t = &m->tree;

	memcpy(inode->i_bmap, t->root, sizeof(t->root));
	inode->i_blocks = le64_make(t->nblocks * (t->block_size / 512) +
				    t->odd);
}
