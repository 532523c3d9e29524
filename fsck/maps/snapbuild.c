// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Blocks of maps, built from what the logs list.
 *
 * What a node pointed to while it lived are the blocks of the file in its range
 * of keys that lived as long at least, no more and no less: whoever changes one
 * of them changes the node.  So a node follows from the logs and the DAT, and
 * the map in an inode from the nodes that lived with the block of the ifile;
 * that of an ifile itself, from the nodes that lived in its checkpoint.
 *
 * With a log that cannot be read something may be missing.  Then all that is
 * sound in the block as it is must be in the new one as well.
 */
#include "fsck/maps/snapbuild.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "disk/bmap.h"
#include "disk/checkpoint.h"
#include "fsck/index/loglist.h"
#include "fsck/past/pastblocks.h"
#include "log/bmapnode.h"
#include "log/mend.h"

/* Children of an inode without nodes that are of interest. */
#define FEW 8

static int add_child(struct snapmaps_holder *h, struct context *cx,
		     const struct snapmaps_child *child)
{
	struct snapmaps_child *children = array_grow(cx, h->children, &h->room,
						     h->n + 1,
						     sizeof(*children));

	if (!children)
		return -ENOMEM;
	h->children = children;
	children[h->n++] = *child;
	return 0;
}

/* Level and first key of the node at BLOCKNR: 1, 0 where it is none. */
static int read_node(struct snapmaps *s, struct context *cx, uint64_t blocknr,
		     struct snapmaps_child *child)
{
	struct volume *vol = s->job->vol;
	struct bmap_node node;
	const void *block;
	int ret = cache_get(vol->cache, cx, blocknr, &block);

	if (ret == -EIO) {
		fail_clear(cx);
		return 0;
	}
	if (ret)
		return ret;
	bmap_node_read(vol->geo.block_size, block, &node);
	ret = bmap_node_check(vol->geo.block_size, block) == RULE_OK &&
	      bmap_node_check_entries(&node) == RULE_OK;
	if (ret) {
		child->level = node.level;
		child->key = bmap_node_key(&node, 0);
	}
	cache_put(vol->cache, block);
	return ret;
}

/* Whether H may hold CHILD. */
static bool may_hold(const struct snapmaps_holder *h,
		     const struct snapmaps_child *child)
{
	if (h->is_inode)
		return child->level || child->key < FEW || h->n < FEW;
	return child->level + 1 == h->level && child->key >= h->key &&
	       child->key < h->end;
}

/* Adds what B is to H, if it is one of its children. */
static int offer(struct snapmaps *s, struct context *cx,
		 struct snapmaps_holder *h, const struct loglist_block *b)
{
	struct snapmaps_child child = { .key = b->blkoff, .ptr = b->vblocknr };
	struct vblock vb;
	int ret = vblocks_find(&s->vblocks[b->is_node], cx, b->vblocknr, &vb);

	if (ret < 0)
		return ret;
	if (ret != VBLOCKS_USED || vb.blocknr != b->blocknr ||
	    vb.start > h->life.start || vb.end < h->life.end)
		return 0;
	if (b->is_node) {
		ret = read_node(s, cx, vb.blocknr, &child);
		if (ret <= 0)
			return ret;
	}
	return may_hold(h, &child) ? add_child(h, cx, &child) : 0;
}

static int take_listed(void *arg, struct context *cx,
		       const struct loglist_block *b)
{
	struct snapmaps *s = arg;
	size_t low = 0, high = s->n;
	int err = 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->list[middle].ino < b->ino)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < s->n && s->list[low].ino == b->ino && !err; low++) {
		struct snapmaps_holder *h = &s->list[low];

		if (h->is_inode || b->is_node == (h->level > 1))
			err = offer(s, cx, h, b);
	}
	return err;
}

