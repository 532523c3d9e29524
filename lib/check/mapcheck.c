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

#include "check/damage.h"
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

/* Data blocks: all that a direct map or a node of the lowest level points to. */
static int visit_blocks(const struct mapcheck *m, struct context *cx,
			const struct mapcheck_blocks *blocks)
{
	struct mapcheck_pointer p = { .within = blocks->within };
	struct lifetime life;
	uint64_t blocknr;
	uint32_t i;
	int ret = 0;

	if (m->visit_blocks)
		return m->visit_blocks(m->arg, cx, blocks);
	for (i = 0; i < blocks->count && ret >= 0; i++) {
		p.key = blocks->keys ? le64_get(blocks->keys[i]) : i;
		p.ptr = le64_get(blocks->ptrs[i]);
		if (blocks->keys || p.ptr)
			ret = m->visit(m->arg, cx, &p, &blocknr, &life);
	}
	return ret < 0 ? ret : 0;
}

/*
 * Borrows the node at BLOCKNR that P leads to, and enters it: 1, or 0 where it
 * cannot be read or does not match P, which is reported.
 */
static int enter_node(struct walk *w, struct context *cx,
		      const struct mapcheck_pointer *p, uint64_t end,
		      uint64_t blocknr, const struct lifetime *life)
{
	const struct mapcheck *m = w->m;
	struct place place = place_map(m->cno, m->ino, p->key, p->level);
	struct level *l = &w->path[p->level];
	uint64_t first, last;
	enum rule rule;
	int err = cache_get(m->vol->cache, cx, blocknr, &l->block);

	if (err == -EIO)
		findings_failed(m->findings, cx, RULE_DEV_UNREADABLE, place);
	if (err)
		return err == -EIO ? 0 : err;
	bmap_node_read(m->vol->geo.block_size, l->block, &l->node);
	l->index = 0;
	l->end = end;
	l->life = *life;
	rule = bmap_node_check(m->vol->geo.block_size, l->block);
	if (rule == RULE_OK && l->node.level != p->level) {
		findings_differ(m->findings, RULE_BMAP_NODE_LEVEL, place,
				p->level, l->node.level);
		goto refused;
	}
	if (rule == RULE_OK)
		rule = bmap_node_check_entries(&l->node);
	if (rule != RULE_OK) {
		findings_broken(m->findings, rule, place);
		goto refused;
	}
	first = bmap_node_key(&l->node, 0);
	last = bmap_node_key(&l->node, l->node.nchildren - 1u);
	if (first == p->key && last < end) {
		w->level = p->level;
		err = context_cancelled(cx);
		return err ? err : 1;
	}
	if (first != p->key)
		findings_differ(m->findings, RULE_BMAP_FIRST_KEY, place,
				p->key, first);
	else
		findings_differ(m->findings, RULE_BMAP_KEY_RANGE, place,
				end - 1, last);
refused:
	cache_put(m->vol->cache, l->block);
	return 0;
}

/*
 * Visits the next child of the present node, which is a node, and enters it if it
 * is to be followed.  Of one that was seen before, of which what leads to it now
 * may be another map, the first key is compared.
 */
static int visit_node(struct walk *w, struct context *cx)
{
	const struct mapcheck *m = w->m;
	struct level *l = &w->path[w->level];
	struct mapcheck_pointer p = {
		.key = bmap_node_key(&l->node, l->index),
		.ptr = bmap_node_ptr(&l->node, l->index),
		.level = w->level - 1,
		.within = l->life,
	};
	struct lifetime life = p.within;
	uint64_t end = l->end, blocknr = 0, first;
	unsigned int level;
	int ret;

	if (++l->index < l->node.nchildren)
		end = bmap_node_key(&l->node, l->index);
	ret = m->visit(m->arg, cx, &p, &blocknr, &life);
	if (ret > 0) {
		ret = enter_node(w, cx, &p, end, blocknr, &life);
		w->partial |= !ret;
	} else if (!ret && blocknr && w->level == w->top) {
		ret = blockmap_identify(m->vol, cx, blocknr, &level, &first);
		if (ret > 0 && first != p.key) {
			findings_differ(m->findings, RULE_BMAP_FIRST_KEY,
					place_map(m->cno, m->ino, p.key,
						  p.level), p.key, first);
			w->partial = true;
		}
		ret = damage_forgive(cx, ret < 0 ? ret : 0);
	}
	if (ret)
		return ret < 0 ? ret : 0;
	return m->skip ? m->skip(m->arg, cx, p.key, end) : 0;
}

int mapcheck_run(const struct mapcheck *m, struct context *cx,
		 const struct nilfs_inode *inode)
{
	enum rule rule;
	struct level *l;
	struct walk w;
	int err = 0;

	if (!bmap_is_btree(inode->i_bmap))
		return visit_blocks(m, cx, &(struct mapcheck_blocks){
			.ptrs = inode->i_bmap + 1,
			.count = NILFS_DIRECT_NBLOCKS,
			.within = m->within,
		});

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
		if (m->skip)
			err = m->skip(m->arg, cx, 0, UINT64_MAX);
		return err ? err : 1;
	}
	while (w.level <= w.top && !err) {
		l = &w.path[w.level];
		if (l->index == l->node.nchildren) {
			cache_put(m->vol->cache, l->block);
			w.level++;
		} else if (w.level == NILFS_BTREE_LEVEL_NODE_MIN) {
			l->index = l->node.nchildren;
			err = visit_blocks(m, cx, &(struct mapcheck_blocks){
				.keys = l->node.keys,
				.ptrs = l->node.ptrs,
				.count = l->node.nchildren,
				.within = l->life,
			});
		} else {
			err = visit_node(&w, cx);
		}
	}
	for (; w.level <= w.top; w.level++)
		cache_put(m->vol->cache, w.path[w.level].block);
	return err ? err : w.partial;
}
