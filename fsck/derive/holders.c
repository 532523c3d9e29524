// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Wrong blocks of maps.
 *
 * The trees of checkpoints share most of their blocks, so what is looked for is
 * not a map but a block: a node, or the block of the ifile with the root.  Each
 * is looked at once, for the first checkpoint that leads to it.
 *
 * A block never changes while it lives, and what it points to lives at least as
 * long.  And the logs list it as what the pointer says.  That is asked of each
 * pointer.
 *
 * Where a node does not begin with the key that its parent has for it, what it
 * points to shows which of the two is wrong: a node whose first pointer is
 * right is, unless another node has that place.  Where it is no node at all the
 * log decides: if it is another's, the pointer to it is wrong.
 *
 * A map can be sound and lead to fewer blocks than it led to.  If the checker
 * says that some are missing and nothing is seen to be wrong, every holder is
 * suspect: to be compared with what the logs have for it.
 */
#include "fsck/derive/holders.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/sort.h"
#include "check/damage.h"
#include "check/logs/lifelogs.h"
#include "disk/bmap.h"
#include "disk/inode.h"
#include "vol/cptable.h"
#include "vol/root.h"

/*
 * Whether the logs list what P says.  Of a node that is reported once it is
 * read; a log that cannot be read may list it.
 */
static bool is_listed(const struct holders *s, uint64_t ino,
		      const struct mapcheck_pointer *p)
{
	return !s->logs_whole || p->level ||
	       pieces_has(s->pieces, ino, 0, p->key, p->ptr);
}

int holders_judge(struct holders *s, struct context *cx, uint64_t ino,
		  const struct mapcheck_pointer *p, struct vblock *vb)
{
	int state = vblocks_find(&s->vblocks[p->level > 0], cx, p->ptr, vb);
	const struct lifetime life = { vb->start, vb->end };

	if (state < 0)
		return state;
	return state == VBLOCKS_USED &&
	       geometry_has_block(&s->check->vol->geo, vb->blocknr) &&
	       lifetime_contains(&life, &p->within) && is_listed(s, ino, p);
}

static int add_holder(struct holders *s, struct context *cx,
		      const struct holder *h)
{
	if (array_reserve(cx, &s->list, &s->room, s->n + 1))
		return -ENOMEM;
	s->list[s->n++] = *h;
	return 0;
}

/* H, in which nothing wrong was seen. */
static int add_suspect(struct holders *s, struct context *cx,
		       const struct holder *h)
{
	struct holder suspect = *h;

	suspect.suspect = true;
	return s->doubts ? add_holder(s, cx, &suspect) : 0;
}

static struct mapcheck_pointer pointer_of(const struct holder *h,
					  const struct bmap_node *node,
					  uint32_t i)
{
	return (struct mapcheck_pointer){
		.key = bmap_node_key(node, i),
		.ptr = bmap_node_ptr(node, i),
		.level = node->level - 1u,
		.within = h->life,
	};
}

static int walk_node(struct holders *s, struct context *cx,
		     const struct holder *h);

/* Child I of NODE, below H: 1 where NODE is right about it, 0. */
static int walk_child(struct holders *s, struct context *cx,
		      const struct holder *h, const struct bmap_node *node,
		      uint32_t i)
{
	const struct mapcheck_pointer p = pointer_of(h, node, i);
	struct holder below = {
		.ino = s->ino,
		.cno = s->cno,
		.vblocknr = p.ptr,
		.level = p.level,
		.key = p.key,
		.end = h->end,
	};
	struct vblock vb;
	int ret = holders_judge(s, cx, s->ino, &p, &vb);

	if (ret <= 0 || !p.level)
		return ret;
	if (i + 1u < node->nchildren)
		below.end = bmap_node_key(node, i + 1);
	below.blocknr = vb.blocknr;
	below.life = (struct lifetime){ vb.start, vb.end };
	return walk_node(s, cx, &below);
}

/* The pointers of NODE, which is H or in it. */
static int walk_children(struct holders *s, struct context *cx,
			 const struct holder *h,
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
	return bad ? add_holder(s, cx, h) : add_suspect(s, cx, h);
}

static bool is_node(const struct holders *s, const struct holder *h,
		    const void *block, const struct bmap_node *node)
{
	return bmap_node_check(s->check->vol->geo.block_size, block) ==
		       RULE_OK &&
	       node->level == h->level &&
	       bmap_node_check_entries(node) == RULE_OK;
}

/* Whether some block of inode and level of H is at [KEY, END) while H lives. */
static bool has_other(const struct holders *s, const struct holder *h,
		      unsigned int level, uint64_t key, uint64_t end)
{
	const struct pieces *p = s->pieces;
	size_t i = pieces_from(p, h->ino, level, key);

	for (; i < p->n && p->list[i].ino == h->ino &&
	       p->list[i].level == level && p->list[i].key < end; i++)
		if (p->list[i].ptr != h->vblocknr &&
		    lifetime_meets(&p->list[i].life, &h->life))
			return true;
	return false;
}

