// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Wrong blocks of maps in snapshots.
 *
 * The trees of snapshots share most of their blocks, so what is looked for is
 * not a map but a block: a node, or the block of the ifile with the root.  Each
 * is looked at once, for the first snapshot that leads to it.
 *
 * The map of an ifile is walked likewise.  Its inode is in an entry of the
 * cpfile, and of one checkpoint alone.
 *
 * Where a node does not begin with the key that its parent has for it, what the
 * node leads to tells which of the two is wrong (keywitness.h).  Where it is no
 * node at all the log tells: if it is another's, the pointer to it is wrong.
 *
 * A map of an ifile can be sound and lead to other blocks than those it led to,
 * or to fewer.  If the checker says that some are wrong and nothing is seen to
 * be, every holder is one to be compared with what the logs have for it.
 *
 * A block never changes while it lives, and what it points to lives at least
 * as long.  That is asked of each pointer here, as the checker does.
 */
#include "fsck/maps/snapmaps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "check/damage.h"
#include "check/lifelogs.h"
#include "disk/bmap.h"
#include "disk/inode.h"
#include "fsck/maps/keywitness.h"
#include "vol/cptable.h"
#include "vol/root.h"

int snapmaps_judge(struct snapmaps *s, struct context *cx,
		   const struct snapmaps_child *child,
		   const struct lifetime *life, struct vblock *vb)
{
	const struct contested_block *b = contested_find(s->contested,
							 child->ptr);
	int state = vblocks_find(&s->vblocks[child->level > 0], cx,
				 child->ptr, vb);

	if (state < 0)
		return state;
	return state == VBLOCKS_USED &&
	       geometry_has_block(&s->job->vol->geo, vb->blocknr) &&
	       vb->start <= life->start && vb->end >= life->end &&
	       (!b || contested_is_of(b, s->ino, child->key, child->level));
}

static int add(struct snapmaps *s, struct context *cx,
	       const struct snapmaps_holder *h)
{
	struct snapmaps_holder *list = array_grow(cx, s->list, &s->room,
						  s->n + 1, sizeof(*list));

	if (!list)
		return -ENOMEM;
	s->list = list;
	list[s->n++] = *h;
	return 0;
}

/* H, in which nothing wrong was seen. */
static int add_suspect(struct snapmaps *s, struct context *cx,
		       const struct snapmaps_holder *h)
{
	struct snapmaps_holder suspect = *h;

	suspect.suspect = true;
	return s->doubts ? add(s, cx, &suspect) : 0;
}

/* Of those listed from FIRST on no suspects, if any is wrong indeed. */
static void drop_suspects(struct snapmaps *s, size_t first)
{
	size_t i, kept = first;

	for (i = first; i < s->n; i++)
		if (!s->list[i].suspect)
			s->list[kept++] = s->list[i];
	if (kept > first)
		s->n = kept;
}

static int walk_node(struct snapmaps *s, struct context *cx,
		     const struct snapmaps_holder *h);

/* Child I of NODE, below H: 1 where NODE is right about it, 0. */
static int walk_child(struct snapmaps *s, struct context *cx,
		      const struct snapmaps_holder *h,
		      const struct bmap_node *node, uint32_t i)
{
	const struct snapmaps_child child = {
		.key = bmap_node_key(node, i),
		.ptr = bmap_node_ptr(node, i),
		.level = node->level - 1u,
	};
	struct snapmaps_holder below = {
		.ino = s->ino,
		.cno = s->cno,
		.vblocknr = child.ptr,
		.level = child.level,
		.key = child.key,
		.end = h->end,
	};
	struct vblock vb;
	int ret = snapmaps_judge(s, cx, &child, &h->life, &vb);

	if (ret <= 0 || !child.level)
		return ret;
	if (i + 1u < node->nchildren)
		below.end = bmap_node_key(node, i + 1);
	below.blocknr = vb.blocknr;
	below.life = (struct lifetime){ vb.start, vb.end };
	return walk_node(s, cx, &below);
}

