// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Gathering the live blocks of a file.
 *
 * A block that the map leads to and that is live in the DAT is taken, unless
 * two pointers lead to it. If something is missing, the logs are read too: a
 * block that they list for the file and that is live in the DAT is part of the
 * file; a pointer whose DAT entry is lost leads to the block that a log lists
 * under its number. Of two such blocks with one offset the later one is taken.
 * If the logs list another block for the place of a pointer, the pointer is
 * wrong.
 *
 * A data file may be too large for such a list. So only its missing blocks are
 * gathered. If a part of the map cannot be walked, the range between the sound
 * blocks on both sides is a gap, because a key in the nodes above may be wrong.
 * The range before a block after the size is a gap too.
 */
#include "fsck/derive/liveblocks.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/checked.h"
#include "base/sort.h"
#include "check/logs/listings.h"
#include "check/mapcheck.h"
#include "check/vblocks.h"
#include "disk/inode.h"

struct gathering {
	struct liveblocks *list;	/* N files, ascending by inode */
	size_t n;
	const struct check *check;
	struct vblocks vblocks;
	struct liveblocks *l;		/* the walked file */
	uint64_t next;			/* one past the last sound block */
	bool gap;			/* an error follows the last sound block */
};

struct walk {
	const struct check *check;
	const struct liveblocks_question *q;
	liveblocks_visitor *visit;
	void *arg;
	struct vblocks vblocks[2]; /* for data, for nodes */
};

static struct liveblock *find_in(struct liveblock *list, size_t n,
				 uint64_t blkoff)
{
	size_t i = search_number(list, n, sizeof(*list), blkoff);

	return i < n && list[i].blkoff == blkoff ? &list[i] : NULL;
}

const struct liveblock *liveblocks_find(const struct liveblocks *l,
					uint64_t blkoff)
{
	return find_in(l->list, l->n, blkoff);
}

bool liveblocks_is_lost(const struct liveblocks *l, uint64_t blkoff)
{
	return find_in(l->lost, l->nlost, blkoff);
}

struct liveblocks_question liveblocks_missing(const struct volume *vol,
					      uint64_t cno, uint64_t ino,
					      const struct nilfs_inode *inode,
					      const struct numlist *shared_blocks)
{
	bool is_dir = S_ISDIR(le16_get(inode->i_mode));
	bool is_link = S_ISLNK(le16_get(inode->i_mode));

	return (struct liveblocks_question){
		.ino = ino, .inode = inode, .cno = cno, .missing = true,
		.limit = is_link ? 1 : div_round_up(le64_get(inode->i_size),
						    vol->geo.block_size),
		.dense = is_dir || is_link, .is_dir = is_dir,
		.is_link = is_link, .shared_blocks = shared_blocks,
	};
}

/* Adds the range between the last sound block and END, the next one. */
static int liveblocks_add_gap(struct gathering *g, struct context *cx, uint64_t end)
{
	struct liveblocks *l = g->l;

	if (!l->q.missing || (!g->gap && !l->q.dense))
		return 0;
	return array_push(cx, &l->gaps, &l->ngaps, &l->gaps_room,
			  (struct liveblocks_gap){ g->next, end });
}

/* Whether the block can be read, if the caller requires that: 1, 0, or a
   failure. */
