// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A block map walked whole and checked.
 *
 * The walk stands on one node per level and holds no more than these, so its
 * depth is that of the root, which is bounded.  A node is checked as a whole
 * before it is entered: a node that is not what its parent says, or whose keys
 * or pointers make no sense, is one finding, and what is below it is left
 * alone.  Because the keys of a node keep to the range that its parent gives
 * it, and a range is only ever divided, the walk ends on any tree.
 *
 * What the kernel keeps to is asked, no more: keys ascend, and the first one
 * of a node is the key that its parent has for it (nilfs_btree_promote_key();
 * a lookup that meets its key in a parent goes down by the first pointers).
 * Nodes that are hardly filled, roots that point straight to data, B-trees for
 * a few blocks at the start of a file: all that is left after by deletions.
 *
 * Whether a pointer leads to a block that exists and belongs there is asked
 * by the visitor.  Of nodes that several maps share each is checked once; what
 * other roots say of them is held against their first keys, which costs no more
 * than three blocks for a root.
 */
#include "check/mapcheck.h"

#include <errno.h>

#include "disk/bmap.h"
#include "vol/volume.h"

struct level {
	const void *block;	/* borrowed from the cache; NULL: the root */
	struct bmap_node node;
	unsigned int index;	/* next child to visit */
	uint64_t end;		/* keys stay below this */
	struct lifetime life;	/* of the node */
};

struct walk {
	const struct mapcheck *m;
	unsigned int level;	/* the position of the walk */
	unsigned int top;	/* level of the root */
	bool partial;		/* something was not entered */
	struct level path[NILFS_BTREE_LEVEL_MAX];
};

static struct place place_of(const struct mapcheck *m, uint64_t key,
			     unsigned int level)
{
	return place_map(m->cno, m->ino, key, level);
}

