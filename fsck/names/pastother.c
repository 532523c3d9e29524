// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A block of a directory of a snapshot, as other checkpoints have it.
 *
 * They are asked from the nearest on, before and after in turn; one that shares
 * the block, or has another directory by the number, is of no help.
 */
#include "fsck/names/pastother.h"

#include <sys/stat.h>

#include "base/search.h"
#include "check/damage.h"
#include "disk/inode.h"

/* Checkpoints that are asked at most. */
#define ASK_MOST 64

/* The block as checkpoint CNO has it, if that is another: 1, 0. */
static int read_other(struct pastother *o, struct context *cx, uint64_t cno)
{
	struct vblock vb;
	struct file file;
	uint64_t ptr = 0;
	int ret = root_open(&o->e->then, cx, o->p->job->vol, cno);

	if (!ret)
		ret = root_file(&o->e->then, cx, o->e->ino, &file);
	if (!ret && le32_get(file.inode.i_generation) ==
			    le32_get(o->generation))
		ret = blockmap_lookup(&file.map, cx, o->e->blkoff, &ptr);
	if (ret <= 0 || ptr == o->where.vblocknr)
		return ret < 0 ? damage_forgive(cx, ret) : 0;
	ret = vblocks_find(&o->p->vblocks, cx, ptr, &vb);
	if (ret != VBLOCKS_USED)
		return ret < 0 ? ret : 0;
	ret = volume_read_blocks(o->p->job->vol, cx, vb.blocknr, 1, o->e->other);
	return ret ? damage_forgive(cx, ret) : 1;
}

void pastother_begin(struct pastother *o)
{
	o->below = search_lower_bound(o->cnos, o->n, o->where.life.start);
	o->above = search_lower_bound(o->cnos, o->n, o->where.life.end);
	o->asked = 0;
}

int pastother_next(void *arg, struct context *cx)
{
	struct pastother *o = arg;
	int ret = 0;

	while (!ret && o->asked < ASK_MOST &&
	       (o->below || o->above < o->n)) {
		if (o->asked++ % 2 ? o->above < o->n : !o->below)
			ret = read_other(o, cx, o->cnos[o->above++]);
		else if (o->below)
			ret = read_other(o, cx, o->cnos[--o->below]);
		if (!ret)
			ret = context_cancelled(cx);
	}
	return ret;
}

/* 1 unless checkpoint CNO has a file of another type. */
static int has_dir(struct pastother *o, struct context *cx, uint64_t cno)
{
	struct nilfs_inode inode;
	int err = root_open(&o->e->then, cx, o->p->job->vol, cno);

	if (!err)
		err = root_inode(&o->e->then, cx, o->e->ino, &inode);
	if (err) {
		err = damage_forgive(cx, err);
		return err ? err : 1;
	}
	return S_ISDIR(le16_get(inode.i_mode)) ||
	       inode_check(&o->p->job->vol->geo, &inode, o->e->ino) != RULE_OK;
}

int pastother_is_dir(struct pastother *o, struct context *cx)
{
	size_t first, end;
	int ret = 1;

	pastother_begin(o);
	first = o->below ? o->below - 1 : 0;
	end = o->above < o->n ? o->above + 1 : o->n;
	for (; first < end && ret > 0; first++)
		ret = has_dir(o, cx, o->cnos[first]);
	return ret;
}
