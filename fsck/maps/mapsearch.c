// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Searching lost blocks in older checkpoints.
 *
 * The block of an older checkpoint at an offset was the file's content then.
 * If it is still live it is the current one; otherwise it is stale, which is
 * better than nothing if the file is known to have a block: at a pointer that
 * leads nowhere, in a directory, or if the logs cannot be read.
 */
#include "fsck/maps/mapfile.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/search.h"
#include "check/damage.h"
#include "disk/inode.h"
#include "vol/cptable.h"
#include "vol/root.h"

/* What is still looked for: blocks [BLKOFF, END). */
struct range {
	uint64_t blkoff, end;
	bool is_gap;		/* there may be none */
};

struct older {
	struct mapfiles *m;
	struct mapfile *f;
	uint64_t cno;
	struct file file;	/* F as it was then */
	struct vblocks vblocks;
	struct range *ranges;
	size_t n, room;
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

static bool is_doubted(const struct mapfiles *m, uint64_t vblocknr)
{
	size_t i = search_lower_bound(m->doubted, m->ndoubted, vblocknr);

	return i < m->ndoubted && m->doubted[i] == vblocknr;
}

/* Uses virtual block VBLOCKNR for block BLKOFF: 1, 0 where it is not one. */
static int take_older(struct older *o, struct context *cx, uint64_t blkoff,
		      uint64_t vblocknr)
{
	/* Of two checkpoints the later one. */
	struct liveblock b = { .blkoff = blkoff, .cno = o->cno, .seq = o->cno };
	struct vblock vb;
	int state = vblocks_find(&o->vblocks, cx, vblocknr, &vb);

	if (state < 0)
		return state;
	if (state != VBLOCKS_USED || vb.start > o->cno || vb.end <= o->cno ||
	    !geometry_has_block(&o->m->job->vol->geo, vb.blocknr) ||
	    is_doubted(o->m, vblocknr) || liveblocks_find(o->f->live, blkoff))
		return 0;
	b.blocknr = vb.blocknr;
	if (vb.end == NILFS_CNO_MAX)
		b.vblocknr = vblocknr;
	return liveblocks_add(o->f->live, cx, &b) ? -ENOMEM : 1;
}

/*
 * What the file of that time has of R.  1 where that is all there is to know: a
 * block, or a map that is not broken there as well (a node that is broken
 * mostly is for all that share it); 0.
 */
static int take_range(struct older *o, struct context *cx,
		      const struct range *r)
{
	struct blockmap_cursor cur;
	struct blockmap_item item = { .key = 0 };
	size_t n = o->f->live->n;
	int ret = blockmap_cursor_open(&cur, cx, &o->file.map, r->blkoff,
				       false);

	while (!ret && (ret = blockmap_cursor_next(&cur, cx, &item)) > 0) {
		ret = 0;
		if (item.key >= r->end)
			break;
		ret = take_older(o, cx, item.key, item.ptr);
		ret = ret < 0 ? ret : 0;
	}
	blockmap_cursor_close(&cur);
	if (ret < 0)
		return damage_forgive(cx, ret);
	return r->is_gap || o->f->live->n > n;
}

/* The file as of checkpoint CNO: 1, 0 where there was none, or unreadable. */
static int open_older(struct older *o, struct context *cx, uint64_t cno)
{
	struct root root;
	int err = root_open(&root, cx, o->m->job->vol, cno);

	o->cno = cno;
	if (!err)
		err = root_file(&root, cx, o->f->live->q.ino, &o->file);
	return err ? damage_forgive(cx, err) : is_same(o->f, &o->file.inode);
}

static int ask_checkpoint(struct older *o, struct context *cx, uint64_t cno)
{
	size_t i, left = 0;
	int ret = context_cancelled(cx);

	if (!ret)
		ret = open_older(o, cx, cno);
	for (i = 0; i < o->n && ret > 0; i++) {
		ret = take_range(o, cx, &o->ranges[i]);
		if (!ret)
			o->ranges[left++] = o->ranges[i];
		ret = ret < 0 ? ret : 1;
	}
	if (ret > 0)
		o->n = left;
	liveblocks_settle(o->f->live);
	return ret < 0 ? ret : 0;
}

static int add_range(struct older *o, struct context *cx, uint64_t blkoff,
		     uint64_t end, bool is_gap)
{
	if (array_reserve(cx, &o->ranges, &o->room, o->n + 1))
		return -ENOMEM;
	o->ranges[o->n++] = (struct range){ blkoff, end, is_gap };
	return 0;
}

/* Where all logs can be read a gap that they leave was a hole. */
static int list_ranges(struct older *o, struct context *cx)
{
	const struct liveblocks *l = o->f->live;
	bool dense = o->f->is_dir || o->f->is_link;
	size_t i;
	int err = 0;

	for (i = 0; i < l->nlost && !err; i++)
		if (!liveblocks_find(l, l->lost[i].blkoff))
			err = add_range(o, cx, l->lost[i].blkoff,
					l->lost[i].blkoff + 1, false);
	for (i = 0; i < l->ngaps && !err && (dense || !o->m->logs_whole); i++)
		err = add_range(o, cx, l->gaps[i].blkoff, l->gaps[i].end, true);
	return err;
}

static int ask_all(struct older *o, struct context *cx)
{
	uint64_t *cnos = NULL;
	size_t n = 0;
	int err = cptable_list(o->m->job->vol, cx, false, &cnos, &n);

	if (err)
		return damage_forgive(cx, err);
	while (n-- && o->n && !err)
		if (cnos[n] < o->m->job->vol->latest.cno)
			err = ask_checkpoint(o, cx, cnos[n]);
	free(cnos);
	return err;
}

int mapsearch_older(struct mapfiles *m, struct context *cx, struct mapfile *f)
{
	struct older o = { .m = m, .f = f };
	int err = list_ranges(&o, cx);

	vblocks_init(&o.vblocks, m->job->vol, NULL);
	if (!err && o.n)
		err = ask_all(&o, cx);
	vblocks_fini(&o.vblocks);
	free(o.ranges);
	return err;
}