static int check_direct(const struct mapcheck *m, struct context *cx,
			const le64 *map)
{
	const struct mapcheck_blocks blocks = {
		.ptrs = map + 1,
		.count = NILFS_DIRECT_NBLOCKS,
		.within = m->within,
	};
	struct mapcheck_pointer p = { .within = m->within };
	struct lifetime life;
	uint64_t blocknr;

	if (m->visit_blocks)
		return m->visit_blocks(m->arg, cx, &blocks);
	for (; p.key < NILFS_DIRECT_NBLOCKS; p.key++) {
		int ret;

		p.ptr = bmap_direct_ptr(map, p.key);
		if (!p.ptr)
			continue;
		ret = m->visit(m->arg, cx, &p, &blocknr, &life);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/*
 * Whether the node just read does not match the pointer to it, of KEY and a
 * node of LEVEL; true if it was reported.
 */
static bool report_node(const struct walk *w, const struct level *l,
			uint64_t key, unsigned int level)
{
	const struct mapcheck *m = w->m;
	struct place place = place_of(m, key, level);
	enum rule rule = bmap_node_check(m->vol->geo.block_size, l->block);
	uint64_t first, last;

	if (rule == RULE_OK && l->node.level != level) {
		findings_differ(m->findings, RULE_BMAP_NODE_LEVEL, place,
				level, l->node.level);
		return true;
	}
	if (rule == RULE_OK)
		rule = bmap_node_check_entries(&l->node);
	if (rule != RULE_OK) {
		findings_broken(m->findings, rule, place);
		return true;
	}
	first = bmap_node_key(&l->node, 0);
	last = bmap_node_key(&l->node, l->node.nchildren - 1u);
	if (first != key) {
		findings_differ(m->findings, RULE_BMAP_FIRST_KEY, place, key,
				first);
		return true;
	}
	if (last >= l->end) {
		findings_differ(m->findings, RULE_BMAP_KEY_RANGE, place,
				l->end - 1, last);
		return true;
	}
	return false;
}

static int skip_node(const struct mapcheck *m, struct context *cx, uint64_t key,
		     uint64_t end)
{
	return m->skip ? m->skip(m->arg, cx, key, end) : 0;
}

/*
 * Borrows the node at BLOCKNR that P, of a node whose keys end at END, leads
 * to, and enters it.  One that is broken or cannot be read is reported.
 */
static int enter_node(struct walk *w, struct context *cx,
		      const struct mapcheck_pointer *p, uint64_t end,
		      uint64_t blocknr, const struct lifetime *life)
{
	const struct mapcheck *m = w->m;
	struct level *l = &w->path[p->level];
	int err;

	err = cache_get(m->vol->cache, cx, blocknr, &l->block);
	if (err == -EIO) {
		findings_failed(m->findings, cx, RULE_DEV_UNREADABLE,
				place_of(m, p->key, p->level));
		w->partial = true;
		return skip_node(m, cx, p->key, end);
	}
	if (err)
		return err;
	bmap_node_read(m->vol->geo.block_size, l->block, &l->node);
	l->index = 0;
	l->end = end;
	l->life = *life;
	if (report_node(w, l, p->key, p->level)) {
		cache_put(m->vol->cache, l->block);
		w->partial = true;
		return skip_node(m, cx, p->key, end);
	}
	w->level = p->level;
	return context_cancelled(cx);
}

static struct mapcheck_pointer pointer_of(const struct walk *w,
					  const struct level *l)
{
	return (struct mapcheck_pointer){
		.key = bmap_node_key(&l->node, l->index),
		.ptr = bmap_node_ptr(&l->node, l->index),
		.level = w->level - 1,
		.within = l->life,
	};
}

/*
 * Whether the node at BLOCKNR, all of it seen before, begins with the key of P:
 * what leads to it now may be another map.
 */
static int check_seen(struct walk *w, struct context *cx,
		      const struct mapcheck_pointer *p, uint64_t blocknr)
{
	const struct mapcheck *m = w->m;
	uint32_t size = m->vol->geo.block_size;
	struct bmap_node node;
	const void *block;
	uint64_t first;
	int err = cache_get(m->vol->cache, cx, blocknr, &block);

	if (err == -EIO)
		fail_clear(cx);
	if (err)
		return err == -EIO ? 0 : err;
	bmap_node_read(size, block, &node);
	first = p->key;
	if (bmap_node_check(size, block) == RULE_OK && node.nchildren)
		first = bmap_node_key(&node, 0);
	cache_put(m->vol->cache, block);
	if (first != p->key) {
		findings_differ(m->findings, RULE_BMAP_FIRST_KEY,
				place_of(m, p->key, p->level), p->key, first);
		w->partial = true;
	}
	return 0;
}

static int visit_node(struct walk *w, struct context *cx)
{
	struct level *l = &w->path[w->level];
	struct mapcheck_pointer p = pointer_of(w, l);
	struct lifetime life = p.within;
	uint64_t end = l->end, blocknr = 0;
	int ret;

	if (++l->index < l->node.nchildren)
		end = bmap_node_key(&l->node, l->index);
	ret = w->m->visit(w->m->arg, cx, &p, &blocknr, &life);
	if (!ret && blocknr && w->level == w->top)
		ret = check_seen(w, cx, &p, blocknr);
	if (!ret)
		return skip_node(w->m, cx, p.key, end);
	if (ret < 0)
		return ret;
	return enter_node(w, cx, &p, end, blocknr, &life);
}

/* Visits all that a node of the lowest level points to. */
static int visit_blocks(struct walk *w, struct context *cx)
{
	struct level *l = &w->path[w->level];
	const struct mapcheck_blocks blocks = {
		.keys = l->node.keys,
		.ptrs = l->node.ptrs,
		.count = l->node.nchildren,
		.within = l->life,
	};
	struct lifetime life;
	uint64_t blocknr;
	int ret;

	if (w->m->visit_blocks) {
		l->index = l->node.nchildren;
		return w->m->visit_blocks(w->m->arg, cx, &blocks);
	}
	for (; l->index < l->node.nchildren; l->index++) {
		struct mapcheck_pointer p = pointer_of(w, l);

		ret = w->m->visit(w->m->arg, cx, &p, &blocknr, &life);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static void leave_node(struct walk *w)
{
	cache_put(w->m->vol->cache, w->path[w->level].block);
	w->level++;
}

int mapcheck_run(const struct mapcheck *m, struct context *cx,
		 const struct nilfs_inode *inode)
{
	enum rule rule;
	struct level *l;
	struct walk w;
	int err = 0;

	if (!bmap_is_btree(inode->i_bmap))
		return check_direct(m, cx, inode->i_bmap);

	w.m = m;
	w.partial = false;
	rule = bmap_root_check(inode->i_bmap);
	if (rule == RULE_OK) {
		struct bmap_node node;

		bmap_root_read(inode->i_bmap, &node);
		w.level = w.top = node.level;
		l = &w.path[w.top];
		l->block = NULL;
		l->node = node;
		l->index = 0;
		l->end = UINT64_MAX;
		l->life = m->within;
		rule = bmap_node_check_entries(&node);
	}
	if (rule != RULE_OK) {
		findings_broken(m->findings, rule, place_inode(m->cno, m->ino));
		err = skip_node(m, cx, 0, UINT64_MAX);
		return err ? err : 1;
	}
	while (w.level <= w.top && !err) {
		l = &w.path[w.level];
		if (l->index == l->node.nchildren)
			leave_node(&w);
		else if (w.level == NILFS_BTREE_LEVEL_NODE_MIN)
			err = visit_blocks(&w, cx);
		else
			err = visit_node(&w, cx);
	}
	while (w.level <= w.top)
		leave_node(&w);
	return err ? err : w.partial;
}