/* The pointers of NODE, which is H or in it. */
static int walk_children(struct snapmaps *s, struct context *cx,
			 const struct snapmaps_holder *h,
			 const struct bmap_node *node)
{
	bool bad = false;
	uint32_t i;
	int ret;

	for (i = 0; i < node->nchildren; i++) {
		ret = walk_child(s, cx, h, node, i);
		if (ret < 0)
			return ret;
		bad |= !ret;
	}
	return bad ? add(s, cx, h) : add_suspect(s, cx, h);
}

static bool is_node(const struct snapmaps *s, const struct snapmaps_holder *h,
		    const void *block, const struct bmap_node *node)
{
	return bmap_node_check(s->job->vol->geo.block_size, block) == RULE_OK &&
	       node->level == h->level &&
	       bmap_node_check_entries(node) == RULE_OK;
}

/*
 * Whether NODE is what H says: 1; 0 where it is not, and in *WITNESSED whether
 * what is below it says that H is wrong about it.
 */
static int compare_keys(struct snapmaps *s, struct context *cx,
			const struct snapmaps_holder *h,
			const struct bmap_node *node, bool *witnessed)
{
	uint32_t last = node->nchildren - 1u;
	bool begins = bmap_node_key(node, 0) == h->key;
	bool ends = bmap_node_key(node, last) < h->end;
	int ret = 1;

	*witnessed = false;
	if (begins && ends)
		return 1;
	if (!begins)
		ret = keywitness_ask(s, cx, node, 0);
	if (ret > 0 && !ends)
		ret = keywitness_ask(s, cx, node, last);
	*witnessed = ret > 0;
	return ret < 0 ? ret : 0;
}

/* H, which is wrong, once. */
static int add_node(struct snapmaps *s, struct context *cx,
		    const struct snapmaps_holder *h)
{
	int ret = damage_add(&s->seen, cx, h->vblocknr);

	return ret > 0 ? add(s, cx, h) : ret;
}

/* What NODE, which is as H says, points to. */
static int walk_below(struct snapmaps *s, struct context *cx,
		      const struct snapmaps_holder *h,
		      const struct bmap_node *node)
{
	int ret = damage_add(&s->seen, cx, h->vblocknr);

	return ret > 0 ? walk_children(s, cx, h, node) : ret;
}

/* Whether the log has H for another file, or for no node: 1, 0. */
static int is_anothers(struct snapmaps *s, struct context *cx,
		       const struct snapmaps_holder *h)
{
	struct segsum_block b;
	int ret = lifelogs_find_block(cx, s->job->check, h->blocknr, &b, NULL);

	if (ret <= 0)
		return ret;
	return b.ino != h->ino || !b.is_node || b.vblocknr != h->vblocknr;
}

/* H is no such node: 1 where it is to be one, 0 where what leads to it is
   wrong. */
static int judge_node(struct snapmaps *s, struct context *cx,
		      const struct snapmaps_holder *h)
{
	int ret = is_anothers(s, cx, h);

	if (!ret)
		ret = add_node(s, cx, h);
	else if (ret > 0)
		return 0;
	return ret ? ret : 1;
}

/* What H, which is a node as NODE says, is worth: as walk_node(). */
static int judge_keys(struct snapmaps *s, struct context *cx,
		      const struct snapmaps_holder *h,
		      const struct bmap_node *node)
{
	bool witnessed;
	int ret = compare_keys(s, cx, h, node, &witnessed);

	if (ret > 0 && s->doubts) {
		ret = is_anothers(s, cx, h);
		if (ret)
			return ret < 0 ? ret : 0;
		ret = 1;
	}
	if (ret > 0)
		ret = walk_below(s, cx, h, node);
	else if (!ret && !witnessed)
		ret = add_node(s, cx, h);
	return ret ? ret : !witnessed;
}

