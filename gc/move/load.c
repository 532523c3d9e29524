// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The blocks of the victims.
 *
 * The summaries of a victim's logs list its blocks, and the DAT shows which of
 * them are live.  If they do not agree on the number that was counted before,
 * the segment is damaged and is not cleaned.
 */
#include "gc/move/load.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/context.h"
#include "base/sort.h"
#include "disk/ondisk.h"
#include "disk/palloc.h"
#include "disk/segsum.h"
#include "vol/blockmap.h"
#include "vol/liveness.h"
#include "vol/logscan.h"
#include "vol/protection.h"
#include "vol/summary.h"
#include "vol/sutable.h"
#include "vol/translate.h"
#include "vol/volume.h"

/*
 * The blocks of a segment.
 *
 * The logs of the segment list what each block was when it was written; the DAT
 * shows whether it still is: a block with a virtual number is current if its
 * entry points to it, a block of the DAT if the DAT's map does.
 */

struct volume;

struct resident {
	uint64_t blocknr;
	struct segsum_block block;	/* as listed */
	enum liveness_kind kind;
	/* Of a virtual block: the checkpoints [start, end) that it belongs to. */
	uint64_t start, end;
};

struct residents {
	struct volume *vol;
	const struct liveness *liveness;
	struct logscan scan;
	struct log log;
	struct summary summary;
	bool inside;		/* of LOG */
};

/*
 * Starts in segment SEGNUM, of which NBLOCKS blocks are in use (su_nblocks).
 * L (borrowed) says who is alive.  To be closed after a failure, too.
 */
static int residents_open(struct residents *r, struct context *cx,
			  struct volume *vol, const struct liveness *l,
			  uint64_t segnum, uint32_t nblocks)
{
	memset(r, 0, sizeof(*r));
	r->vol = vol;
	r->liveness = l;
	return logscan_open(&r->scan, cx, vol, segnum, nblocks);
}

/* Whether virtual block RES->block is the one at RES->blocknr: 1, 0. */
static int find_virtual(struct residents *r, struct context *cx,
			struct resident *res)
{
	struct nilfs_dat_entry de;
	int err = translate_entry(r->vol, cx, res->block.vblocknr, &de);

	if (err == -ENOENT) {
		fail_clear(cx);
		return 0;
	}
	if (err)
		return err;
	res->start = le64_get(de.de_start);
	res->end = le64_get(de.de_end);
	res->kind = liveness_of_entry(r->liveness, &de);
	return le64_get(de.de_blocknr) == res->blocknr;
}

/* The same for a block of the DAT: nilfs_bdesc_is_live(). */
static int find_physical(struct residents *r, struct context *cx,
			 struct resident *res)
{
	uint64_t blocknr;
	int ret = blockmap_lookup_at_level(&r->vol->dat.map, cx,
					   res->block.blkoff,
					   res->block.level, &blocknr);

	res->kind = LIVENESS_CURRENT;
	return ret <= 0 ? ret : blocknr == res->blocknr;
}

/* The next block of the open log that is still there: 1, 0 at its end. */
static int next_in_log(struct residents *r, struct context *cx,
		       struct resident *res)
{
	int ret;

	while ((ret = summary_next(&r->summary, cx, &res->block)) > 0) {
		res->blocknr = r->log.pseg + res->block.index;
		ret = res->block.is_virtual ? find_virtual(r, cx, res) :
					      find_physical(r, cx, res);
		if (ret)
			return ret;
	}
	return ret;
}

static int next_log(struct residents *r, struct context *cx)
{
	int ret = logscan_next(&r->scan, cx, &r->log);

	if (ret > 0)
		ret = summary_read(&r->summary, cx, r->vol, r->log.pseg,
				   &r->log.ss);
	else
		return ret;
	r->inside = !ret;
	return ret ? ret : 1;
}

/*
 * Steps: 1 and *RES, 0 at the end; -EUCLEAN where a summary or the DAT is
 * broken, -EIO, -ENOMEM.  Follows nilfs_get_vdesc() and nilfs_get_bdesc() of
 * nilfs-utils' cleaner.
 */
static int residents_next(struct residents *r, struct context *cx,
			  struct resident *res)
{
	int ret;

	for (;;) {
		ret = r->inside ? next_in_log(r, cx, res) : 0;
		if (ret)
			return ret;
		r->inside = false;
		ret = next_log(r, cx);
		if (ret <= 0)
			return ret;
	}
}

static void residents_close(struct residents *r)
{
	summary_free(&r->summary);
}

void load_init(struct load *l, const struct facts *facts)
{
	*l = (struct load){ .facts = facts };
}