static int is_live_readable(const struct gathering *g, struct context *cx,
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

/* The state of VBLOCKNR in the checkpoint of Q, with *VB, or a failure. */
static int find_vblock_state(struct vblocks *vblocks, struct context *cx,
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
		return vb->life.end == NILFS_CNO_MAX ? ALIVE : DEAD;
	return lifetime_has(&vb->life, q->cno) ? ALIVE : DEAD;
}

/* A node is followed even if it has ended: blocks below it may be live. */
static int visit_pointer(void *arg, struct context *cx,
			 const struct mapcheck_pointer *p, uint64_t *blocknr,
			 struct lifetime *life)
{
	struct walk *w = arg;
	const struct liveblocks_question *q = w->q;
	struct liveblock b = {
		.blkoff = p->key, .vblocknr = p->ptr, .mapped = true,
		.is_node = p->level > 0,
	};
	enum liveblocks_verdict verdict = LIVEBLOCKS_LOST;
	struct segsum_block listed;
	struct vblock vb;
	int state =
		find_vblock_state(&w->vblocks[b.is_node], cx, w->check, q, p->ptr, &vb);
	int ret = state;
	bool follow;

	*life = p->within;
	if (state == ALIVE || (state == DEAD && b.is_node))
		verdict = LIVEBLOCKS_SOUND;
	/* If several pointers lead to the block, its log decides. */
	if (verdict == LIVEBLOCKS_SOUND && q->shared_blocks &&
	    numlist_has(q->shared_blocks, p->ptr)) {
		ret = listings_find_block(cx, w->check, vb.blocknr, &listed);
		if (ret <= 0 || listed.vblocknr != p->ptr)
			verdict = LIVEBLOCKS_SHARED;
		else if (listed.ino != q->ino || listed.is_node != b.is_node ||
			 (!b.is_node && listed.blkoff != p->key))
			verdict = LIVEBLOCKS_LOST;
	}
	if (ret < 0)
		return ret;
	b.blocknr = *blocknr = verdict == LIVEBLOCKS_LOST ? 0 : vb.blocknr;
	follow = b.is_node && verdict != LIVEBLOCKS_LOST;
	if (b.is_node && (state != ALIVE || verdict != LIVEBLOCKS_SOUND))
		verdict = LIVEBLOCKS_LOST;
	ret = w->visit(w->arg, cx, &b, verdict);
	return ret ? ret : follow;
}

static int skip_range(void *arg, struct context *cx, uint64_t key, uint64_t end)
{
	struct walk *w = arg;

	(void)key;
	(void)end;
	return w->visit(w->arg, cx, NULL, LIVEBLOCKS_SKIPPED);
}

int liveblocks_walk(const struct check *c, struct context *cx,
		    const struct liveblocks_question *q,
		    liveblocks_visitor *visit, void *arg)
{
	struct walk w = { .check = c, .q = q, .visit = visit, .arg = arg };
	const struct mapcheck m = {
		.vol = c->vol, .cno = q->cno, .ino = q->ino,
		.visit = visit_pointer, .skip = skip_range, .arg = &w,
	};
	int ret;

	vblocks_init(&w.vblocks[0], c->vol, NULL);
	vblocks_init(&w.vblocks[1], c->vol, NULL);
	ret = mapcheck_run(&m, cx, q->inode);
	vblocks_fini(&w.vblocks[0]);
	vblocks_fini(&w.vblocks[1]);
	return ret;
}

static int gather_from_pointer(void *arg, struct context *cx,
			       const struct liveblock *b, enum liveblocks_verdict verdict)
{
	struct gathering *g = arg;
	struct liveblocks *l = g->l;
	bool lives = verdict == LIVEBLOCKS_SOUND;
	struct liveblock live;
	int ret;

	if (verdict == LIVEBLOCKS_SKIPPED) {
		l->partial = g->gap = true;
		return 0;
	}
	live = *b;
	if (b->is_node) {
		l->partial |= !lives;
		l->nmapped += lives;
		return lives && l->q.missing ?
			       numlist_add(&l->nodes, cx, b->vblocknr) : 0;
	}
	if (l->q.missing && !liveblocks_can_contain(&l->q, b->blkoff, g->next)) {
		l->misplaced = g->gap = true;
		return 0;
	}
	if (verdict == LIVEBLOCKS_LOST)
		return array_push(cx, &l->lost, &l->nlost, &l->lost_room, *b);
	if (l->q.missing) {
		ret = b->blkoff > g->next ? liveblocks_add_gap(g, cx, b->blkoff) : 0;
		l->misplaced |= !lives;
		l->nmapped++;
		g->gap = false;
		g->next = b->blkoff + 1;
		return ret;
	}
	if (verdict == LIVEBLOCKS_SHARED)
		live.vblocknr = 0;
	ret = is_live_readable(g, cx, l, b->blocknr);
	if (ret < 0)
		return ret;
	return ret ? array_push(cx, &l->list, &l->n, &l->room, live) :
		     array_push(cx, &l->lost, &l->nlost, &l->lost_room, *b);
}

static int gather_from_map(struct gathering *g, struct context *cx,
			   struct liveblocks *l)
{
	struct numlist all = { .n = 0 };
	size_t i, at, kept = 0;
	int ret;

	if (l->q.missing && !inode_has_bmap(l->q.inode))
		return 0;
	g->l = l;
	g->next = 0;
	g->gap = false;
	ret = liveblocks_walk(g->check, cx, &l->q, gather_from_pointer, g);
	l->partial |= ret > 0;
	ret = ret < 0 ? ret : 0;
	/* If several pointers lead to one block, the
	   logs show the correct one. */
	for (i = 0; i < l->n && !ret; i++)
		ret = numlist_add(&all, cx, l->list[i].vblocknr);
	sort_in_place(all.list, all.n, sizeof(*all.list),
		      sort_compare_number);
	for (i = 0; i < l->n && !ret; i++) {
		const struct liveblock b = l->list[i];

		at = search_lower_bound(all.list, all.n, b.vblocknr) + 1;
		if (at < all.n && all.list[at] == b.vblocknr)
			ret = array_push(cx, &l->lost, &l->nlost, &l->lost_room,
					 b);
		else
			l->list[kept++] = b;
	}
	free(all.list);
	l->n = ret ? l->n : kept;
	sort_in_place(l->list, l->n, sizeof(*l->list), sort_compare_number);
	sort_in_place(l->lost, l->nlost, sizeof(*l->lost), sort_compare_number);
	if (!ret && g->next < l->q.limit)
		ret = liveblocks_add_gap(g, cx, l->q.limit);
	l->end = g->next;
	l->walked = l->n;
	return ret;
}

/* Adds a block that a log lists, of any of the files. */
static int take_listed(void *arg, struct context *cx, const struct listing *b)
{
	struct gathering *g = arg;
	size_t at = search_number(g->list, g->n, sizeof(*g->list), b->ino);
	struct liveblocks *l = &g->list[at];
	struct liveblock live = {
		.blkoff = b->blkoff, .blocknr = b->blocknr,
		.seq = listing_rank(b), .listed = true,
	}, *mapped, *lost;
	struct vblock vb;
	bool alive;
	int ret;

	if (at == g->n || l->q.ino != b->ino || !l->asks ||
	    (b->is_node && !l->q.missing))
		return 0;
	mapped = b->is_node ? NULL : find_in(l->list, l->walked, b->blkoff);
	lost = b->is_node ? NULL : find_in(l->lost, l->nlost, b->blkoff);
	if (mapped && mapped->vblocknr == b->number)
		mapped->listed |= mapped->blocknr == b->blocknr;
	/* A block that is neither lost nor in a gap is not missing. */
	at = search_number(l->gaps, l->ngaps, sizeof(*l->gaps), b->blkoff + 1);
	if ((mapped && mapped->listed) ||
	    (l->q.missing && !b->is_node && !lost &&
	     !(at && b->blkoff < l->gaps[at - 1].end)))
		return 0;
	ret = find_vblock_state(&g->vblocks, cx, g->check, &l->q, b->number, &vb);
	if (ret < 0)
		return ret;
	alive = ret == ALIVE && vb.blocknr == b->blocknr;
	/* Perhaps no map leads to a live node any longer. */
	if (b->is_node)
		return alive ? numlist_add(&l->nodes, cx, b->number) : 0;
	if (!alive && (!lost || lost->vblocknr != b->number))
		return 0;
	live.vblocknr = alive ? b->number : 0;
	/* The block is dead, and VB has its former lifetime. */
	live.ended =
		!alive && vb.blocknr && vb.life.start < vb.life.end &&
		vb.life.end <= l->q.cno;
	ret = is_live_readable(g, cx, l, b->blocknr);
	return ret <= 0 ? ret : array_push(cx, &l->list, &l->n, &l->room, live);
}

/* The block_certainty that B belongs to its offset. */
static unsigned int block_certainty(const struct liveblock *b)
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

	sort_in_place(l->list, l->n, sizeof(*l->list), sort_compare_number);
	for (i = 0; i < l->n; i++) {
		b = &l->list[i];
		if (!last || last->blkoff != b->blkoff) {
			last = &l->list[kept++];
			*last = *b;
			continue;
		}
		better = block_certainty(b) != block_certainty(last) ?
				 block_certainty(b) > block_certainty(last) :
			 b->seq != last->seq ? b->seq > last->seq :
					       b->blocknr > last->blocknr;
		l->misplaced |= better ? last->mapped : b->mapped;
		if (better)
			*last = *b;
	}
	l->n = kept;
}