/* 1, also where H is wrong; 0 where what leads to it is. */
static int walk_node(struct snapmaps *s, struct context *cx,
		     const struct snapmaps_holder *h)
{
	struct cache *cache = s->job->vol->cache;
	struct bmap_node node;
	const void *block;
	int ret = cache_get(cache, cx, h->blocknr, &block);

	if (ret == -EIO) {
		fail_clear(cx);
		return judge_node(s, cx, h);
	}
	if (ret)
		return ret;
	bmap_node_read(s->job->vol->geo.block_size, block, &node);
	if (is_node(s, h, block, &node))
		ret = judge_keys(s, cx, h, &node);
	else
		ret = judge_node(s, cx, h);
	cache_put(cache, block);
	return ret;
}

static int walk_direct(struct snapmaps *s, struct context *cx,
		       const struct snapmaps_holder *h, const le64 *map)
{
	struct snapmaps_child child = { .level = 0 };
	struct vblock vb;
	int ret;

	for (; child.key < NILFS_DIRECT_NBLOCKS; child.key++) {
		child.ptr = bmap_direct_ptr(map, child.key);
		if (!child.ptr)
			continue;
		ret = snapmaps_judge(s, cx, &child, &h->life, &vb);
		if (ret < 0)
			return ret;
		if (!ret)
			return add(s, cx, h);
	}
	return add_suspect(s, cx, h);
}

static int walk_inode(struct snapmaps *s, struct context *cx,
		      const struct snapmaps_holder *h,
		      const struct nilfs_inode *inode)
{
	struct bmap_node root;

	if (!inode_has_bmap(inode))
		return 0;
	if (!bmap_is_btree(inode->i_bmap))
		return walk_direct(s, cx, h, inode->i_bmap);
	if (bmap_root_check(inode->i_bmap) != RULE_OK)
		return add(s, cx, h);
	bmap_root_read(inode->i_bmap, &root);
	if (bmap_node_check_entries(&root) != RULE_OK)
		return add(s, cx, h);
	return walk_children(s, cx, h, &root);
}

/* The block of the ifile that has the inode: 1, 0 where there is none. */
static int find_inode(struct snapmaps *s, struct context *cx,
		      struct root *root, struct snapmaps_holder *h)
{
	const struct palloc *p = &s->job->vol->ifile_palloc;
	struct vblock vb;
	int ret;

	h->blkoff = palloc_entry_blkoff(p, s->ino);
	ret = blockmap_lookup(&root->ifile.map, cx, h->blkoff, &h->vblocknr);
	if (ret <= 0)
		return ret;
	ret = vblocks_find(&s->vblocks[0], cx, h->vblocknr, &vb);
	if (ret < 0)
		return ret;
	if (ret != VBLOCKS_USED || vb.start > s->cno || vb.end <= s->cno ||
	    !geometry_has_block(&s->job->vol->geo, vb.blocknr))
		return 0;
	h->blocknr = vb.blocknr;
	h->life = (struct lifetime){ vb.start, vb.end };
	return 1;
}

static int look_at(struct snapmaps *s, struct context *cx, struct root *root,
		   uint64_t ino)
{
	struct snapmaps_holder h = {
		.ino = ino,
		.cno = root->cno,
		.is_inode = true,
		.end = UINT64_MAX,
	};
	struct nilfs_inode inode;
	int ret;

	s->ino = ino;
	ret = root_inode(root, cx, ino, &inode);
	if (!ret)
		ret = find_inode(s, cx, root, &h);
	if (ret > 0)
		ret = walk_inode(s, cx, &h, &inode);
	return damage_forgive(cx, ret);
}

