// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Blocks of a file, gathered.
 *
 * First the map is asked, as far as it can be walked.  What it leads to and
 * the DAT calls alive is taken, unless two pointers lead to it: then none of
 * them is believed.  If something is missing the logs are asked as
 * well: a block that was written for the file, and that the DAT still has
 * there alive, is part of it though no pointer be left; and a pointer whose
 * entry in the DAT is lost leads to what a log lists under its number.  Of two
 * such blocks with one offset the one written later is right: the other was
 * left alive by a writer that had lost it.  But one that has ended, by its
 * entry, may have been moved later than the one that took its place was
 * written.
 *
 * The logs also show a pointer that leads astray: another block is there for
 * its place, and none of them has the one that it leads to for that.  Or what
 * it leads to is there for another place: then the key is wrong.  If there is
 * nothing else it may be the log that is wrong, and the block is copied.
 */
#include "fsck/derive/liveblocks.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/sort.h"
#include "check/listings.h"
#include "check/mapcheck.h"
#include "check/vblocks.h"

struct gathering {
	struct liveblocks *l;
	const struct check *check;
	const struct liveblocks_question *q;
	struct vblocks vblocks;
	size_t walked;		/* entries of the list that the map gave */
};

static int compare_live(const void *a, const void *b)
{
	const struct liveblock *x = a, *y = b;

	return x->blkoff < y->blkoff ? -1 : x->blkoff > y->blkoff;
}

static int compare_lost(const void *a, const void *b)
{
	const struct liveblocks_lost *x = a, *y = b;

	return x->blkoff < y->blkoff ? -1 : x->blkoff > y->blkoff;
}

static int compare_vblocks(const void *a, const void *b)
{
	const struct liveblock *x = a, *y = b;

	return x->vblocknr < y->vblocknr ? -1 : x->vblocknr > y->vblocknr;
}

static int add_live(struct liveblocks *l, struct context *cx,
		    const struct liveblock *b)
{
	if (array_reserve(cx, &l->list, &l->room, l->n + 1))
		return -ENOMEM;
	l->list[l->n++] = *b;
	return 0;
}

static int add_lost(struct liveblocks *l, struct context *cx, uint64_t blkoff,
		    uint64_t vblocknr)
{
	if (array_reserve(cx, &l->lost, &l->lost_room, l->nlost + 1))
		return -ENOMEM;
	l->lost[l->nlost++] = (struct liveblocks_lost){ blkoff, vblocknr };
	return 0;
}

/* Whether the block can be read, if that is asked: 1, 0, or a failure. */
static int is_readable(const struct gathering *g, struct context *cx,
		       uint64_t blocknr)
{
	struct volume *vol = g->check->vol;
	const void *data;
	int err;

	if (!g->q->read)
		return 1;
	err = cache_get(vol->cache, cx, blocknr, &data);
	if (err == -EIO) {
		fail_clear(cx);
		return 0;
	}
	if (err)
		return err;
	cache_put_spent(vol->cache, data);
	return 1;
}

/* Whether VBLOCKNR is part of the checkpoint, with *VB: 1, 0, or a failure. */
static int is_alive(struct gathering *g, struct context *cx, uint64_t vblocknr,
		    struct vblock *vb)
{
	const struct volume *vol = g->check->vol;
	int state = vblocks_find(&g->vblocks, cx, vblocknr, vb);

	if (state < 0)
		return state;
	if (state != VBLOCKS_USED ||
	    !geometry_has_block(&vol->geo, vb->blocknr))
		return 0;
	if (g->q->cno == vol->latest.cno)
		return vb->end == NILFS_CNO_MAX;
	return vb->start <= g->q->cno && vb->end > g->q->cno;
}

static int visit_pointer(void *arg, struct context *cx,
			 const struct mapcheck_pointer *p, uint64_t *blocknr,
			 struct lifetime *life)
{
	struct gathering *g = arg;
	struct vblock vb;
	int ret = is_alive(g, cx, p->ptr, &vb);

	if (ret < 0)
		return ret;
	if (p->level) {
		g->l->partial |= !ret;
		*blocknr = ret ? vb.blocknr : 0;
		*life = p->within;
		return ret;
	}
	if (ret)
		ret = is_readable(g, cx, vb.blocknr);
	if (ret < 0)
		return ret;
	if (!ret)
		return add_lost(g->l, cx, p->key, p->ptr);
	return add_live(g->l, cx, &(struct liveblock){
		.blkoff = p->key,
		.vblocknr = p->ptr,
		.blocknr = vb.blocknr,
		.mapped = true,
	});
}

/* Whether a neighbour in L, by virtual block, has the block of I too. */
static bool is_shared(const struct liveblocks *l, size_t i)
{
	const struct liveblock *b = &l->list[i];

	return (i && b[-1].vblocknr == b->vblocknr) ||
	       (i + 1 < l->n && b[1].vblocknr == b->vblocknr);
}

/* Two pointers to one block: all but one are wrong, and the logs know which. */
static int doubt_shared(struct liveblocks *l, struct context *cx)
{
	size_t i, kept = 0;
	int err = 0;

	sort_in_place(l->list, l->n, sizeof(*l->list), compare_vblocks);
	for (i = 0; i < l->n && !err; i++) {
		if (is_shared(l, i))
			err = add_lost(l, cx, l->list[i].blkoff,
				       l->list[i].vblocknr);
		else
			l->list[kept++] = l->list[i];
	}
	l->n = kept;
	sort_in_place(l->list, l->n, sizeof(*l->list), compare_live);
	sort_in_place(l->lost, l->nlost, sizeof(*l->lost), compare_lost);
	return err;
}