/* All logs were read: drops blocks that they list for another place that the
   list has, and marks blocks that they list for no place to be copied. */
static int doubt_unlisted(struct liveblocks *l, struct context *cx)
{
	struct numlist listed = { .n = 0 };
	size_t i, kept = 0;
	int err = 0;

	for (i = 0; i < l->n && !err; i++)
		if (l->list[i].listed)
			err = numlist_add(&listed, cx, l->list[i].blocknr);
	numlist_settle(&listed);
	for (i = 0; i < l->n && !err; i++) {
		struct liveblock *b = &l->list[i];

		if (!b->listed && numlist_has(&listed, b->blocknr)) {
			l->misplaced = true;
			continue;
		}
		if (!b->listed)
			b->vblocknr = 0;
		l->list[kept++] = *b;
	}
	l->n = err ? l->n : kept;
	free(listed.list);
	return err;
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
		err = gather_from_map(&g, cx, &list[i]);
		list[i].asks = list[i].q.logs || list[i].ngaps ||
			       !liveblocks_is_whole(&list[i]);
		any |= list[i].asks;
	}
	if (!err && any)
		err = listings_visit(c, cx, take_listed, &g);
	for (i = 0; i < n; i++) {
		liveblocks_settle(&list[i]);
		if (!err && list[i].q.logs && listings_are_whole(c))
			err = doubt_unlisted(&list[i], cx);
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
	free(l->nodes.list);
	*l = (struct liveblocks){ 0 };
}