/* The ifile of the checkpoint at hand. */
static int look_at_ifile(struct snapmaps *s, struct context *cx)
{
	const struct snapmaps_holder h = {
		.ino = NILFS_IFILE_INO,
		.cno = s->cno,
		.is_inode = true,
		.life = { s->cno, s->cno + 1 },
		.end = UINT64_MAX,
	};
	size_t first = s->n;
	struct nilfs_checkpoint cp;
	int ret = cptable_read(s->job->vol, cx, s->cno, &cp);

	s->ino = NILFS_IFILE_INO;
	if (!ret)
		ret = walk_inode(s, cx, &h, &cp.cp_ifile_inode);
	drop_suspects(s, first);
	ret = damage_forgive(cx, ret);
	return ret ? ret : context_cancelled(cx);
}

static int look_at_all(struct snapmaps *s, struct context *cx,
		       const uint64_t *inos, size_t n)
{
	struct root root;
	size_t i;
	int ret = root_open(&root, cx, s->job->vol, s->cno);

	if (damage_is(ret)) {
		fail_clear(cx);
		return 0;
	}
	for (i = 0; i < n && !ret; i++)
		ret = look_at(s, cx, &root, inos[i]);
	return ret ? ret : context_cancelled(cx);
}

static int compare(const void *a, const void *b)
{
	const struct snapmaps_holder *x = a, *y = b;

	if (x->ino != y->ino)
		return x->ino < y->ino ? -1 : 1;
	if (x->vblocknr != y->vblocknr || !snapmaps_is_entry(x))
		return x->vblocknr < y->vblocknr ? -1 :
						   x->vblocknr > y->vblocknr;
	return x->cno < y->cno ? -1 : x->cno > y->cno;
}

/* A block of the ifile that several snapshots share comes once for each. */
static void settle(struct snapmaps *s)
{
	size_t i, kept = 0;

	sort_in_place(s->list, s->n, sizeof(*s->list), compare);
	for (i = 0; i < s->n; i++)
		if (!kept || compare(&s->list[kept - 1], &s->list[i]))
			s->list[kept++] = s->list[i];
	s->n = kept;
}

static bool is_doubted(const struct snapmaps *s, uint64_t cno)
{
	size_t i;

	for (i = 0; i < s->ndoubted; i++)
		if (s->doubted[i] == cno)
			return true;
	return false;
}

/* Those of the N checkpoints CNOS whose ifiles are in doubt, or the others. */
static int look_at_snapshots(struct snapmaps *s, struct context *cx,
			     const uint64_t *cnos, size_t n, bool doubts,
			     const uint64_t *inos, size_t ninos)
{
	int err = 0;

	s->doubts = doubts;
	while (n-- && !err) {
		s->cno = cnos[n];
		if (s->cno == s->job->vol->latest.cno ||
		    is_doubted(s, s->cno) != doubts)
			continue;
		err = inos ? look_at_all(s, cx, inos, ninos) :
			     look_at_ifile(s, cx);
	}
	return err;
}

int snapmaps_list(struct snapmaps *s, struct context *cx, const uint64_t *inos,
		  size_t n)
{
	uint64_t *cnos = NULL;
	size_t count = 0;
	int err = cptable_list(s->job->vol, cx, true, &cnos, &count);

	vblocks_init(&s->vblocks[0], s->job->vol);
	vblocks_init(&s->vblocks[1], s->job->vol);
	if (damage_is(err)) {
		fail_clear(cx);
		return 0;
	}
	if (!err)
		err = sparse_init(&s->seen, cx,
				  vblocks_end(s->job->vol, cx));
	/* A node is looked at once: first for those who doubt it. */
	if (!err)
		err = look_at_snapshots(s, cx, cnos, count, true, inos, n);
	if (!err)
		err = look_at_snapshots(s, cx, cnos, count, false, inos, n);
	settle(s);
	free(cnos);
	return err;
}

void snapmaps_fini(struct snapmaps *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		free(s->list[i].children);
	free(s->list);
	sparse_fini(&s->seen);
	vblocks_fini(&s->vblocks[0]);
	vblocks_fini(&s->vblocks[1]);
}