void load_fini(struct load *l)
{
	free(l->runs);
	free(l->marks);
	free(l->dead);
	free(l->logs);
	free(l->victims);
	free(l->dat_blocks);
	tally_fini(&l->dat);
	load_init(l, l->facts);
}

void load_rewind(struct load *l, struct context *cx,
		 const struct load_size *size)
{
	while (l->has.ndat > size->ndat)	/* which takes no memory */
		tally_add(&l->dat, cx, l->dat_blocks[--l->has.ndat], -1);
	l->has = *size;
}

uint64_t load_bytes(const struct load *l)
{
	const struct load_size *n = &l->has;

	return n->nruns * sizeof(*l->runs) + n->nmarks * sizeof(*l->marks) +
	       n->ndead * sizeof(*l->dead) + n->nlogs * sizeof(*l->logs) +
	       2 * (n->ndat + n->others) * l->facts->vol->geo.block_size;
}

bool load_is_full(const struct load *l, const struct context *cx)
{
	return l->has.nvictims > 1 && load_bytes(l) > cx->max_memory / 2;
}

/* Block BLKOFF of the DAT will be changed. */
static int note_dat_block(struct load *l, struct context *cx, uint64_t blkoff)
{
	if (tally_get(&l->dat, blkoff))
		return 0;
	if (array_reserve(cx, &l->dat_blocks, &l->dat_room, l->has.ndat + 1))
		return -ENOMEM;
	l->dat_blocks[l->has.ndat] = blkoff;
	if (tally_add(&l->dat, cx, blkoff, 1))
		return -ENOMEM;
	l->has.ndat++;
	return 0;
}

/* The entry of VBLOCKNR will be changed. */
static int note_entry(struct load *l, struct context *cx, uint64_t vblocknr)
{
	return note_dat_block(l, cx,
			      palloc_entry_blkoff(&l->facts->vol->dat_palloc,
						  vblocknr));
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

	l->has.blocks++;
	if (note_entry(l, cx, next.what.vblocknr))
		return -ENOMEM;
	if (l->has.nruns > from && goes_on(&l->runs[l->has.nruns - 1], &next)) {
		l->runs[l->has.nruns - 1].what.count++;
		return 0;
	}
	if (array_reserve(cx, &l->runs, &l->runs_room, l->has.nruns + 1))
		return -ENOMEM;
	l->runs[l->has.nruns++] = next;
	return 0;
}

/* Completes MARK, of the node at BLOCKNR. */
static int locate_node(struct load *l, struct context *cx, uint64_t blocknr,
		       struct load_mark *mark)
{
	int ret = blockmap_identify(l->facts->vol, cx, blocknr, &mark->level,
				    &mark->key);

	if (!ret)
		return fail(cx, -EUCLEAN, "block %" PRIu64 ": is no node",
			    blocknr);
	return ret < 0 ? ret : 0;
}

static int add_mark(struct load *l, struct context *cx,
		    const struct resident *res)
{
	if (array_reserve(cx, &l->marks, &l->marks_room, l->has.nmarks + 1))
		return -ENOMEM;
	l->marks[l->has.nmarks++] = (struct load_mark){
		.ino = res->block.ino,
		.level = res->block.level,
		.key = res->block.blkoff,
		.vblocknr = res->block.vblocknr,
		.blocknr = res->blocknr,
	};
	if (res->block.is_node && res->block.is_virtual) {
		l->has.others++;
		return locate_node(l, cx, res->blocknr,
				   &l->marks[l->has.nmarks - 1]);
	}
	if (res->block.ino == NILFS_DAT_INO && !res->block.level)
		return note_dat_block(l, cx, res->block.blkoff);
	l->has.others++;
	return 0;
}

static bool dies_with(const struct load_dead *run,
		      const struct resident *res)
{
	return run->vblocknr + run->count == res->block.vblocknr &&
	       run->start == res->start && run->end == res->end;
}

/* Runs before FROM are other segments': these may be taken back alone. */
static int add_dead_number(struct load *l, struct context *cx, size_t from,
			   const struct resident *res)
{
	if (note_entry(l, cx, res->block.vblocknr))
		return -ENOMEM;
	l->has.dead_blocks++;
	if (l->has.ndead > from && dies_with(&l->dead[l->has.ndead - 1], res)) {
		l->dead[l->has.ndead - 1].count++;
		return 0;
	}
	if (array_reserve(cx, &l->dead, &l->dead_room, l->has.ndead + 1))
		return -ENOMEM;
	l->dead[l->has.ndead++] = (struct load_dead){
		.vblocknr = res->block.vblocknr,
		.count = 1,
		.start = res->start,
		.end = res->end,
	};
	return 0;
}

