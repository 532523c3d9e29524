// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Searching lost blocks in the logs.
 *
 * A log lists the file and offset of each of its blocks.  If the DAT still has
 * a live block there, it was not removed from the file since, and is the very
 * block that the map has lost: if all logs are readable a file is restored
 * completely, and missing offsets were holes.  If a pointer is left but the DAT
 * has no entry for it, the log at least has the content that was written under
 * that number.
 *
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
#include "base/sort.h"
#include "check/damage.h"
#include "check/listings.h"
#include "disk/inode.h"
#include "vol/cptable.h"
#include "vol/root.h"

static int add_found(struct mapfile *f, struct context *cx,
		     const struct mapfile_found *found)
{
	if (array_reserve(cx, &f->found, &f->found_room, f->nfound + 1))
		return -ENOMEM;
	f->found[f->nfound++] = *found;
	return 0;
}

/* One that lives before a copy, of a log before one of a checkpoint, the later
   one. */
static bool is_better(const struct mapfile_found *a,
		      const struct mapfile_found *b)
{
	if (!a->vblocknr != !b->vblocknr)
		return a->vblocknr;
	if (!a->cno != !b->cno)
		return !a->cno;
	if (a->cno != b->cno)
		return a->cno > b->cno;
	return a->seq != b->seq ? a->seq > b->seq : a->blocknr > b->blocknr;
}

static int compare_found(const void *a, const void *b)
{
	const struct mapfile_found *x = a, *y = b;

	if (x->blkoff != y->blkoff)
		return x->blkoff < y->blkoff ? -1 : 1;
	return is_better(y, x) - is_better(x, y);
}

/* Sorts what was found and leaves the best of each block. */
static void settle_found(struct mapfile *f)
{
	size_t i, kept = 0;

	sort_in_place(f->found, f->nfound, sizeof(*f->found), compare_found);
	for (i = 0; i < f->nfound; i++)
		if (!kept || f->found[kept - 1].blkoff != f->found[i].blkoff)
			f->found[kept++] = f->found[i];
	f->nfound = f->settled = kept;
}

struct older {
	struct mapfiles *m;
	struct mapfile *f;
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

/* Whether a log lists VBLOCKNR as anything but block BLKOFF. */
static bool is_other(const struct older *o, uint64_t blkoff,
		     uint64_t vblocknr)
{
	const struct contested *b = contested_find(o->m, vblocknr);

	return b && b->known && !contested_is_of(b, o->f->ino, blkoff, 0);
}

/* Uses virtual block VBLOCKNR for block BLKOFF; OLD if it may be dead. */
static int take_older(struct older *o, struct context *cx, uint64_t blkoff,
		      uint64_t vblocknr, bool old)
{
	struct mapfile_found found = { .blkoff = blkoff, .cno = o->cno };
	struct vblock vb;
	int state = vblocks_find(&o->vblocks, cx, vblocknr, &vb);

	if (state < 0)
		return state;
	if (is_other(o, blkoff, vblocknr))
		return 0;
	if (state != VBLOCKS_USED || vb.start > o->cno || vb.end <= o->cno ||
	    !geometry_has_block(&o->m->job->vol->geo, vb.blocknr))
		return 0;
	found.blocknr = vb.blocknr;
	if (vb.end == NILFS_CNO_MAX)
		found.vblocknr = vblocknr;
	else if (!old)
		return 0;
	return add_found(o->f, cx, &found);
}

static int take_points(struct older *o, struct context *cx)
{
	uint64_t vblocknr;
	size_t i;
	int ret = 0;

	o->left = false;
	for (i = 0; i < o->f->npoints; i++) {
		uint64_t blkoff = o->f->points[i].blkoff;

		if (mapfile_found(o->f, blkoff))
			continue;
		ret = blockmap_lookup(&o->file.map, cx, blkoff, &vblocknr);
		if (ret > 0)
			ret = take_older(o, cx, blkoff, vblocknr, true);
		if (ret < 0 && !damage_is(ret))
			return ret;
		fail_clear(cx);
		o->left = true;
	}
	return 0;
}

/* 1, or 0 where the map of that time is broken there as well. */
static int take_gap(struct older *o, struct context *cx,
		    const struct mapfile_gap *gap)
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
		ret = take_older(o, cx, item.key, item.ptr, old);
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
	int ret, whole = 1;
	size_t i;

	for (i = 0; i < o->f->ngaps; i++) {
		ret = take_gap(o, cx, &o->f->gaps[i]);
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
		settle_found(o->f);
	}
	return ret < 0 ? ret : 0;
}

/* Whether there is more to be found of F than the logs had. */
static bool is_wanted(const struct mapfiles *m, const struct mapfile *f)
{
	size_t i;

	if (f->broken && f->ngaps && (f->is_dir || !m->logs_whole))
		return true;
	for (i = 0; i < f->npoints; i++)
		if (!mapfile_found(f, f->points[i].blkoff))
			return true;
	return false;
}

