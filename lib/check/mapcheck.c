// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Check of a whole block map.
 *
 * The walk keeps one node per level, so its depth is that of the root, which is
 * bounded.  A node is checked as a whole before it is entered.  A node that
 * differs from its parent, or whose keys or pointers are invalid, is one
 * finding, and the blocks below it are skipped.  The keys of a node stay within
 * the range that its parent gives it, and a range is only ever divided, so the
 * walk ends on any tree.
 *
 * Only rules that the kernel relies on are checked: keys ascend, and the first
 * key of a node equals the key in its parent (nilfs_btree_promote_key(); a
 * lookup that meets its key in a parent follows the first pointers).  Sparse
 * nodes, roots that point to data, and B-trees for a few blocks are valid
 * results of deletions.
 *
 * The visitor checks whether a pointer leads to a block that exists and belongs
 * there.  A node that several maps share is checked once.  The keys in other
 * roots are compared with its first key, which costs at most three blocks per
 * root.
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
	uint64_t end;		/* keys are below this */
	struct lifetime life;	/* of the node */
};

struct walk {
	const struct mapcheck *m;
	unsigned int level;	/* level that the walk is at */
	unsigned int top;	/* level of the root */
	bool partial;		/* some node was not entered */
	struct level path[NILFS_BTREE_LEVEL_MAX];
};

/* Visits all data blocks of a direct map or of a node of the lowest level. */
static int mapcheck_visit_blocks(const struct mapcheck *m, struct context *cx,
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
 * Borrows the node at BLOCKNR that P leads to, and enters it: 1, or 0 if it
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
 * Visits the next child of the current node, a node itself, and enters it if it
 * is to be followed.  If it was visited before, possibly from another map, only
 * its first key is compared.
 */
static int mapcheck_visit_node(struct walk *w, struct context *cx)
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
		return mapcheck_visit_blocks(
			m, cx,
			&(struct mapcheck_blocks){
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
			err = mapcheck_visit_blocks(
				m, cx,
				&(struct mapcheck_blocks){
					.keys = l->node.keys,
					.ptrs = l->node.ptrs,
					.count = l->node.nchildren,
					.within = l->life,
				});
		} else {
			err = mapcheck_visit_node(&w, cx);
		}
	}
	for (; w.level <= w.top; w.level++)
		cache_put(m->vol->cache, w.path[w.level].block);
	return err ? err : w.partial;
}
