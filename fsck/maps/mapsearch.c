// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lost blocks, looked for in the logs.
 *
 * A log says of each of its blocks for which file it was written and where in
 * it.  If the DAT still has the block there, alive, then nobody has taken it
 * from the file since, and it is the very block that the map has lost: with
 * all logs readable a file is found again whole, and what is not found was a
 * hole.  Otherwise, where a pointer is left but the DAT has nothing for it, the
 * log has at least the content that was written under that number.
 */
#include "fsck/maps/mapsearch.h"

#include <errno.h>

#include "check/listings.h"

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
	struct contested_block *c = contested_find(&s->m->contested,
						   b->number);
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

/* A node that no map may lead to any more. */
static int take_node(struct search *s, struct context *cx,
		     const struct listing *b)
{
	const struct mapfile *f = mapfile_find(s->m, b->ino);
	const struct mapfound_run run = {
		.ino = b->ino,
		.blkoff = b->number,
		.count = 1,
		.vblocknr = b->number,
		.blocknr = b->blocknr,
		.seq = listing_rank(b),
	};
	struct vblock vb;
	int ret;

	if (!f || !f->broken)
		return 0;
	ret = is_there(s, cx, b, &vb);
	if (ret <= 0 || vb.end != NILFS_CNO_MAX)
		return ret < 0 ? ret : 0;
	return mapfound_add(&s->m->nodes, cx, &run);
}

static int take_block(void *arg, struct context *cx,
		      const struct listing *b)
{
	struct search *s = arg;
	const struct maploss_point *point;
	struct mapfound_run run = {
		.ino = b->ino,
		.blkoff = b->blkoff,
		.count = 1,
		.blocknr = b->blocknr,
		.seq = listing_rank(b),
	};
	struct vblock vb;
	int ret;

	if (b->is_node)
		return take_node(s, cx, b);
	if (!maploss_has(&s->m->loss, b->ino, b->blkoff))
		return 0;
	ret = is_there(s, cx, b, &vb);
	if (ret < 0)
		return ret;
	if (ret && vb.end == NILFS_CNO_MAX) {
		run.vblocknr = b->number;
	} else {
		point = maploss_point(&s->m->loss, b->ino, b->blkoff);
		if (!point || point->vblocknr != b->number)
			return 0;
	}
	return mapfound_add(&s->m->found, cx, &run);
}

static int run(struct mapfiles *m, struct context *cx, listings_visitor *visit)
{
	struct search s = { .m = m };
	int err;

	vblocks_init(&s.vblocks, m->job->vol);
	err = listings_visit(m->job->check, cx, LISTINGS_ALL, visit, &s);
	vblocks_fini(&s.vblocks);
	return err;
}

int mapsearch_owners(struct mapfiles *m, struct context *cx)
{
	return m->contested.n ? run(m, cx, take_owner) : 0;
}

int mapsearch_logs(struct mapfiles *m, struct context *cx)
{
	int err;

	if (!m->loss.npoints && !m->loss.ngaps)
		return 0;
	err = run(m, cx, take_block);
	if (!err)
		err = mapfound_settle(&m->nodes, cx);
	return err ? err : mapfound_settle(&m->found, cx);
}
