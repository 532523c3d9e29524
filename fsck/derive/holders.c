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
 *
 * Where several files lead to a block the checker blames the second that it
 * meets.  Whose the block is, is for the logs to say, so all of them are asked.
 */
#include "fsck/derive/holders.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "check/damage.h"
#include "check/inodes/inodelist.h"
#include "check/logs/lifelogs.h"
#include "disk/bmap.h"
#include "disk/inode.h"
#include "vol/cptable.h"
#include "vol/root.h"

int holders_judge(struct holders *s, struct context *cx, uint64_t ino,
		  const struct mapcheck_pointer *p, struct vblock *vb)
{
	int state = vblocks_find(&s->vblocks[p->level > 0], cx, p->ptr, vb);
	const struct lifetime life = { vb->start, vb->end };

	if (state < 0)
		return state;
	if (state != VBLOCKS_USED ||
	    !geometry_has_block(&s->check->vol->geo, vb->blocknr) ||
	    !lifetime_contains(&life, &p->within))
		return 0;
	/* A node that is not listed is reported once it is read; a log that
	   cannot be read may list the block. */
	return !s->logs_whole || p->level ||
	       pieces_has(s->pieces, ino, 0, p->key, p->ptr);
}

/* Adds H; one in which nothing wrong was seen, if the map is in doubt. */
static int add_holder(struct holders *s, struct context *cx,
		      const struct holder *h, bool suspect)
{
	if (suspect && !s->doubts)
		return 0;
	if (array_reserve(cx, &s->list, &s->room, s->n + 1))
		return -ENOMEM;
	s->list[s->n] = *h;
	s->list[s->n++].suspect = suspect;
	return 0;
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

/* The pointers of NODE, which is H or in it. */
static int walk_children(struct holders *s, struct context *cx,
			 const struct holder *h,
			 const struct bmap_node *node)
{
	bool bad = false;
	struct vblock vb;
	uint32_t i;
	int ret;

	for (i = 0; i < node->nchildren; i++) {
		const struct mapcheck_pointer p = pointer_of(h, node, i);

		ret = holders_judge(s, cx, s->ino, &p, &vb);
		if (ret > 0 && p.level) {
			const struct holder below = {
				.ino = s->ino,
				.cno = s->cno,
				.vblocknr = p.ptr,
				.blocknr = vb.blocknr,
				.life = { vb.start, vb.end },
				.level = p.level,
				.key = p.key,
				.end = i + 1u < node->nchildren ?
					       bmap_node_key(node, i + 1) :
					       h->end,
			};

			ret = walk_node(s, cx, &below);
		}
		if (ret < 0)
			return ret;
		bad |= !ret;
	}
	return add_holder(s, cx, h, !bad);
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

/*
 * Whether what leads to H is wrong about its keys, and not NODE, which is there:
 * no other node is where NODE says that it is, nothing is where it says that it
 * is not, and all its pointers are right.  1, 0.
 */
static int is_elsewhere(struct holders *s, struct context *cx,
			const struct holder *h, const struct bmap_node *node)
{
	uint64_t first = bmap_node_key(node, 0);
	uint64_t last = bmap_node_key(node, node->nchildren - 1u);
	struct vblock vb;
	uint32_t i;
	int ret = 1;

	if ((first != h->key && has_other(s, h, h->level, first, first + 1)) ||
	    has_other(s, h, h->level - 1, h->key, first) ||
	    (last >= h->end && has_other(s, h, h->level, h->end, h->end + 1)))
		return 0;
	for (i = 0; i < node->nchildren && ret > 0; i++) {
		const struct mapcheck_pointer p = pointer_of(h, node, i);

		ret = pieces_has(s->pieces, h->ino, p.level, p.key, p.ptr) ?
			      holders_judge(s, cx, h->ino, &p, &vb) : 0;
	}
	return ret;
}

/* 1, also where H, whose content is NODE or NULL, is wrong and is to be derived;
   0 where what leads to it is wrong. */
static int judge_node(struct holders *s, struct context *cx,
		      const struct holder *h, const struct bmap_node *node)
{
	struct segsum_block b;
	int ret;

	if (node && bmap_node_key(node, 0) == h->key &&
	    bmap_node_key(node, node->nchildren - 1u) < h->end) {
		if (s->logs_whole && !pieces_has(s->pieces, h->ino, h->level,
						 h->key, h->vblocknr))
			return 0;
		ret = damage_add(&s->seen, cx, h->vblocknr);
		if (ret > 0)
			ret = walk_children(s, cx, h, node);
		return ret < 0 ? ret : 1;
	}
	if (node) {
		ret = is_elsewhere(s, cx, h, node);
	} else {
		/* Its log may have it for another file, or for no node. */
		ret = lifelogs_find_block(cx, s->check, h->blocknr, &b, NULL);
		if (ret > 0)
			ret = b.ino != h->ino || !b.is_node ||
			      b.vblocknr != h->vblocknr;
	}
	if (ret)
		return ret < 0 ? ret : 0;
	ret = damage_add(&s->seen, cx, h->vblocknr);
	if (ret > 0)
		ret = add_holder(s, cx, h, false);
	return ret < 0 ? ret : 1;
}

/* As judge_node(), of what is there. */
static int walk_node(struct holders *s, struct context *cx,
		     const struct holder *h)
{
	uint32_t size = s->check->vol->geo.block_size;
	struct cache *cache = s->check->vol->cache;
	struct bmap_node node;
	const void *block;
	bool is_node;
	int ret = cache_get(cache, cx, h->blocknr, &block);

	if (ret == -EIO) {
		fail_clear(cx);
		return judge_node(s, cx, h, NULL);
	}
	if (ret)
		return ret;
	bmap_node_read(size, block, &node);
	is_node = bmap_node_check(size, block) == RULE_OK &&
		  node.level == h->level &&
		  bmap_node_check_entries(&node) == RULE_OK;
	ret = judge_node(s, cx, h, is_node ? &node : NULL);
	cache_put(cache, block);
	return ret;
}

static int walk_inode(struct holders *s, struct context *cx,
		      const struct holder *h,
		      const struct nilfs_inode *inode)
{
	struct mapcheck_pointer p = { .within = h->life };
	struct bmap_node root;
	struct vblock vb;
	int ret;

	if (!inode_has_bmap(inode))
		return 0;
	if (bmap_is_btree(inode->i_bmap)) {
		if (bmap_root_check(inode->i_bmap) != RULE_OK)
			return add_holder(s, cx, h, false);
		bmap_root_read(inode->i_bmap, &root);
		if (bmap_node_check_entries(&root) != RULE_OK)
			return add_holder(s, cx, h, false);
		return walk_children(s, cx, h, &root);
	}
	for (; p.key < NILFS_DIRECT_NBLOCKS; p.key++) {
		p.ptr = bmap_direct_ptr(inode->i_bmap, p.key);
		if (!p.ptr)
			continue;
		ret = holders_judge(s, cx, s->ino, &p, &vb);
		if (ret <= 0)
			return ret ? ret : add_holder(s, cx, h, false);
	}
	return add_holder(s, cx, h, true);
}

/* The inode of the current file and checkpoint, and in H the block of the ifile
   that has it: 1, 0 where there is none. */
static int find_inode(struct holders *s, struct context *cx, struct holder *h,
		      struct nilfs_inode *inode)
{
	struct volume *vol = s->check->vol;
	struct vblock vb;
	struct root root;
	int ret = root_open(&root, cx, vol, s->cno);

	/* One that an older block has as deleted is in use all the same. */
	if (!ret)
		ret = root_inode_bytes(&root, cx, s->ino, inode);
	h->blkoff = palloc_entry_blkoff(&vol->ifile_palloc, s->ino);
	if (ret > 0)
		ret = blockmap_lookup(&root.ifile.map, cx, h->blkoff,
				      &h->vblocknr);
	if (ret <= 0)
		return ret;
	ret = vblocks_find(&s->vblocks[0], cx, h->vblocknr, &vb);
	if (ret < 0)
		return ret;
	if (ret != VBLOCKS_USED || vb.start > s->cno || vb.end <= s->cno ||
	    !geometry_has_block(&vol->geo, vb.blocknr))
		return 0;
	h->blocknr = vb.blocknr;
	h->life = (struct lifetime){ vb.start, vb.end };
	return 1;
}

int holders_add(struct holders *s, struct context *cx, uint64_t cno,
		uint64_t ino, bool doubts)
{
	struct holder h = {
		.ino = ino, .cno = cno, .is_inode = true, .end = UINT64_MAX,
	};
	struct nilfs_checkpoint cp;
	struct nilfs_inode inode;
	int ret;

	s->cno = cno;
	s->ino = ino;
	s->doubts = doubts;
	if (ino == NILFS_IFILE_INO) {
		h.life = (struct lifetime){ cno, cno + 1 };
		ret = cptable_read(s->check->vol, cx, cno, &cp);
		if (!ret) {
			inode = cp.cp_ifile_inode;
			ret = 1;
		}
	} else {
		ret = find_inode(s, cx, &h, &inode);
	}
	if (ret > 0)
		ret = walk_inode(s, cx, &h, &inode);
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
		wrong = false;
		for (next = i;
		     next < s->n && s->list[next].ino == s->list[i].ino; next++)
			wrong |= !s->list[next].suspect;
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

/* Whether the map of INO in ROOT leads to one of the N blocks LIST: 1, 0. */
static int leads_to(struct root *root, struct context *cx, uint64_t ino,
		    const uint64_t *list, size_t n)
{
	struct blockmap_cursor cur;
	struct blockmap_item item;
	struct file file;
	bool found = false;
	size_t i;
	int ret = root_file(root, cx, ino, &file);

	if (ret || !inode_has_bmap(&file.inode))
		return damage_forgive(cx, ret);
	ret = blockmap_cursor_open(&cur, cx, &file.map, 0, true);
	while (!ret && !found &&
	       (ret = blockmap_cursor_next(&cur, cx, &item)) > 0) {
		i = search_lower_bound(list, n, item.ptr);
		found = i < n && list[i] == item.ptr;
		ret = 0;
	}
	blockmap_cursor_close(&cur);
	/* A map that is broken has its own findings. */
	return found ? 1 : damage_forgive(cx, ret);
}

int holders_of(struct volume *vol, struct context *cx, uint64_t cno,
	       const uint64_t *list, size_t n,
	       int (*found)(void *arg, struct context *cx, uint64_t ino),
	       void *arg)
{
	struct inodelist inodes = { .chunks = NULL };
	struct root root;
	unsigned int k;
	bool whole;
	size_t i;
	int ret;

	if (!n)
		return 0;
	ret = root_open(&root, cx, vol, cno);
	if (!ret)
		ret = inodelist_fill(&root, cx, &inodes, &whole);
	for (i = 0; i < inodes.nchunks && !ret; i++) {
		const struct inodelist_chunk *chunk = inodes.chunks[i];

		ret = context_cancelled(cx);
		for (k = 0; k < INODELIST_CHUNK && !ret; k++) {
			if (!(chunk->kind[k] & INODELIST_THERE))
				continue;
			ret = leads_to(&root, cx, chunk->first + k, list, n);
			if (ret > 0)
				ret = found(arg, cx, chunk->first + k);
		}
	}
	inodelist_fini(&inodes);
	return damage_forgive(cx, ret);
}
