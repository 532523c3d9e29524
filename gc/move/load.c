// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The blocks of the victims.
 *
 * The summaries of a victim's logs list its blocks, and the DAT shows which of
 * them are live.  If their number differs from the earlier count, the segment
 * is damaged and is not cleaned.
 */
#include "gc/move/load.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>

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

/* A block at the position where the log of a segment lists it. */
struct resident {
	uint64_t blocknr;
	struct segsum_block block;	/* as listed */
	enum liveness_kind kind;
	/* Of a virtual block: the checkpoints [start, end) that it belongs to. */
	uint64_t start, end;
};

/*
 * Whether RES is still at its listed position: a block with a virtual number if
 * its entry points to it, as nilfs_get_vdesc() of nilfs-utils' cleaner; a block
 * of the DAT if the DAT's map does, as nilfs_bdesc_is_live().  1, with the rest
 * of RES, 0; -EUCLEAN, -EIO, -ENOMEM.
 */
static int is_resident(const struct facts *f, struct context *cx,
		       struct resident *res)
{
	struct nilfs_dat_entry de;
	uint64_t blocknr;
	int ret;

	if (!res->block.is_virtual) {
		res->kind = LIVENESS_CURRENT;
		ret = blockmap_lookup_at_level(&f->vol->dat.map, cx,
					       res->block.blkoff,
					       res->block.level, &blocknr);
		return ret <= 0 ? ret : blocknr == res->blocknr;
	}
	ret = translate_entry(f->vol, cx, res->block.vblocknr, &de);
	if (ret == -ENOENT) {
		fail_clear(cx);
		return 0;
	}
	if (ret)
		return ret;
	res->start = le64_get(de.de_start);
	res->end = le64_get(de.de_end);
	res->kind = liveness_of_entry(f->liveness, &de);
	return le64_get(de.de_blocknr) == res->blocknr;
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
	while (l->has.ndat > size->ndat)	/* needs no memory */
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

/*
 * Adds a run for RES, or continues the last one, but not one before FROM: those
 * belong to other segments, and each segment can be taken back alone.
 */
static int add_load_run(struct load *l, struct context *cx, size_t from,
			const struct resident *res)
{
	const struct segsum_block *b = &res->block;
	struct load_run *last = l->has.nruns > from ?
					&l->runs[l->has.nruns - 1] : NULL;
	struct move_run *entry = last ? &last->entry : NULL;
	bool current = res->kind == LIVENESS_CURRENT;

	l->has.blocks++;
	if (last && entry->ino == b->ino && entry->cno == b->cno &&
	    entry->node == b->is_node &&
	    entry->vblocknr + entry->count == b->vblocknr &&
	    (entry->node || entry->blkoff + entry->count == b->blkoff) &&
	    last->blocknr + entry->count == res->blocknr &&
	    last->current == current) {
		entry->count++;
		return 0;
	}
	if (array_reserve(cx, &l->runs, &l->runs_room, l->has.nruns + 1))
		return -ENOMEM;
	l->runs[l->has.nruns++] = (struct load_run){
		.entry = {
			.ino = b->ino,
			.cno = b->cno,
			.node = b->is_node,
			.vblocknr = b->vblocknr,
			.blkoff = b->blkoff,
			.count = 1,
		},
		.blocknr = res->blocknr,
		.current = current,
	};
	return 0;
}

static int add_mark(struct load *l, struct context *cx,
		    const struct resident *res)
{
	const struct segsum_block *b = &res->block;
	struct load_mark *mark;
	int ret;

	if (array_reserve(cx, &l->marks, &l->marks_room, l->has.nmarks + 1))
		return -ENOMEM;
	mark = &l->marks[l->has.nmarks++];
	*mark = (struct load_mark){
		.ino = b->ino,
		.level = b->level,
		.key = b->blkoff,
		.vblocknr = b->vblocknr,
		.blocknr = res->blocknr,
	};
	if (b->ino == NILFS_DAT_INO && !b->level &&
	    !(b->is_node && b->is_virtual))
		return note_dat_block(l, cx, b->blkoff);
	l->has.others++;
	if (!b->is_node || !b->is_virtual)
		return 0;
	ret = blockmap_identify(l->facts->vol, cx, res->blocknr, &mark->level,
				&mark->key);
	if (!ret)
		return fail(cx, -EUCLEAN, "block %" PRIu64 ": not a node",
			    res->blocknr);
	return ret < 0 ? ret : 0;
}

/*
 * Adds RES, of LOG, which is read from front to back; FROM is the size of L
 * before the segment.  Blocks of the DAT can only be moved by rewriting them;
 * those of cpfile and SUFILE change with every checkpoint, and would be moved
 * and then replaced.
 */
static int add_resident(struct load *l, struct context *cx,
			const struct load_size *from, const struct log *log,
			const struct resident *res)
{
	const struct segsum_block *b = &res->block;
	struct load_dead *last = l->has.ndead > from->ndead ?
					 &l->dead[l->has.ndead - 1] : NULL;
	bool dead = res->kind == LIVENESS_DEAD;
	bool rewritten = !b->is_virtual ||
			 (res->kind == LIVENESS_CURRENT &&
			  (b->ino == NILFS_CPFILE_INO ||
			   b->ino == NILFS_SUFILE_INO));
	int ret = 0;

	/* Its entry will be changed. */
	if (dead || !rewritten)
		ret = note_dat_block(
			l, cx, palloc_entry_blkoff(&l->facts->vol->dat_palloc,
						   b->vblocknr));
	if (ret)
		return ret;
	if (!dead) {
		ret = rewritten ? add_mark(l, cx, res) :
				  add_load_run(l, cx, from->nruns, res);
		if (ret || (l->has.nlogs &&
			    l->logs[l->has.nlogs - 1].pseg == log->pseg))
			return ret;
		if (array_reserve(cx, &l->logs, &l->logs_room,
				  l->has.nlogs + 1))
			return -ENOMEM;
		l->logs[l->has.nlogs++] = (struct load_log){ log->pseg,
							     log->ss };
		return 0;
	}
	l->has.dead_blocks++;
	if (last && last->vblocknr + last->count == b->vblocknr &&
	    last->start == res->start && last->end == res->end) {
		last->count++;
		return 0;
	}
	if (array_reserve(cx, &l->dead, &l->dead_room, l->has.ndead + 1))
		return -ENOMEM;
	l->dead[l->has.ndead++] = (struct load_dead){
		.vblocknr = b->vblocknr,
		.count = 1,
		.start = res->start,
		.end = res->end,
	};
	return 0;
}

/* Adds all residents of S; *LIVE of them have to be moved. */
static int read_victim(struct load *l, struct context *cx,
		       const struct policy_segment *s, uint64_t *seq,
		       uint64_t *live)
{
	struct volume *vol = l->facts->vol;
	struct load_size from = l->has;
	struct summary summary = { .vol = NULL };
	struct logscan scan = { .any = false };
	struct resident res = { .blocknr = 0 };
	struct log log;
	int ret = logscan_open(&scan, cx, vol, s->segnum, s->written);

	while (!ret && (ret = logscan_next(&scan, cx, &log)) > 0) {
		ret = summary_read(&summary, cx, vol, log.pseg, &log.ss);
		while (!ret &&
		       (ret = summary_next(&summary, cx, &res.block)) > 0) {
			res.blocknr = log.pseg + res.block.index;
			ret = is_resident(l->facts, cx, &res);
			if (ret <= 0)
				continue;
			*live += res.kind != LIVENESS_DEAD;
			ret = add_resident(l, cx, &from, &log, &res);
		}
	}
	*seq = scan.any ? scan.seq : 0;
	summary_free(&summary);
	return ret;
}

/* As load_take(), of segments with a number below BEFORE_SEQ. */
static int take_victim(struct load *l, struct context *cx,
		       const struct policy_segment *s, uint64_t before_seq)
{
	struct load_size before = l->has;
	uint64_t seq = 0, live = 0;
	int ret = s->written ? read_victim(l, cx, s, &seq, &live) : 0;

	if (!ret && s->written && live != s->live)
		ret = fail(cx, -EUCLEAN, "segment %" PRIu64 ": its logs list "
					 "%" PRIu64 " of %" PRIu32 " live "
					 "blocks", s->segnum,
			   live, s->live);
	if (!ret && (!s->written || l->facts->whole || seq < before_seq)) {
		if (!array_reserve(cx, &l->victims, &l->victims_room,
				   l->has.nvictims + 1)) {
			l->victims[l->has.nvictims++] = s->segnum;
			return 1;
		}
		ret = -ENOMEM;
	}
	load_rewind(l, cx, &before);
	return ret == -EUCLEAN || ret == -EIO ? 0 : ret;
}

int load_take(struct load *l, struct context *cx,
	      const struct policy_segment *s)
{
	return take_victim(l, cx, s, protection_seq(l->facts->vol));
}

int load_take_latest(struct load *l, struct context *cx)
{
	struct volume *vol = l->facts->vol;
	uint64_t segnum = vol->latest.segnum;
	struct nilfs_segment_usage_ext su;
	int ret = sutable_read(vol, cx, segnum, &su);

	return ret ? ret
		   : take_victim(l, cx,
				 &(struct policy_segment){
					 .segnum = segnum,
					 .written = le32_get(su.su.su_nblocks),
					 .live = l->facts->latest_live,
				 },
				 UINT64_MAX);
}

/* The blocks of a file in the latest checkpoint are kept together. */
static int compare_load_runs(const void *a, const void *b)
{
	const struct load_run *x = a, *y = b;
	const struct move_run *p = &x->entry, *q = &y->entry;

	return sort_order(x->rank, y->rank) ?:
	       sort_order(p->ino, q->ino) ?:
	       sort_order(y->current, x->current) ?:
	       sort_order(p->node, q->node) ?:
	       sort_order(p->blkoff, q->blkoff) ?:
	       sort_order(p->vblocknr, q->vblocknr);
}

void load_sort(struct load *l, bool as_it_comes)
{
	if (!as_it_comes)
		sort_in_place(l->runs, l->has.nruns, sizeof(*l->runs),
			      compare_load_runs);
	sort_in_place(l->dead, l->has.ndead, sizeof(*l->dead),
		      sort_compare_number);
}
