// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lost blocks, looked for in older checkpoints.
 *
 * What an older checkpoint has at a place is what was there then.  Where it
 * lives still it is what is there now; else it is old, and better than nothing
 * where the file is known to have a block, that is at a pointer that leads
 * nowhere, in a directory, or where the logs cannot be asked.
 */
#include "fsck/maps/mapolder.h"

#include <stdlib.h>

#include "check/damage.h"
#include "disk/inode.h"
#include "vol/cptable.h"
#include "vol/root.h"

struct older {
	struct mapfiles *m;
	const struct mapfile *f;
	uint64_t cno;
	struct file file;	/* F as it was then */
	struct vblocks vblocks;
	bool left;		/* a point is not found yet */
};

/* True where INODE of an older checkpoint is the same file as F. */
static bool is_same(const struct mapfile *f, const struct nilfs_inode *inode)
{
	uint16_t type = inode_dirent_type(le16_get(f->inode.i_mode));

	return inode_has_bmap(inode) &&
	       inode_dirent_type(le16_get(inode->i_mode)) == type &&
	       le32_get(inode->i_generation) ==
		       le32_get(f->inode.i_generation);
}

/* Whether a log says that VBLOCKNR is something else than block BLKOFF. */
static bool is_other(const struct older *o, uint64_t blkoff,
		     uint64_t vblocknr)
{
	const struct contested_block *b = contested_find(&o->m->contested,
							 vblocknr);

	return b && b->known && !contested_is_of(b, o->f->ino, blkoff, 0);
}

/* Takes virtual block VBLOCKNR for block BLKOFF; OLD where it may be dead. */
static int take(struct older *o, struct context *cx, uint64_t blkoff,
		uint64_t vblocknr, bool old)
{
	struct mapfound_run run = {
		.ino = o->f->ino,
		.blkoff = blkoff,
		.count = 1,
		.cno = o->cno,
	};
	struct vblock vb;
	int state = vblocks_find(&o->vblocks, cx, vblocknr, &vb);

	if (state < 0)
		return state;
	if (is_other(o, blkoff, vblocknr))
		return 0;
	if (state != VBLOCKS_USED || vb.start > o->cno || vb.end <= o->cno ||
	    !geometry_has_block(&o->m->job->vol->geo, vb.blocknr))
		return 0;
	run.blocknr = vb.blocknr;
	if (vb.end == NILFS_CNO_MAX)
		run.vblocknr = vblocknr;
	else if (!old)
		return 0;
	return mapfound_add(&o->m->found, cx, &run);
}

static int take_points(struct older *o, struct context *cx)
{
	const struct maploss *l = &o->m->loss;
	size_t i = maploss_first_point(l, o->f->ino);
	uint64_t vblocknr;
	int ret = 0;

	o->left = false;
	for (; i < l->npoints && l->points[i].ino == o->f->ino; i++) {
		uint64_t blkoff = l->points[i].blkoff;

		if (mapfound_has(&o->m->found, o->f->ino, blkoff))
			continue;
		ret = blockmap_lookup(&o->file.map, cx, blkoff, &vblocknr);
		if (ret > 0)
			ret = take(o, cx, blkoff, vblocknr, true);
		if (ret < 0 && !damage_is(ret))
			return ret;
		fail_clear(cx);
		o->left = true;
	}
	return 0;
}

/* 1, or 0 where the map of that time is broken there as well. */
static int take_gap(struct older *o, struct context *cx,
		    const struct maploss_gap *gap)
{
	bool old = o->f->is_dir || !o->m->logs_whole;
	struct blockmap_cursor cur;
	struct blockmap_item item;
	int ret = blockmap_cursor_open(&cur, cx, &o->file.map, gap->blkoff,
				       false);

	while (!ret && (ret = blockmap_cursor_next(&cur, cx, &item)) > 0) {
		if (item.key >= gap->end) {
			ret = 0;
			break;
		}
		ret = take(o, cx, item.key, item.ptr, old);
	}
	blockmap_cursor_close(&cur);
	if (!ret || !damage_is(ret))
		return ret < 0 ? ret : 1;
	fail_clear(cx);
	return 0;
}

/* 1, or 0 where some of them are gaps in the map of that time too. */
static int take_gaps(struct older *o, struct context *cx)
{
	const struct maploss *l = &o->m->loss;
	size_t i = maploss_first_gap(l, o->f->ino);
	int ret, whole = 1;

	for (; i < l->ngaps && l->gaps[i].ino == o->f->ino; i++) {
		ret = take_gap(o, cx, &l->gaps[i]);
		if (ret < 0)
			return ret;
		whole &= ret;
	}
	return whole;
}

/* F as of checkpoint CNO: 1, 0 where there was no such file, or unreadable. */
static int open_older(struct older *o, struct context *cx, uint64_t cno)
{
	struct root root;
	int err = root_open(&root, cx, o->m->job->vol, cno);

	o->cno = cno;
	if (!err)
		err = root_file(&root, cx, o->f->ino, &o->file);
	return err ? damage_forgive(cx, err) : is_same(o->f, &o->file.inode);
}

/*
 * One file: its gaps from the newest checkpoint that has it and up to the first
 * whose map has none there (a node that is broken mostly is for all that share
 * it), its points from the newest that has a block there.
 */
static int search_file(struct older *o, struct context *cx,
		       const uint64_t *cnos, size_t n)
{
	bool gaps = true;
	int ret = 0;

	o->left = true;
	while (n-- && (o->left || gaps) && ret >= 0) {
		ret = context_cancelled(cx);
		if (!ret)
			ret = open_older(o, cx, cnos[n]);
		if (ret <= 0)
			continue;
		ret = take_points(o, cx);
		if (!ret && gaps)
			ret = take_gaps(o, cx);
		gaps = gaps && !ret;
		if (ret >= 0)
			ret = mapfound_settle(&o->m->found, cx);
	}
	return ret < 0 ? ret : 0;
}

/* Whether there is more to be found of F than the logs had. */
static bool is_wanted(const struct mapfiles *m, const struct mapfile *f)
{
	size_t i = maploss_first_point(&m->loss, f->ino);
	size_t gap = maploss_first_gap(&m->loss, f->ino);

	if (f->broken && gap < m->loss.ngaps &&
	    m->loss.gaps[gap].ino == f->ino && (f->is_dir || !m->logs_whole))
		return true;
	for (; i < m->loss.npoints && m->loss.points[i].ino == f->ino; i++)
		if (!mapfound_has(&m->found, f->ino, m->loss.points[i].blkoff))
			return true;
	return false;
}

int mapolder_search(struct mapfiles *m, struct context *cx)
{
	struct older o = { .m = m };
	uint64_t *cnos = NULL;
	size_t count = 0, i;
	int err = cptable_list(m->job->vol, cx, false, &cnos, &count);

	if (err)
		return damage_forgive(cx, err);
	while (count && cnos[count - 1] >= m->job->vol->latest.cno)
		count--;
	vblocks_init(&o.vblocks, m->job->vol);
	for (i = 0; i < m->n && !err; i++) {
		o.f = &m->list[i];
		if (is_wanted(m, o.f))
			err = search_file(&o, cx, cnos, count);
	}
	vblocks_fini(&o.vblocks);
	free(cnos);
	return err;
}
