// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is in the victims.
 *
 * The summaries of a victim's logs say what its blocks are, and the DAT which
 * of them live.  Both were asked before, when segments were counted: where the
 * two do not come to the same number of blocks something is wrong with the
 * segment, and it is not touched.
 */
#include "gc/load.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/sort.h"
#include "disk/palloc.h"
#include "vol/protection.h"
#include "vol/residents.h"

void load_init(struct load *l, const struct facts *facts)
{
	*l = (struct load){ .facts = facts, .last_dat_block = UINT64_MAX };
}

void load_fini(struct load *l)
{
	free(l->runs);
	free(l->marks);
	free(l->dead);
	free(l->victims);
	load_init(l, l->facts);
}

struct load_size load_size(const struct load *l)
{
	return (struct load_size){
		.nruns = l->nruns,
		.nmarks = l->nmarks,
		.ndead = l->ndead,
		.nvictims = l->nvictims,
		.blocks = l->blocks,
		.dat_blocks = l->dat_blocks,
		.last_dat_block = l->last_dat_block,
	};
}

void load_rewind(struct load *l, const struct load_size *size)
{
	l->nruns = size->nruns;
	l->nmarks = size->nmarks;
	l->ndead = size->ndead;
	l->nvictims = size->nvictims;
	l->blocks = size->blocks;
	l->dat_blocks = size->dat_blocks;
	l->last_dat_block = size->last_dat_block;
}

uint64_t load_bytes(const struct load *l)
{
	return l->nruns * sizeof(*l->runs) + l->nmarks * sizeof(*l->marks) +
	       l->ndead * sizeof(*l->dead);
}

/* The entry of VBLOCKNR will be changed. */
static void count_dat_block(struct load *l, uint64_t vblocknr)
{
	uint64_t blkoff = palloc_entry_blkoff(&l->facts->vol->dat_palloc,
					      vblocknr);

	l->dat_blocks += blkoff != l->last_dat_block;
	l->last_dat_block = blkoff;
}

static bool goes_on(const struct load_run *run, const struct load_run *next)
{
	const struct move_run *a = &run->what, *b = &next->what;

	return a->ino == b->ino && a->cno == b->cno && a->node == b->node &&
	       a->vblocknr + a->count == b->vblocknr &&
	       (a->node || a->blkoff + a->count == b->blkoff) &&
	       run->blocknr + a->count == next->blocknr &&
	       run->current == next->current;
}

static int add_run(struct load *l, struct context *cx, size_t from,
		   const struct resident *res)
{
	const struct load_run next = {
		.what = {
			.ino = res->block.ino,
			.cno = res->block.cno,
			.node = res->block.is_node,
			.vblocknr = res->block.vblocknr,
			.blkoff = res->block.blkoff,
			.count = 1,
		},
		.blocknr = res->blocknr,
		.current = res->kind == LIVENESS_CURRENT,
	};
	struct load_run *runs;

	l->blocks++;
	count_dat_block(l, next.what.vblocknr);
	if (l->nruns > from && goes_on(&l->runs[l->nruns - 1], &next)) {
		l->runs[l->nruns - 1].what.count++;
		return 0;
	}
	runs = array_grow(cx, l->runs, &l->runs_room, l->nruns + 1,
			  sizeof(*runs));
	if (!runs)
		return -ENOMEM;
	l->runs = runs;
	runs[l->nruns++] = next;
	return 0;
}

static int add_mark(struct load *l, struct context *cx,
		    const struct resident *res)
{
	struct load_mark *marks = array_grow(cx, l->marks, &l->marks_room,
					     l->nmarks + 1, sizeof(*marks));

	if (!marks)
		return -ENOMEM;
	l->marks = marks;
	marks[l->nmarks++] = (struct load_mark){
		.ino = res->block.ino,
		.level = res->block.level,
		.key = res->block.blkoff,
		.vblocknr = res->block.vblocknr,
	};
	return 0;
}