static int compare(const void *a, const void *b)
{
	const struct snapmaps_child *x = a, *y = b;

	if (x->level != y->level)
		return x->level > y->level ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

/*
 * Sorts the children, those of the highest level first, which are all that
 * count; false where two are at the same place.
 */
static bool sort_children(struct snapmaps_holder *h)
{
	size_t i;

	sort_in_place(h->children, h->n, sizeof(*h->children), compare);
	for (i = 1; i < h->n; i++) {
		if (h->children[i].level != h->children[0].level)
			break;
		if (h->children[i].key == h->children[i - 1].key)
			return false;
	}
	h->n = i < h->n ? i : h->n;
	return h->n;
}

static bool has_child(const struct snapmaps_holder *h,
		      const struct snapmaps_child *child)
{
	const struct snapmaps_child *c;

	if (!h->n)
		return false;
	c = bsearch(child, h->children, h->n, sizeof(*c), compare);
	return c && c->ptr == child->ptr;
}

/* Whether the new block has all that is sound in NODE, as it is: 1, 0. */
static int has_sound(struct snapmaps *s, struct context *cx,
		     const struct snapmaps_holder *h,
		     const struct bmap_node *node)
{
	struct vblock vb;
	uint32_t i;
	int ret;

	if (s->logs_whole)
		return 1;
	s->ino = h->ino;
	for (i = 0; i < node->nchildren; i++) {
		const struct snapmaps_child child = {
			.key = bmap_node_key(node, i),
			.ptr = bmap_node_ptr(node, i),
			.level = h->children[0].level,
		};

		if (child.key < h->key || child.key >= h->end || !child.ptr)
			continue;
		ret = snapmaps_judge(s, cx, &child, &h->life, &vb);
		if (ret < 0)
			return ret;
		if (ret && !has_child(h, &child))
			return 0;
	}
	return 1;
}

static bool is_same_node(const struct snapmaps_holder *h,
			 const struct bmap_node *node)
{
	uint32_t i;

	if (node->nchildren != h->n || node->level != h->children[0].level + 1)
		return false;
	for (i = 0; i < h->n; i++)
		if (bmap_node_key(node, i) != h->children[i].key ||
		    bmap_node_ptr(node, i) != h->children[i].ptr)
			return false;
	return true;
}

/* Whether MAP leads to the children of H, and to nothing else. */
static bool is_same_map(const struct snapmaps_holder *h, const le64 *map)
{
	struct bmap_node root;
	uint64_t key;
	size_t i = 0;

	if (bmap_is_btree(map)) {
		bmap_root_read(map, &root);
		return is_same_node(h, &root);
	}
	for (key = 0; key < NILFS_DIRECT_NBLOCKS; key++) {
		bool here = i < h->n && h->children[i].key == key;

		if (bmap_direct_ptr(map, key) !=
		    (here ? h->children[i].ptr : 0))
			return false;
		i += here;
	}
	return i == h->n && !h->children[0].level;
}

static void fill(const struct snapmaps_holder *h, struct bmapnode *node)
{
	uint32_t i;

	for (i = 0; i < h->n; i++)
		bmapnode_insert(node, i, h->children[i].key,
				h->children[i].ptr);
}

/* Makes the node H in BLOCK, where it is as it was: 1, 0 where it cannot be. */
static int make_node(struct snapmaps *s, struct context *cx,
		     const struct snapmaps_holder *h, void *block)
{
	uint32_t size = s->job->vol->geo.block_size;
	struct bmapnode node = bmapnode_block(size, block);
	struct bmap_node old;
	int ret;

	if (h->n > node.max || h->children[0].key != h->key)
		return 0;
	bmap_node_read(size, block, &old);
	if (h->suspect && (!s->logs_whole || is_same_node(h, &old)))
		return 0;
	ret = has_sound(s, cx, h, &old);
	if (ret <= 0)
		return ret;
	bmapnode_init_block(&node, h->level);
	fill(h, &node);
	return 1;
}

/* True where children can be those of a direct map. */
static bool is_direct(const struct snapmaps_holder *h)
{
	return !h->children[0].level &&
	       h->children[h->n - 1].key < NILFS_DIRECT_NBLOCKS;
}

/* Makes the map of INODE: 1, 0 where it cannot be. */
static int make_map(struct snapmaps *s, const struct snapmaps_holder *h,
		    struct nilfs_inode *inode)
{
	struct bmapnode root = bmapnode_root(inode->i_bmap);
	size_t i;

	if (!s->logs_whole || (!is_direct(h) && h->n > root.max))
		return 0;
	memset(inode->i_bmap, 0, sizeof(inode->i_bmap));
	if (is_direct(h)) {
		for (i = 0; i < h->n; i++)
			inode->i_bmap[1 + h->children[i].key] =
				le64_make(h->children[i].ptr);
		return 1;
	}
	bmapnode_init_root(&root, h->children[0].level + 1);
	fill(h, &root);
	return 1;
}

static void tell(struct snapmaps *s, const struct snapmaps_holder *h)
{
	if (snapmaps_is_entry(h))
		fixers_tell(s->job, "checkpoint %" PRIu64 ": map of its ifile "
			    "rebuilt, with the %zu pointers that the logs have",
			    h->cno, h->n);
	else if (h->is_inode)
		fixers_tell(s->job, "checkpoint %" PRIu64 ": inode %" PRIu64
			    ": map rebuilt, with the %zu pointers that the "
			    "logs have", h->cno, h->ino, h->n);
	else
		fixers_tell(s->job, "checkpoint %" PRIu64 ": inode %" PRIu64
			    ": node of level %u at block %" PRIu64
			    ": rebuilt, with the %zu pointers that the logs "
			    "have", h->cno, h->ino, h->level, h->key, h->n);
}

/* The maps of all inodes in the block of H, which is the first of them. */
static int make_inodes(struct snapmaps *s, struct snapmaps_holder *h,
		       void *block)
{
	const struct palloc *p = &s->job->vol->ifile_palloc;
	const struct snapmaps_holder *end = s->list + s->n;
	uint64_t vblocknr = h->vblocknr;
	int ret, any = 0;

	for (; h < end; h++) {
		struct nilfs_inode *inode =
			(void *)((char *)block +
				 palloc_entry_offset(p, h->ino));

		if (!h->is_inode || h->vblocknr != vblocknr)
			continue;
		ret = sort_children(h) ? make_map(s, h, inode) : 0;
		if (ret)
			tell(s, h);
		any |= ret;
		h->done = true;
	}
	return any;
}

/* Puts in PAST what the block of H must have been, where that is known. */
static int make(struct snapmaps *s, struct context *cx,
		struct snapmaps_holder *h, struct pastblocks *past)
{
	const struct pastblocks_block what = {
		.ino = h->is_inode ? NILFS_IFILE_INO : h->ino,
		.vblocknr = h->vblocknr,
		.key = h->is_inode ? h->blkoff : h->key,
		.level = h->is_inode ? 0 : h->level,
	};
	struct pastblocks_block *b;
	int ret = pastblocks_change(past, cx, &what, !h->is_inode, &b);

	if (ret <= 0)
		return ret;
	if (h->is_inode) {
		ret = make_inodes(s, h, b->content);
	} else {
		ret = sort_children(h) ? make_node(s, cx, h, b->content) : 0;
		if (ret > 0)
			tell(s, h);
	}
	if (ret <= 0)
		pastblocks_drop(past, h->vblocknr);
	return ret < 0 ? ret : 0;
}

/* The map of an ifile, in the entry of its checkpoint. */
static int make_entry(struct snapmaps *s, struct context *cx,
		      struct snapmaps_holder *h)
{
	const struct nilfs_geometry *geo = &s->job->vol->geo;
	struct metafile *cpfile = mend_file(s->job->writer, NILFS_CPFILE_INO);
	uint64_t blkoff = checkpoint_blkoff(geo, h->cno);
	struct nilfs_checkpoint cp;
	const void *old;
	void *data;
	int ret = metafile_look(cpfile, cx, blkoff, &old);

	if (ret <= 0)
		return ret;
	memcpy(&cp, (const char *)old + checkpoint_offset(geo, h->cno),
	       sizeof(cp));
	if (!sort_children(h) ||
	    (h->suspect && is_same_map(h, cp.cp_ifile_inode.i_bmap)) ||
	    !make_map(s, h, &cp.cp_ifile_inode))
		return 0;
	ret = metafile_change(cpfile, cx, blkoff, &data, NULL);
	if (ret)
		return ret;
	memcpy((char *)data + checkpoint_offset(geo, h->cno), &cp, sizeof(cp));
	tell(s, h);
	return 0;
}

static int make_any(struct snapmaps *s, struct context *cx,
		    struct snapmaps_holder *h, struct pastblocks *past)
{
	return snapmaps_is_entry(h) ? make_entry(s, cx, h) :
				      make(s, cx, h, past);
}

int snapbuild_run(struct snapmaps *s, struct context *cx)
{
	struct pastblocks past = { .job = s->job };
	size_t i;
	int err;

	err = loglist_run(s->job->check, cx, LOGLIST_ALL, take_listed, s);
	for (i = 0; i < s->n && !err; i++)
		if (!s->list[i].done)
			err = make_any(s, cx, &s->list[i], &past);
	if (!err)
		err = pastblocks_write(&past, cx);
	pastblocks_fini(&past);
	return err;
}
