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
 *
 * A file of data may be too large for such a list.  Of one only what its map
 * has lost is gathered; the rest is walked once more where it is wanted.  Where
 * a part of the map cannot be walked, all that lies between the sound blocks on
 * either side of it is a gap, and not only what the nodes above say was there:
 * a key in one of them may be what is wrong.  So is what lies before a block
 * past the size, whose offset may be.
 */
#include "fsck/derive/liveblocks.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "check/logs/lifelogs.h"
#include "check/logs/listings.h"
#include "check/mapcheck.h"
#include "disk/inode.h"

struct gathering {
	struct liveblocks *list;	/* of N files, ascending by inode */
	size_t n;
	const struct check *check;
	struct vblocks vblocks;
	struct liveblocks *l;		/* that is walked: */
	uint64_t next;			/* one past the last sound block */
	bool gap;			/* after it something is wrong */
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

int liveblocks_add(struct liveblocks *l, struct context *cx,
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

static int add_node(struct liveblocks *l, struct context *cx, uint64_t vblocknr)
{
	if (array_reserve(cx, &l->nodes, &l->nodes_room, l->nnodes + 1))
		return -ENOMEM;
	l->nodes[l->nnodes++] = vblocknr;
	return 0;
}

/* What lies between the last sound block and END, which comes after it. */
static int add_gap(struct gathering *g, struct context *cx, uint64_t end)
{
	struct liveblocks *l = g->l;

	if (!l->q.missing || (!g->gap && !l->q.dense))
		return 0;
	if (array_reserve(cx, &l->gaps, &l->gaps_room, l->ngaps + 1))
		return -ENOMEM;
	l->gaps[l->ngaps++] = (struct liveblocks_gap){ g->next, end };
	return 0;
}

/* Whether the block can be read, if that is asked: 1, 0, or a failure. */
static int is_readable(const struct gathering *g, struct context *cx,
		       const struct liveblocks *l, uint64_t blocknr)
{
	struct volume *vol = g->check->vol;
	const void *data;
	int err;

	if (!l->q.read)
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

enum { NOTHING, DEAD, ALIVE };

/* What VBLOCKNR leads to in the checkpoint of Q, with *VB, or a failure. */
static int find_life(struct vblocks *vblocks, struct context *cx,
		     const struct check *c,
		     const struct liveblocks_question *q, uint64_t vblocknr,
		     struct vblock *vb)
{
	const struct nilfs_geometry *g = &c->vol->geo;
	const struct bitmap *used = &c->used_segments;
	int state = vblocks_find(vblocks, cx, vblocknr, vb);

	if (state < 0)
		return state;
	if (state != VBLOCKS_USED || !geometry_has_block(g, vb->blocknr) ||
	    (q->missing && used->bits &&
	     !bitmap_test(used, geometry_segment_of(g, vb->blocknr))))
		return NOTHING;
	if (q->cno == c->vol->latest.cno)
		return vb->end == NILFS_CNO_MAX ? ALIVE : DEAD;
	return vb->start <= q->cno && vb->end > q->cno ? ALIVE : DEAD;
}

/* What P, to BLOCKNR, is worth by the log that has that, if there are several
   pointers to it. */
static int ask_log(const struct liveblocks_walk *w, struct context *cx,
		   const struct mapcheck_pointer *p, uint64_t blocknr)
{
	const struct liveblocks_question *q = w->q;
	size_t i = search_lower_bound(q->doubted, q->ndoubted, p->ptr);
	struct segsum_block b;
	int ret;

	if (i >= q->ndoubted || q->doubted[i] != p->ptr)
		return LIVEBLOCKS_SOUND;
	ret = lifelogs_find_block(cx, w->check, blocknr, &b, NULL);
	if (ret <= 0 || b.vblocknr != p->ptr)
		return ret < 0 ? ret : LIVEBLOCKS_SHARED;
	return b.ino == q->ino && b.is_node == (p->level > 0) &&
			       (p->level || b.blkoff == p->key)
		       ? LIVEBLOCKS_SOUND : LIVEBLOCKS_LOST;
}

/* A node is followed even if it has ended: what is below may live. */
static int visit_pointer(void *arg, struct context *cx,
			 const struct mapcheck_pointer *p, uint64_t *blocknr,
			 struct lifetime *life)
{
	struct liveblocks_walk *w = arg;
	struct liveblock b = {
		.blkoff = p->key, .vblocknr = p->ptr, .mapped = true,
	};
	struct vblock vb;
	int state = find_life(&w->vblocks[p->level > 0], cx, w->check, w->q,
			      p->ptr, &vb);
	int worth = state, err;

	*life = p->within;
	if (state == ALIVE || (state == DEAD && p->level))
		worth = ask_log(w, cx, p, vb.blocknr);
	else if (state == DEAD)
		worth = LIVEBLOCKS_LOST;
	if (worth < 0)
		return worth;
	*blocknr = worth == LIVEBLOCKS_LOST ? 0 : vb.blocknr;
	b.blocknr = *blocknr;
	if (!p->level)
		return w->block(w->arg, cx, &b, (enum liveblocks_worth)worth);
	err = !w->node ? 0 :
	      w->node(w->arg, cx, p->ptr,
		      state == ALIVE && worth == LIVEBLOCKS_SOUND);
	return err ? err : worth != LIVEBLOCKS_LOST;
}

static int skip_range(void *arg, struct context *cx, uint64_t key, uint64_t end)
{
	struct liveblocks_walk *w = arg;

	(void)cx;
	(void)key;
	(void)end;
	w->skip(w->arg);
	return 0;
}

int liveblocks_walk(struct liveblocks_walk *w, struct context *cx)
{
	struct mapcheck m = {
		.vol = w->check->vol,
		.cno = w->q->cno,
		.ino = w->q->ino,
		.visit = visit_pointer,
		.skip = skip_range,
		.arg = w,
	};
	int ret;

	vblocks_init(&w->vblocks[0], m.vol, NULL);
	vblocks_init(&w->vblocks[1], m.vol, NULL);
	ret = mapcheck_run(&m, cx, w->q->inode);
	vblocks_fini(&w->vblocks[0]);
	vblocks_fini(&w->vblocks[1]);
	return ret;
}

static int gather_block(void *arg, struct context *cx,
			const struct liveblock *b, enum liveblocks_worth worth)
{
	struct gathering *g = arg;
	struct liveblocks *l = g->l;
	struct liveblock live = *b;
	int ret;

	if (l->q.missing && !liveblocks_takes(&l->q, b->blkoff, g->next)) {
		l->astray = g->gap = true;
		return 0;
	}
	if (worth == LIVEBLOCKS_LOST)
		return add_lost(l, cx, b->blkoff, b->vblocknr);
	if (l->q.missing) {
		ret = b->blkoff > g->next ? add_gap(g, cx, b->blkoff) : 0;
		l->astray |= worth != LIVEBLOCKS_SOUND;
		l->nmapped++;
		g->gap = false;
		g->next = b->blkoff + 1;
		return ret;
	}
	if (worth == LIVEBLOCKS_SHARED)
		live.vblocknr = 0;
	ret = is_readable(g, cx, l, b->blocknr);
	if (ret > 0)
		return liveblocks_add(l, cx, &live);
	return ret ? ret : add_lost(l, cx, b->blkoff, b->vblocknr);
}

static int gather_node(void *arg, struct context *cx, uint64_t vblocknr,
		       bool lives)
{
	struct gathering *g = arg;

	g->l->partial |= !lives;
	g->l->nmapped += lives;
	return lives && g->l->q.missing ? add_node(g->l, cx, vblocknr) : 0;
}

static void gather_gap(void *arg)
{
	struct gathering *g = arg;

	g->l->partial = g->gap = true;
}

/* Two pointers to one block: all but one are wrong, and the logs know which. */
static int doubt_shared(struct liveblocks *l, struct context *cx)
{
	uint64_t before = 0;
	size_t i, kept = 0;
	int err = 0;

	sort_in_place(l->list, l->n, sizeof(*l->list), compare_vblocks);
	for (i = 0; i < l->n && !err; i++) {
		const struct liveblock *b = &l->list[i];
		uint64_t blkoff = b->blkoff, vblocknr = b->vblocknr;
		bool shared = (i && vblocknr == before) ||
			      (i + 1 < l->n && b[1].vblocknr == vblocknr);

		before = vblocknr;
		if (shared)
			err = add_lost(l, cx, blkoff, vblocknr);
		else
			l->list[kept++] = *b;
	}
	l->n = kept;
	sort_in_place(l->list, l->n, sizeof(*l->list), compare_live);
	sort_in_place(l->lost, l->nlost, sizeof(*l->lost), compare_lost);
	return err;
}

static int walk_map(struct gathering *g, struct context *cx,
		    struct liveblocks *l)
{
	struct liveblocks_walk w = {
		.check = g->check,
		.q = &l->q,
		.block = gather_block,
		.skip = gather_gap,
		.node = gather_node,
		.arg = g,
	};
	int ret = 0;

	if (l->q.missing && !inode_has_bmap(l->q.inode))
		return 0;
	g->l = l;
	g->next = 0;
	g->gap = false;
	ret = liveblocks_walk(&w, cx);
	l->partial |= ret > 0;
	if (ret >= 0)
		ret = doubt_shared(l, cx);
	if (!ret && g->next < l->q.limit)
		ret = add_gap(g, cx, l->q.limit);
	l->end = g->next;
	l->walked = l->n;
	return ret;
}

static struct liveblock *find_in(const struct liveblocks *l, size_t n,
				 uint64_t blkoff)
{
	const struct liveblock key = { .blkoff = blkoff };

	return n ? bsearch(&key, l->list, n, sizeof(key), compare_live) : NULL;
}

static const struct liveblocks_lost *find_lost(const struct liveblocks *l,
					       uint64_t blkoff)
{
	const struct liveblocks_lost key = { .blkoff = blkoff };

	return l->nlost ? bsearch(&key, l->lost, l->nlost, sizeof(key),
				  compare_lost) : NULL;
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

static bool ends_before(const void *item, const void *key)
{
	const struct liveblocks_gap *gap = item;

	return gap->end <= *(const uint64_t *)key;
}

/* Whether BLKOFF is lost, or in a gap. */
static bool may_have(const struct liveblocks *l, uint64_t blkoff)
{
	size_t i = search_first(l->gaps, l->ngaps, sizeof(*l->gaps),
				ends_before, &blkoff);

	return find_lost(l, blkoff) ||
	       (i < l->ngaps && l->gaps[i].blkoff <= blkoff);
}

static int compare_file(const void *key, const void *item)
{
	const struct liveblocks *l = item;
	const uint64_t *ino = key;

	return *ino < l->q.ino ? -1 : *ino > l->q.ino;
}

/* A block of L that a log lists. */
static int take_block(struct gathering *g, struct context *cx,
		      struct liveblocks *l, const struct listing *b)
{
	const struct liveblocks_lost *lost = find_lost(l, b->blkoff);
	struct liveblock live = {
		.blkoff = b->blkoff,
		.blocknr = b->blocknr,
		.seq = listing_rank(b),
		.listed = true,
	};
	struct liveblock *mapped = find_in(l, l->walked, b->blkoff);
	struct vblock vb;
	int ret;

	if (mapped && mapped->vblocknr == b->number)
		mapped->listed |= mapped->blocknr == b->blocknr;
	if ((mapped && mapped->listed) ||
	    (l->q.missing && !may_have(l, b->blkoff)))
		return 0;
	ret = find_life(&g->vblocks, cx, g->check, &l->q, b->number, &vb);
	if (ret < 0)
		return ret;
	if (ret == ALIVE && vb.blocknr == b->blocknr)
		live.vblocknr = b->number;
	else if (!lost || lost->vblocknr != b->number)
		return 0;
	/* It is not alive, and VB says that it was, and until when. */
	live.ended = !live.vblocknr && vb.blocknr && vb.start < vb.end &&
		     vb.end <= l->q.cno;
	ret = is_readable(g, cx, l, b->blocknr);
	return ret > 0 ? liveblocks_add(l, cx, &live) : ret;
}

static int take_listed(void *arg, struct context *cx, const struct listing *b)
{
	struct gathering *g = arg;
	struct liveblocks *l = bsearch(&b->ino, g->list, g->n, sizeof(*l),
				       compare_file);
	struct vblock vb;
	int ret;

	if (!l || !l->asks || (b->is_node && !l->q.missing))
		return 0;
	if (!b->is_node)
		return take_block(g, cx, l, b);
	/* No map may lead to it any more. */
	ret = find_life(&g->vblocks, cx, g->check, &l->q, b->number, &vb);
	if (ret < 0 || ret != ALIVE || vb.blocknr != b->blocknr)
		return ret < 0 ? ret : 0;
	return add_node(l, cx, b->number);
}

/* How sure it is that B belongs there. */
static unsigned int certainty(const struct liveblock *b)
{
	if (!b->listed)
		return 0;
	return b->mapped ? 3 : b->ended ? 1 : 2;
}

void liveblocks_settle(struct liveblocks *l)
{
	struct liveblock *last = NULL, *b;
	size_t i, kept = 0;
	bool better;

	sort_in_place(l->list, l->n, sizeof(*l->list), compare_live);
	for (i = 0; i < l->n; i++) {
		b = &l->list[i];
		if (!last || last->blkoff != b->blkoff) {
			last = &l->list[kept++];
			*last = *b;
			continue;
		}
		better = certainty(b) != certainty(last) ?
				 certainty(b) > certainty(last) :
			 b->seq != last->seq ? b->seq > last->seq :
					       b->blocknr > last->blocknr;
		l->astray |= better ? last->mapped : b->mapped;
		if (better)
			*last = *b;
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

/*
 * All logs were asked: what they have for another place, as the list does, is
 * dropped, and what they have for none is to be copied.
 */
static void doubt_unlisted(struct liveblocks *l)
{
	size_t i, kept = 0;

	sort_in_place(l->list, l->n, sizeof(*l->list), compare_places);
	for (i = 0; i < l->n; i++) {
		struct liveblock b = l->list[i];

		if (kept && !b.listed &&
		    l->list[kept - 1].blocknr == b.blocknr) {
			l->astray = true;
			continue;
		}
		if (!b.listed)
			b.vblocknr = 0;
		l->list[kept++] = b;
	}
	l->n = kept;
	sort_in_place(l->list, l->n, sizeof(*l->list), compare_live);
}

int liveblocks_gather_all(struct liveblocks *list, size_t n, struct context *cx,
			  const struct check *c)
{
	struct gathering g = { .list = list, .n = n, .check = c };
	bool any = false;
	size_t i;
	int err = 0;

	vblocks_init(&g.vblocks, c->vol, NULL);
	for (i = 0; i < n && !err; i++) {
		err = walk_map(&g, cx, &list[i]);
		list[i].asks = list[i].q.logs || list[i].ngaps ||
			       !liveblocks_is_whole(&list[i]);
		any |= list[i].asks;
	}
	if (!err && any)
		err = listings_visit(c, cx, take_listed, &g);
	for (i = 0; i < n; i++) {
		liveblocks_settle(&list[i]);
		if (!err && list[i].q.logs && listings_are_whole(c))
			doubt_unlisted(&list[i]);
	}
	vblocks_fini(&g.vblocks);
	return err;
}

int liveblocks_gather(struct liveblocks *l, struct context *cx,
		      const struct check *c,
		      const struct liveblocks_question *q)
{
	l->q = *q;
	return liveblocks_gather_all(l, 1, cx, c);
}

void liveblocks_fini(struct liveblocks *l)
{
	free(l->list);
	free(l->lost);
	free(l->gaps);
	free(l->nodes);
	*l = (struct liveblocks){ 0 };
}