static int add_dead(struct load *l, struct context *cx,
		    const struct resident *res)
{
	struct load_dead *dead = array_grow(cx, l->dead, &l->dead_room,
					    l->ndead + 1, sizeof(*dead));

	if (!dead)
		return -ENOMEM;
	count_dat_block(l, res->block.vblocknr);
	l->dead = dead;
	dead[l->ndead++] = (struct load_dead){
		.vblocknr = res->block.vblocknr,
		.start = res->start,
		.end = res->end,
	};
	return 0;
}

/*
 * Blocks of the DAT have no other way; those of cpfile and SUFILE, which change
 * with every checkpoint, would be moved and then replaced.  Their nodes are
 * listed without a key.
 */
static bool is_written_anew(const struct resident *res)
{
	const struct segsum_block *b = &res->block;

	return !b->is_virtual ||
	       (!b->is_node && res->kind == LIVENESS_CURRENT &&
		(b->ino == NILFS_CPFILE_INO || b->ino == NILFS_SUFILE_INO));
}

static int add(struct load *l, struct context *cx, size_t from,
	       const struct resident *res)
{
	if (res->kind == LIVENESS_DEAD)
		return add_dead(l, cx, res);
	if (is_written_anew(res))
		return add_mark(l, cx, res);
	return add_run(l, cx, from, res);
}

/* All residents of S; *LIVE of them have to be moved. */
static int read_segment(struct load *l, struct context *cx,
			const struct policy_segment *s, uint64_t *seq,
			uint64_t *live)
{
	size_t from = l->nruns;
	struct residents r;
	struct resident res;
	int ret = residents_open(&r, cx, l->facts->vol, l->facts->liveness,
				 s->segnum, s->written);

	*live = 0;
	while (!ret && (ret = residents_next(&r, cx, &res)) > 0) {
		*live += res.kind != LIVENESS_DEAD;
		ret = add(l, cx, from, &res);
	}
	*seq = r.scan.any ? r.scan.seq : 0;
	residents_close(&r);
	return ret;
}

static int add_victim(struct load *l, struct context *cx, uint64_t segnum)
{
	uint64_t *victims = array_grow(cx, l->victims, &l->victims_room,
				       l->nvictims + 1, sizeof(*victims));

	if (!victims)
		return -ENOMEM;
	l->victims = victims;
	victims[l->nvictims++] = segnum;
	return 0;
}

int load_take(struct load *l, struct context *cx,
	      const struct policy_segment *s)
{
	struct load_size before = load_size(l);
	uint64_t seq, live;
	int ret = s->written ? read_segment(l, cx, s, &seq, &live) : 0;

	if (!s->written)
		return add_victim(l, cx, s->segnum) ? -ENOMEM : 1;
	if (!ret && live != s->live)
		ret = fail(cx, -EUCLEAN, "segment %" PRIu64 ": its logs list %"
			   PRIu64 " of %" PRIu32 " living blocks", s->segnum,
			   live, s->live);
	if (!ret && seq < protection_seq(l->facts->vol))
		ret = add_victim(l, cx, s->segnum) ? -ENOMEM : 1;
	if (ret <= 0)
		load_rewind(l, &before);
	return ret == -EUCLEAN || ret == -EIO ? 0 : ret;
}

/* What the latest checkpoint has of a file lies together. */
static int compare_runs(const void *a, const void *b)
{
	const struct load_run *x = a, *y = b;
	const struct move_run *p = &x->what, *q = &y->what;

	if (p->ino != q->ino)
		return p->ino < q->ino ? -1 : 1;
	if (x->current != y->current)
		return x->current ? -1 : 1;
	if (p->node != q->node)
		return p->node ? 1 : -1;
	if (p->blkoff != q->blkoff)
		return p->blkoff < q->blkoff ? -1 : 1;
	return p->vblocknr < q->vblocknr ? -1 : p->vblocknr > q->vblocknr;
}

static int compare_dead(const void *a, const void *b)
{
	const struct load_dead *x = a, *y = b;

	return x->vblocknr < y->vblocknr ? -1 : x->vblocknr > y->vblocknr;
}

void load_sort(struct load *l)
{
	sort_in_place(l->runs, l->nruns, sizeof(*l->runs), compare_runs);
	sort_in_place(l->dead, l->ndead, sizeof(*l->dead), compare_dead);
}