int mapsearch_older(struct mapfiles *m, struct context *cx)
{
	struct older o = { .m = m };
	uint64_t *cnos = NULL;
	size_t count = 0, i;
	int err = cptable_list(m->job->vol, cx, false, &cnos, &count);

	if (err)
		return damage_forgive(cx, err);
	while (count && cnos[count - 1] >= m->job->vol->latest.cno)
		count--;
	vblocks_init(&o.vblocks, m->job->vol, NULL);
	for (i = 0; i < m->n && !err; i++) {
		o.f = &m->list[i];
		if (is_wanted(m, o.f))
			err = search_file(&o, cx, cnos, count);
	}
	vblocks_fini(&o.vblocks);
	free(cnos);
	return err;
}

struct search {
	struct mapfiles *m;
	struct vblocks vblocks;
};

/* Whether B is where the DAT says, with its entry in *VB: 1, 0. */
static int is_there(struct search *s, struct context *cx,
		    const struct listing *b, struct vblock *vb)
{
	int state = vblocks_find(&s->vblocks, cx, b->number, vb);

	return state < 0 ? state :
	       state == VBLOCKS_USED && vb->blocknr == b->blocknr;
}

static int take_owner(void *arg, struct context *cx,
		      const struct listing *b)
{
	struct search *s = arg;
	struct contested *c = contested_find(s->m, b->number);
	struct vblock vb;
	int ret;

	if (!c)
		return 0;
	ret = is_there(s, cx, b, &vb);
	if (ret <= 0)
		return ret;
	c->known = true;
	c->is_node = b->is_node;
	c->ino = b->ino;
	c->blkoff = b->blkoff;
	return 0;
}

/* A node of F that no map may lead to any more. */
static int take_node(struct search *s, struct context *cx, struct mapfile *f,
		     const struct listing *b)
{
	struct vblock vb;
	int ret = f->broken ? is_there(s, cx, b, &vb) : 0;

	if (ret <= 0 || vb.end != NILFS_CNO_MAX)
		return ret < 0 ? ret : 0;
	if (array_reserve(cx, &f->nodes, &f->nodes_room, f->nnodes + 1))
		return -ENOMEM;
	f->nodes[f->nnodes++] = b->number;
	return 0;
}

static bool ends_before(const void *item, const void *key)
{
	const struct mapfile_gap *gap = item;

	return gap->end <= *(const uint64_t *)key;
}

static bool is_in_gap(const struct mapfile *f, uint64_t blkoff)
{
	size_t i = search_first(f->gaps, f->ngaps, sizeof(*f->gaps),
				ends_before, &blkoff);

	return i < f->ngaps && f->gaps[i].blkoff <= blkoff;
}

static bool is_before(const void *item, const void *key)
{
	const struct mapfile_point *point = item;

	return point->blkoff < *(const uint64_t *)key;
}

/* The lost block BLKOFF, or NULL. */
static const struct mapfile_point *find_point(const struct mapfile *f,
					      uint64_t blkoff)
{
	size_t i = search_first(f->points, f->npoints, sizeof(*f->points),
				is_before, &blkoff);

	return i < f->npoints && f->points[i].blkoff == blkoff ? &f->points[i] :
								 NULL;
}

static int take_block(void *arg, struct context *cx, const struct listing *b)
{
	struct search *s = arg;
	struct mapfile *f = mapfile_find(s->m, b->ino);
	struct mapfile_found found = {
		.blkoff = b->blkoff,
		.blocknr = b->blocknr,
		.seq = listing_rank(b),
	};
	const struct mapfile_point *point;
	struct vblock vb;
	int ret;

	if (!f || b->is_node)
		return f ? take_node(s, cx, f, b) : 0;
	point = find_point(f, b->blkoff);
	if (!point && !is_in_gap(f, b->blkoff))
		return 0;
	ret = is_there(s, cx, b, &vb);
	if (ret < 0)
		return ret;
	if (ret && vb.end == NILFS_CNO_MAX)
		found.vblocknr = b->number;
	else if (!point || point->vblocknr != b->number)
		return 0;
	return add_found(f, cx, &found);
}

static int visit_logs(struct mapfiles *m, struct context *cx,
		      listings_visitor *visit)
{
	struct search s = { .m = m };
	int err;

	vblocks_init(&s.vblocks, m->job->vol, NULL);
	err = listings_visit(m->job->check, cx, LISTINGS_ALL, visit, &s);
	vblocks_fini(&s.vblocks);
	return err;
}

int mapsearch_owners(struct mapfiles *m, struct context *cx)
{
	return m->ncontested ? visit_logs(m, cx, take_owner) : 0;
}

int mapsearch_logs(struct mapfiles *m, struct context *cx)
{
	bool any = false;
	size_t i;
	int err;

	for (i = 0; i < m->n; i++)
		any |= m->list[i].npoints || m->list[i].ngaps;
	err = any ? visit_logs(m, cx, take_block) : 0;
	for (i = 0; i < m->n; i++)
		settle_found(&m->list[i]);
	return err;
}
