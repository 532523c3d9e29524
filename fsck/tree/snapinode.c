// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An inode of a snapshot, as other checkpoints have it.
 *
 * One with the same blocks and the same time of change is the same.  Another
 * one could be in its place if what it leads to lives as long.
 */
#include "fsck/tree/snapinode.h"

#include <string.h>

#include "base/search.h"
#include "check/damage.h"
#include "disk/bmap.h"
#include "disk/inode.h"
#include "fsck/tree/inoderepair.h"
#include "vol/root.h"

/* Checkpoints with another block of the ifile that are asked at most. */
#define ASK_MOST 256

/* Whether PTR leads to a block that lives as long as the inode: 1, 0. */
static int reaches(struct inodefix *s, struct context *cx,
		   const struct snapinode *pt, uint64_t ptr)
{
	struct vblock vb;
	int state = vblocks_find(&s->p->vblocks, cx, ptr, &vb);

	if (state < 0)
		return state;
	return state == VBLOCKS_USED && vb.start <= pt->where.life.start &&
	       vb.end >= pt->where.life.end;
}

/* Whether the blocks of INODE are there in the snapshot: 1, 0. */
static int fits(struct inodefix *s, struct context *cx,
		const struct snapinode *pt, const struct nilfs_inode *inode)
{
	struct bmap_node root;
	uint32_t i;
	int ret = 1;

	if (!inode_has_bmap(inode))
		return 1;
	if (!bmap_is_btree(inode->i_bmap)) {
		for (i = 0; i < NILFS_DIRECT_NBLOCKS && ret > 0; i++)
			if (bmap_direct_ptr(inode->i_bmap, i))
				ret = reaches(s, cx, pt, bmap_direct_ptr(
						inode->i_bmap, i));
		return ret;
	}
	bmap_root_read(inode->i_bmap, &root);
	for (i = 0; i < root.nchildren && ret > 0; i++)
		ret = reaches(s, cx, pt, bmap_node_ptr(&root, i));
	return ret;
}

static bool is_same(const struct nilfs_inode *a, const struct nilfs_inode *b)
{
	return le64_get(a->i_ctime) == le64_get(b->i_ctime) &&
	       le32_get(a->i_generation) == le32_get(b->i_generation) &&
	       !memcmp(a->i_bmap, b->i_bmap, sizeof(a->i_bmap));
}

/* 1 where checkpoint CNO has the inode as it was, 0 where it has not. */
static int ask_checkpoint(struct inodefix *s, struct context *cx,
			  struct snapinode *pt, uint64_t cno)
{
	struct nilfs_inode inode;
	struct root root;
	enum rule rule;
	int ret = root_open(&root, cx, s->vol, cno);

	if (!ret)
		ret = root_inode(&root, cx, pt->ino, &inode);
	if (ret)
		return damage_forgive(cx, ret);
	ret = inoderepair_judge(s->vol, cx, pt->ino, &inode, &rule);
	if (ret || rule != RULE_OK)
		return ret;
	if (is_same(&inode, &pt->inode)) {
		pt->other = inode;
		pt->found_cno = cno;
		return 1;
	}
	ret = pt->found ? 0 : fits(s, cx, pt, &inode);
	if (!ret && !pt->near_cno) {
		pt->near = inode;
		pt->near_cno = cno;
	}
	if (ret <= 0)
		return ret;
	pt->found = true;
	pt->found_cno = cno;
	pt->other = inode;
	return 0;
}

int snapinode_ask(struct inodefix *s, struct context *cx,
		  struct snapinode *pt)
{
	size_t below = search_lower_bound(s->cnos, s->n,
					  pt->where.life.start);
	size_t above = search_lower_bound(s->cnos, s->n, pt->where.life.end);
	unsigned int asked;
	int ret = 0;

	for (asked = 0; asked < ASK_MOST && !ret; asked++) {
		if (asked % 2 ? below > 0 : above == s->n && below > 0)
			ret = ask_checkpoint(s, cx, pt, s->cnos[--below]);
		else if (above < s->n)
			ret = ask_checkpoint(s, cx, pt, s->cnos[above++]);
		if (!ret)
			ret = context_cancelled(cx);
	}
	return ret;
}
