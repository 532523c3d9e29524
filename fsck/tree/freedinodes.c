// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Inodes of the latest state that are marked free, but in use.
 *
 * The mark and the inode were lost together.  The inode existed if a directory
 * names it, or if the logs list blocks of it that are live by the DAT.
 */
#include "fsck/tree/inodeedit.h"

#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "check/logs/listings.h"
#include "disk/inode.h"

/* Restores inode INO, empty or garbage and marked free, if logs and checkpoints
   show that it is in use, NAMED or not: 1, 0. */
static int restore_freed_inode(struct inodeedit *e, struct context *cx,
			       uint64_t ino, bool named)
{
	struct inodecase c;
	int ret = inodeedit_is_used(e, cx, e->latest, ino);

	if (ret || inode_is_private(ino))
		return ret < 0 ? ret : 0;
	ret = inodeedit_case(e, cx, e->latest, ino, &c);
	if (ret <= 0 || (!inode_is_empty(&c.inode) &&
			 !inode_is_garbage(e->geo, &c.inode)))
		return ret < 0 ? ret : 0;
	memset(&c.inode, 0, sizeof(c.inode));
	c.must_live = true;
	c.named = named;
	ret = inodeedit_decide(e, cx, &c);
	if (ret <= 0)
		return ret;
	ret = inodeedit_mark(e, cx, e->latest, ino, true);
	return ret < 0 ? ret : 1;
}

int freedinodes_restore(struct fixer_job *job, struct context *cx,
			const uint64_t *inos, size_t n, bool named)
{
	struct palloc_block what;
	struct inodeedit e;
	uint64_t ino, looked_at = UINT64_MAX;
	size_t i;
	int ret, found = 0;

	ret = inodeedit_open(&e, cx, job, NULL, inos, n);
	for (i = 0; i < n && ret >= 0; i++) {
		uint64_t blkoff = palloc_entry_blkoff(e.palloc, inos[i]);

		ret = restore_freed_inode(&e, cx, inos[i], named);
		found += ret > 0;
		if (ret <= 0 || looked_at == blkoff)
			continue;
		looked_at = blkoff;
		palloc_locate(e.palloc, blkoff, &what);
		for (ino = what.first;
		     ino < what.first + what.count && ret >= 0; ino++) {
			ret = restore_freed_inode(&e, cx, ino, false);
			found += ret > 0;
		}
	}
	ret = inodeedit_close(&e, cx, ret < 0 ? ret : 0);
	return ret ? ret : found;
}

/* Adds the inode of a live block to E if it is marked free. */
static int take_owner(void *arg, struct context *cx, const struct listing *b)
{
	struct inodeedit *e = arg;
	struct vblock vb;
	int ret;

	if (inode_is_private(b->ino) || (e->n && e->inos[e->n - 1] == b->ino))
		return 0;
	ret = vblocks_find(&e->vblocks, cx, b->number, &vb);
	if (ret != VBLOCKS_USED || vb.life.end != NILFS_CNO_MAX ||
	    vb.blocknr != b->blocknr)
		return ret < 0 ? ret : 0;
	ret = inodeedit_is_used(e, cx, e->latest, b->ino);
	if (ret)
		return ret < 0 ? ret : 0;
	return array_push(cx, &e->inos, &e->n, &e->room, b->ino);
}

int freedinodes_leaked(struct fixer_job *job, struct context *cx)
{
	struct inodeedit e;
	int ret = inodeedit_open(&e, cx, job, NULL, NULL, 0);

	if (!ret)
		ret = listings_visit(job->check, cx, take_owner, &e);
	e.n = sort_unique(e.inos, e.n);
	if (!ret && e.n)
		ret = freedinodes_restore(job, cx, e.inos, e.n, false);
	return inodeedit_close(&e, cx, ret < 0 ? ret : 0);
}