/* Whether all pointers of NODE, which is at the place of H, are right: 1, 0. */
static int is_right(struct holders *s, struct context *cx,
		    const struct holder *h, const struct bmap_node *node)
{
	struct vblock vb;
	uint32_t i;
	int ret = 1;

	for (i = 0; i < node->nchildren && ret > 0; i++) {
		const struct mapcheck_pointer p = pointer_of(h, node, i);

		ret = pieces_has(s->pieces, h->ino, p.level, p.key, p.ptr) ?
			      holders_judge(s, cx, h->ino, &p, &vb) : 0;
	}
	return ret;
}

/*
 * Whether NODE is what H says: 1; 0 where it is not, and in *WITNESSED whether
 * H is wrong about it: NODE is right by itself, no other node is where it says
 * that it is, and nothing is where it says that it is not.
 */
static int compare_keys(struct holders *s, struct context *cx,
			const struct holder *h, const struct bmap_node *node,
			bool *witnessed)
{
	uint64_t first = bmap_node_key(node, 0);
	uint64_t last = bmap_node_key(node, node->nchildren - 1u);
	int ret;

	*witnessed = false;
	if (first == h->key && last < h->end)
		return 1;
	if ((first != h->key && has_other(s, h, h->level, first, first + 1)) ||
	    has_other(s, h, h->level - 1, h->key, first) ||
	    (last >= h->end && has_other(s, h, h->level, h->end, h->end + 1)))
		return 0;
	ret = is_right(s, cx, h, node);
	*witnessed = ret > 0;
	return ret < 0 ? ret : 0;
}

/* H, which is wrong, once. */
static int add_node(struct holders *s, struct context *cx,
		    const struct holder *h)
{
	int ret = damage_add(&s->seen, cx, h->vblocknr);

	return ret > 0 ? add_holder(s, cx, h) : ret;
}

/* What NODE, which is as H says, points to. */
static int walk_below(struct holders *s, struct context *cx,
		      const struct holder *h,
		      const struct bmap_node *node)
{
	int ret = damage_add(&s->seen, cx, h->vblocknr);

	return ret > 0 ? walk_children(s, cx, h, node) : ret;
}

/* Whether the log has H for another file, or for no node: 1, 0. */
static int is_anothers(struct holders *s, struct context *cx,
		       const struct holder *h)
{
	struct segsum_block b;
	int ret = lifelogs_find_block(cx, s->check, h->blocknr, &b, NULL);

	if (ret <= 0)
		return ret;
	return b.ino != h->ino || !b.is_node || b.vblocknr != h->vblocknr;
}

/* H is no such node: 1 where it is to be one, 0 where what leads to it is
   wrong. */
static int judge_node(struct holders *s, struct context *cx,
		      const struct holder *h)
{
	int ret = is_anothers(s, cx, h);

	if (!ret)
		ret = add_node(s, cx, h);
	else if (ret > 0)
		return 0;
	return ret ? ret : 1;
}

/* What H, which is a node as NODE says, is worth: as walk_node(). */
static int judge_keys(struct holders *s, struct context *cx,
		      const struct holder *h,
		      const struct bmap_node *node)
{
	bool witnessed;
	int ret = compare_keys(s, cx, h, node, &witnessed);

	if (ret > 0 && s->logs_whole &&
	    !pieces_has(s->pieces, h->ino, h->level, h->key, h->vblocknr))
		return 0;
	if (ret > 0)
		ret = walk_below(s, cx, h, node);
	else if (!ret && !witnessed)
		ret = add_node(s, cx, h);
	return ret ? ret : !witnessed;
}

/* 1, also where H is wrong; 0 where what leads to it is. */
static int walk_node(struct holders *s, struct context *cx,
		     const struct holder *h)
{
	struct cache *cache = s->check->vol->cache;
	struct bmap_node node;
	const void *block;
	int ret = cache_get(cache, cx, h->blocknr, &block);

	if (ret == -EIO) {
		fail_clear(cx);
		return judge_node(s, cx, h);
	}
	if (ret)
		return ret;
	bmap_node_read(s->check->vol->geo.block_size, block, &node);
	if (is_node(s, h, block, &node))
		ret = judge_keys(s, cx, h, &node);
	else
		ret = judge_node(s, cx, h);
	cache_put(cache, block);
	return ret;
}

static int walk_direct(struct holders *s, struct context *cx,
		       const struct holder *h, const le64 *map)
{
	struct mapcheck_pointer p = { .within = h->life };
	struct vblock vb;
	int ret;

	for (; p.key < NILFS_DIRECT_NBLOCKS; p.key++) {
		p.ptr = bmap_direct_ptr(map, p.key);
		if (!p.ptr)
			continue;
		ret = holders_judge(s, cx, s->ino, &p, &vb);
		if (ret < 0)
			return ret;
		if (!ret)
			return add_holder(s, cx, h);
	}
	return add_suspect(s, cx, h);
}