/*
 * Blocks of the DAT cannot be moved otherwise; those of cpfile and SUFILE
 * change with every checkpoint, and would be moved and then replaced.
 */
static bool is_rewritten(const struct resident *res)
{
	const struct segsum_block *b = &res->block;

	return !b->is_virtual ||
	       (res->kind == LIVENESS_CURRENT &&
		(b->ino == NILFS_CPFILE_INO || b->ino == NILFS_SUFILE_INO));
}

static int add_resident(struct load *l, struct context *cx,
			const struct load_size *from,
			const struct resident *res)
{
	if (res->kind == LIVENESS_DEAD)
		return add_dead_number(l, cx, from->ndead, res);
	if (is_rewritten(res))
		return add_mark(l, cx, res);
	return add_run(l, cx, from->nruns, res);
}

/* LOG, which is read from front to back, has live blocks. */
static int note_log(struct load *l, struct context *cx, const struct log *log)
{
	if (l->has.nlogs && l->logs[l->has.nlogs - 1].pseg == log->pseg)
		return 0;
	if (array_reserve(cx, &l->logs, &l->logs_room, l->has.nlogs + 1))
		return -ENOMEM;
	l->logs[l->has.nlogs++] = (struct load_log){ log->pseg, log->ss };
	return 0;
}

/* All residents of S; *LIVE of them have to be moved. */
static int read_segment(struct load *l, struct context *cx,
			const struct policy_segment *s, uint64_t *seq,
			uint64_t *live)
{
	struct load_size from = l->has;
	struct residents r;
	struct resident res;
	int ret = residents_open(&r, cx, l->facts->vol, l->facts->liveness,
				 s->segnum, s->written);

	*live = 0;
	while (!ret && (ret = residents_next(&r, cx, &res)) > 0) {
		ret = add_resident(l, cx, &from, &res);
		if (ret || res.kind == LIVENESS_DEAD)
			continue;
		++*live;
		ret = note_log(l, cx, &r.log);
	}
	*seq = r.scan.any ? r.scan.seq : 0;
	residents_close(&r);
	return ret;
}

static int add_victim(struct load *l, struct context *cx, uint64_t segnum)
{
	if (array_reserve(cx, &l->victims, &l->victims_room,
			  l->has.nvictims + 1))
		return -ENOMEM;
	l->victims[l->has.nvictims++] = segnum;
	return 0;
}

/* As load_take(), of segments with a number below BEFORE_SEQ. */
static int take_segment(struct load *l, struct context *cx,
			const struct policy_segment *s, uint64_t before_seq)
{
	struct load_size before = l->has;
	uint64_t seq, live;
	int ret = s->written ? read_segment(l, cx, s, &seq, &live) : 0;

	if (!s->written)
		return add_victim(l, cx, s->segnum) ? -ENOMEM : 1;
	if (!ret && live != s->live)
		ret = fail(cx, -EUCLEAN, "segment %" PRIu64 ": its logs list "
					 "%" PRIu64 " of %" PRIu32 " live "
					 "blocks", s->segnum,
			   live, s->live);
	if (!ret && (l->facts->whole || seq < before_seq))
		ret = add_victim(l, cx, s->segnum) ? -ENOMEM : 1;
	if (ret <= 0)
		load_rewind(l, cx, &before);
	return ret == -EUCLEAN || ret == -EIO ? 0 : ret;
}

int load_take(struct load *l, struct context *cx,
	      const struct policy_segment *s)
{
	return take_segment(l, cx, s, protection_seq(l->facts->vol));
}

int load_take_latest(struct load *l, struct context *cx)
{
	struct volume *vol = l->facts->vol;
	uint64_t segnum = vol->latest.segnum;
	struct nilfs_segment_usage_ext su;
	int ret = sutable_read(vol, cx, segnum, &su);

	return ret ? ret
		   : take_segment(l, cx,
				  &(struct policy_segment){
					  .segnum = segnum,
					  .written = le32_get(su.su.su_nblocks),
					  .live = l->facts->latest_live,
				  },
				  UINT64_MAX);
}

/* The blocks of a file in the latest checkpoint are kept together. */
static int compare_runs(const void *a, const void *b)
{
	const struct load_run *x = a, *y = b;
	const struct move_run *p = &x->what, *q = &y->what;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
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

void load_sort(struct load *l, bool as_it_comes)
{
	if (!as_it_comes)
		sort_in_place(l->runs, l->has.nruns, sizeof(*l->runs),
			      compare_runs);
	sort_in_place(l->dead, l->has.ndead, sizeof(*l->dead), compare_dead);
}