static int walk_map(struct gathering *g, struct context *cx)
{
	struct mapcheck m = {
		.vol = g->check->vol,
		.cno = g->q->cno,
		.ino = g->q->ino,
		.visit = visit_pointer,
		.arg = g,
	};
	int ret = mapcheck_run(&m, cx, g->q->inode);

	g->l->partial |= ret > 0;
	if (ret >= 0)
		ret = doubt_shared(g->l, cx);
	g->walked = g->l->n;
	return ret;
}

static struct liveblock *find_in(const struct liveblocks *l, size_t n,
				 uint64_t blkoff)
{
	const struct liveblock key = { .blkoff = blkoff };

	if (!n)
		return NULL;
	return bsearch(&key, l->list, n, sizeof(key), compare_live);
}

static const struct liveblocks_lost *find_lost(const struct liveblocks *l,
					       uint64_t blkoff)
{
	const struct liveblocks_lost key = { .blkoff = blkoff };

	if (!l->nlost)
		return NULL;
	return bsearch(&key, l->lost, l->nlost, sizeof(key), compare_lost);
}

const struct liveblock *liveblocks_find(const struct liveblocks *l,
					uint64_t blkoff)
{
	return find_in(l, l->n, blkoff);
}

bool liveblocks_is_lost(const struct liveblocks *l, uint64_t blkoff)
{
	return find_lost(l, blkoff);
}

/* Whether VB, which is not alive, says that it was once, and until when. */
static bool has_ended(const struct gathering *g, const struct vblock *vb)
{
	return vb->blocknr && vb->start < vb->end && vb->end <= g->q->cno;
}

/* A block that a log lists. */
static int take_listed(void *arg, struct context *cx,
		       const struct listing *b)
{
	struct gathering *g = arg;
	const struct liveblocks_lost *lost = find_lost(g->l, b->blkoff);
	struct liveblock live = {
		.blkoff = b->blkoff,
		.blocknr = b->blocknr,
		.seq = listing_rank(b),
		.listed = true,
	};
	struct liveblock *mapped = find_in(g->l, g->walked, b->blkoff);
	struct vblock vb;
	int ret;

	if (mapped && mapped->vblocknr == b->number)
		mapped->listed |= mapped->blocknr == b->blocknr;
	if (mapped && mapped->listed)
		return 0;
	ret = is_alive(g, cx, b->number, &vb);
	if (ret < 0)
		return ret;
	if (ret && vb.blocknr == b->blocknr)
		live.vblocknr = b->number;
	else if (!lost || lost->vblocknr != b->number)
		return 0;
	live.ended = !live.vblocknr && has_ended(g, &vb);
	ret = is_readable(g, cx, b->blocknr);
	return ret > 0 ? add_live(g->l, cx, &live) : ret;
}

/* How sure it is that B belongs there. */
static unsigned int certainty(const struct liveblock *b)
{
	if (!b->listed)
		return 0;
	return b->mapped ? 3 : b->ended ? 1 : 2;
}

/* Whether A is the better of two blocks with one offset. */
static bool is_better(const struct liveblock *a, const struct liveblock *b)
{
	if (certainty(a) != certainty(b))
		return certainty(a) > certainty(b);
	return a->seq != b->seq ? a->seq > b->seq : a->blocknr > b->blocknr;
}

/* Leaves one block of each offset. */
static void settle_blocks(struct liveblocks *l)
{
	struct liveblock *last = NULL, *b;
	size_t i, kept = 0;

	sort_in_place(l->list, l->n, sizeof(*l->list), compare_live);
	for (i = 0; i < l->n; i++) {
		b = &l->list[i];
		if (!last || last->blkoff != b->blkoff) {
			last = &l->list[kept++];
			*last = *b;
		} else if (is_better(b, last)) {
			l->astray |= last->mapped;
			*last = *b;
		} else {
			l->astray |= b->mapped;
		}
	}
	l->n = kept;
}

static int compare_places(const void *a, const void *b)
{
	const struct liveblock *x = a, *y = b;

	if (x->blocknr != y->blocknr)
		return x->blocknr < y->blocknr ? -1 : 1;
	return (int)y->listed - (int)x->listed;
}

/* Drops what the logs have for another place, as the list does. */
static void drop_misplaced(struct liveblocks *l)
{
	size_t i, kept = 0;

	sort_in_place(l->list, l->n, sizeof(*l->list), compare_places);
	for (i = 0; i < l->n; i++) {
		const struct liveblock *b = &l->list[i];

		if (kept && !b->listed &&
		    l->list[kept - 1].blocknr == b->blocknr)
			l->astray = true;
		else
			l->list[kept++] = *b;
	}
	l->n = kept;
	sort_in_place(l->list, l->n, sizeof(*l->list), compare_live);
}

/*
 * All logs were asked: what they have for another place is dropped, and what
 * they have for none is to be copied.
 */
static void doubt_unlisted(struct liveblocks *l)
{
	size_t i;

	drop_misplaced(l);
	for (i = 0; i < l->n; i++)
		if (!l->list[i].listed)
			l->list[i].vblocknr = 0;
}

int liveblocks_gather(struct liveblocks *l, struct context *cx,
		      const struct check *c,
		      const struct liveblocks_question *q)
{
	struct gathering g = { .l = l, .check = c, .q = q };
	int err;

	vblocks_init(&g.vblocks, c->vol, NULL);
	err = walk_map(&g, cx);
	if (!err && (q->logs || !liveblocks_is_whole(l)))
		err = listings_visit(c, cx, q->ino, take_listed, &g);
	settle_blocks(l);
	if (!err && q->logs && listings_are_whole(c))
		doubt_unlisted(l);
	vblocks_fini(&g.vblocks);
	return err;
}

void liveblocks_fini(struct liveblocks *l)
{
	free(l->list);
	free(l->lost);
	*l = (struct liveblocks){ 0 };
}