static int walk_inode(struct holders *s, struct context *cx,
		      const struct holder *h,
		      const struct nilfs_inode *inode)
{
	struct bmap_node root;

	if (!inode_has_bmap(inode))
		return 0;
	if (!bmap_is_btree(inode->i_bmap))
		return walk_direct(s, cx, h, inode->i_bmap);
	if (bmap_root_check(inode->i_bmap) != RULE_OK)
		return add_holder(s, cx, h);
	bmap_root_read(inode->i_bmap, &root);
	if (bmap_node_check_entries(&root) != RULE_OK)
		return add_holder(s, cx, h);
	return walk_children(s, cx, h, &root);
}

/* The block of the ifile that has the inode: 1, 0 where there is none. */
static int find_inode(struct holders *s, struct context *cx,
		      struct root *root, struct holder *h)
{
	const struct palloc *p = &s->check->vol->ifile_palloc;
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
	    !geometry_has_block(&s->check->vol->geo, vb.blocknr))
		return 0;
	h->blocknr = vb.blocknr;
	h->life = (struct lifetime){ vb.start, vb.end };
	return 1;
}

/* The map of a file in the current checkpoint. */
static int walk_file(struct holders *s, struct context *cx)
{
	struct holder h = {
		.ino = s->ino,
		.cno = s->cno,
		.is_inode = true,
		.end = UINT64_MAX,
	};
	struct nilfs_inode inode;
	struct root root;
	int ret = root_open(&root, cx, s->check->vol, s->cno);

	/* One that an older block has as deleted is in use all the same. */
	if (!ret)
		ret = root_inode_bytes(&root, cx, s->ino, &inode);
	if (ret > 0)
		ret = find_inode(s, cx, &root, &h);
	return ret > 0 ? walk_inode(s, cx, &h, &inode) : ret;
}

static int walk_ifile(struct holders *s, struct context *cx)
{
	const struct holder h = {
		.ino = NILFS_IFILE_INO,
		.cno = s->cno,
		.is_inode = true,
		.life = { s->cno, s->cno + 1 },
		.end = UINT64_MAX,
	};
	struct nilfs_checkpoint cp;
	int ret = cptable_read(s->check->vol, cx, s->cno, &cp);

	return ret ? ret : walk_inode(s, cx, &h, &cp.cp_ifile_inode);
}

int holders_add(struct holders *s, struct context *cx, uint64_t cno,
		uint64_t ino, bool doubts)
{
	int ret;

	s->cno = cno;
	s->ino = ino;
	s->doubts = doubts;
	ret = ino == NILFS_IFILE_INO ? walk_ifile(s, cx) : walk_file(s, cx);
	ret = damage_forgive(cx, ret);
	return ret ? ret : context_cancelled(cx);
}

/* By inode and level, as nodes are derived before what leads to them. */
static int compare_holder(const void *a, const void *b)
{
	const struct holder *x = a, *y = b;

	if (x->ino != y->ino)
		return x->ino < y->ino ? -1 : 1;
	if (x->is_inode != y->is_inode)
		return x->is_inode ? 1 : -1;
	if (x->level != y->level)
		return x->level < y->level ? -1 : 1;
	if (x->vblocknr != y->vblocknr || !holder_is_entry(x))
		return x->vblocknr < y->vblocknr ? -1 :
						   x->vblocknr > y->vblocknr;
	return x->cno < y->cno ? -1 : x->cno > y->cno;
}

/* Whether any of the N holders LIST is wrong indeed. */
static bool is_any_wrong(const struct holder *list, size_t n)
{
	while (n--)
		if (!list[n].suspect)
			return true;
	return false;
}

/*
 * A block of the ifile that several checkpoints share is visited for each.  In
 * a map with actual errors there are no suspects.
 */
void holders_settle(struct holders *s)
{
	size_t i, next, kept = 0;
	bool wrong;

	sort_in_place(s->list, s->n, sizeof(*s->list), compare_holder);
	for (i = 0; i < s->n; i = next) {
		for (next = i;
		     next < s->n && s->list[next].ino == s->list[i].ino;)
			next++;
		wrong = is_any_wrong(s->list + i, next - i);
		for (; i < next; i++)
			if (!(wrong && s->list[i].suspect) &&
			    (!kept || compare_holder(&s->list[kept - 1],
						     &s->list[i])))
				s->list[kept++] = s->list[i];
	}
	s->n = kept;
}

int holders_init(struct holders *s, struct context *cx)
{
	vblocks_init(&s->vblocks[0], s->check->vol, NULL);
	vblocks_init(&s->vblocks[1], s->check->vol, NULL);
	return sparse_init(&s->seen, cx, vblocks_end(s->check->vol, cx));
}

void holders_fini(struct holders *s)
{
	free(s->list);
	sparse_fini(&s->seen);
	vblocks_fini(&s->vblocks[0]);
	vblocks_fini(&s->vblocks[1]);
}
