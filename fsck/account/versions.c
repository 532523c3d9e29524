// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Versions of blocks, from all logs, and the versions that a file had.
 *
 * The SUFILE lists the segments in use, but it may be damaged. So a clean
 * segment is searched too if it begins with a log. The size of the list is the
 * number of blocks of the wanted files in the logs, limited by the memory
 * budget.
 *
 * A damaged map is still partly readable outside of the broken node, and a
 * pointer whose DAT entry is lost still has the virtual block number. The logs
 * list the blocks that were written for the rest of the file. The DAT shows
 * which of these belonged to the file at a checkpoint; if no entry is readable,
 * the newest version is taken.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/checked.h"
#include "base/search.h"
#include "base/sort.h"
#include "check/damage.h"
#include "check/mapcheck.h"
#include "disk/dat.h"
#include "disk/inode.h"
#include "fsck/account/sides.h"
#include "vol/logcheck.h"
#include "vol/translate.h"

void versions_fini(struct versions *v)
{
	inoset_fini(&v->wanted);
	free(v->items);
	free(v->logs);
	memset(v, 0, sizeof(*v));
}

/* Adds the wanted blocks of LOG, whose extents are in IX. Its checksum is
   verified for a log after BEYOND. */
static int versions_take_log(struct versions *v, struct context *cx, struct volume *vol,
			     struct logindex *ix, const struct logindex_log *log,
			     uint64_t beyond)
{
	const struct versions_root root = {log->cno, log->create};
	struct version one = {.seq = log->seq};
	struct nilfs_segment_summary ss;
	struct logindex_extent e;
	uint32_t i, j;
	int err = 0;

	if ((log->flags & NILFS_SS_SR) && log->cno > v->newest)
		v->newest = log->cno;
	if (log->flags & NILFS_SS_SR)
		err = array_push(cx, &v->logs, &v->nlogs, &v->logs_room, root);
	if (err)
		return err;
	if (log->cno > beyond) {
		err = dev_read(vol->dev, cx, log->pseg << vol->geo.block_bits,
			       &ss, sizeof(ss)) ?:
		      logcheck_payload(vol, cx, log->pseg, &ss);
		one.is_suspect = damage_is(err);
		err = damage_forgive(cx, err);
	}
	for (i = 0; i < log->nextents && !err; i++) {
		err = logindex_extent(ix, cx, log->first + i, &e);
		if (err || !e.is_virtual || e.is_node)
			continue;
		if (log->cno <= beyond && !inoset_has(&v->wanted, e.ino) &&
		    (e.ino < v->first || e.ino >= v->end))
			continue;
		if (array_reserve(cx, &v->items, &v->room, v->n + e.count))
			return -ENOMEM;
		one.ino = e.ino;
		one.cno = e.cno ? e.cno : log->cno;
		for (j = 0; j < e.count; j++) {
			one.blkoff = e.blkoff + j;
			one.vblocknr = e.vblocknr + j;
			one.blocknr = e.blocknr + j;
			v->items[v->n++] = one;
		}
	}
	return err;
}

/* By block, then newest first. */
static int compare_version(const void *a, const void *b)
{
	const struct version *x = a, *y = b;

	return sort_order(x->ino, y->ino) ?:
	       sort_order(x->blkoff, y->blkoff) ?:
	       sort_order(y->cno, x->cno) ?:
	       sort_order(y->seq, x->seq) ?:
	       sort_order(y->blocknr, x->blocknr);
}

int versions_gather(struct versions *v, struct context *cx, struct sides *s,
		    bool after, uint64_t beyond)
{
	const struct bitmap *used = s->in->used;
	struct volume *vol = after ? s->after : s->before;
	struct logindex_segment segment;
	struct logindex_log log;
	uint64_t segnum;
	uint32_t i;
	int err = 0;

	v->n = v->nlogs = 0;
	for (segnum = 0; segnum < vol->geo.nsegments && !err; segnum++) {
		err = context_cancelled(cx);
		segnum = logindex_skip(s->logs[after], vol, segnum, used);
		if (err || (!(used->bits && bitmap_test(used, segnum)) &&
			    !logindex_begins(s->logs[after], cx, vol, segnum)))
			continue;
		err = logindex_segment(s->logs[after], cx, vol, segnum,
				       &segment);
		for (i = 0; i < segment.n && !err; i++)
			err = logindex_log(segment.ix, cx, segment.first + i,
					   &log) ?:
			      versions_take_log(v, cx, vol, segment.ix, &log,
						beyond);
	}
	sort_in_place(v->items, v->n, sizeof(*v->items), compare_version);
	sort_in_place(v->logs, v->nlogs, sizeof(*v->logs),
		      sort_compare_number);
	v->gathered = true;
	return err;
}

bool versions_prove_time(const struct versions *v, uint64_t cno, uint64_t time)
{
	size_t i = search_number(v->logs, v->nlogs, sizeof(*v->logs), cno);

	while (i < v->nlogs && v->logs[i].cno == cno && v->logs[i].time != time)
		i++;
	return i < v->nlogs && v->logs[i].cno == cno;
}

static bool is_version_before(const void *item, const void *key)
{
	const struct version *x = item, *spot = key;

	return x->ino < spot->ino ||
	       (x->ino == spot->ino && x->blkoff < spot->blkoff);
}

const struct version *versions_of(const struct versions *v, uint64_t ino,
				  uint64_t first, uint64_t end, size_t *n)
{
	const struct version spots[2] = {{.ino = ino, .blkoff = first},
					 {.ino = ino, .blkoff = end}};
	size_t at = search_first(v->items, v->n, sizeof(*v->items), is_version_before,
				 &spots[0]);
	size_t until = search_first(v->items, v->n, sizeof(*v->items),
				    is_version_before, &spots[1]);

	*n = until > at ? until - at : 0;
	return *n ? &v->items[at] : NULL;
}

enum versions_liveness versions_liveness(const struct filewalk *w, struct context *cx,
					 uint64_t vblocknr)
{
	struct volume *vol = w->s->before;
	struct segsum_block listed;
	struct nilfs_dat_entry de;

	if (!vblocknr || translate_entry(vol, cx, vblocknr, &de)) {
		fail_clear(cx);
		return VERSIONS_UNKNOWN;
	}
	/* A free entry as nilfs_dat_commit_free() leaves it. */
	if (dat_is_unwritten(&de) && le64_get(de.de_start) == NILFS_CNO_MIN &&
	    le64_get(de.de_end) == NILFS_CNO_MIN)
		return VERSIONS_DEAD;
	/* An entry that leads to another block proves
	   nothing about this one. */
	if (dat_check(&vol->geo, &de, vol->latest.cno) != RULE_OK ||
	    dat_is_unwritten(&de) ||
	    (sides_find_listing(w->s, cx, le64_get(de.de_blocknr), &listed) &&
	     listed.vblocknr != vblocknr))
		return VERSIONS_UNKNOWN;
	return dat_is_in(&de, w->cno) ? VERSIONS_LIVE : VERSIONS_DEAD;
}

const struct version *versions_choose(const struct filewalk *w,
				      struct context *cx, uint64_t blkoff,
				      uint64_t vblocknr)
{
	const struct version *unsure = NULL, *all;
	enum versions_liveness life;
	size_t i, n;

	all = versions_of(&w->s->versions, w->ino, blkoff, blkoff + 1, &n);
	for (i = 0; i < n; i++) {
		if (all[i].cno > w->cno ||
		    (vblocknr && all[i].vblocknr != vblocknr))
			continue;
		if (vblocknr)
			return &all[i];
		life = all[i].cno > w->s->before->latest.cno ?
			       VERSIONS_UNKNOWN :
			       versions_liveness(w, cx, all[i].vblocknr);
		if (life == VERSIONS_LIVE)
			return &all[i];
		if (life == VERSIONS_UNKNOWN && !unsure)
			unsure = &all[i];
	}
	return unsure;
}

static int versions_visit_unknown(struct filewalk *w, struct context *cx,
				  uint64_t blkoff, uint64_t end)
{
	if (!w->unknown || blkoff >= end)
		return 0;
	return w->unknown(w->arg, cx, blkoff, end);
}

/* Blocks [KEY, END) without a readable pointer. */
static int visit_gap(void *arg, struct context *cx, uint64_t key, uint64_t end)
{
	struct filewalk *w = arg;
	const struct version *all, *had;
	struct filewalk_block b;
	size_t i, n;
	int err = 0;

	if (!w->doubt || key < w->doubt_first)
		w->doubt_first = key;
	if (!w->doubt || end > w->doubt_end)
		w->doubt_end = end;
	w->doubt = true;
	if (w->s->is_first)
		return 0;
	end = end < w->limit ? end : w->limit;
	all = versions_of(&w->s->versions, w->ino, key, end, &n);
	for (i = 0; i < n && !err; i++) {
		if (i && all[i].blkoff == all[i - 1].blkoff)
			continue;
		b = (struct filewalk_block){.blkoff = all[i].blkoff};
		err = versions_visit_unknown(w, cx, key, b.blkoff);
		key = b.blkoff + 1;
		had = err ? NULL : versions_choose(w, cx, b.blkoff, 0);
		if (had) {
			b.blocknr = had->blocknr;
			err = w->visit(w->arg, cx, &b);
		}
	}
	return err ? err : versions_visit_unknown(w, cx, key, end);
}

/* A node that a log lists is wrong if it differs after the repair. */
static int versions_visit_node(void *arg, struct context *cx,
			       const struct mapcheck_pointer *p, uint64_t *blocknr,
			       struct lifetime *life)
{
	struct filewalk *w = arg;
	struct sides *s = w->s;
	struct segsum_block listed;
	uint64_t after;
	int err = translate_vblock(s->before, cx, p->ptr, blocknr);

	w->is_same_root &= !sparse_test(&s->changed, p->ptr);
	*life = p->within;
	if (err) {
		*blocknr = 0;
		return damage_forgive(cx, err);
	}
	if (!w->unknown || !sides_find_listing(s, cx, *blocknr, &listed) ||
	    listed.vblocknr != p->ptr)
		return 1;
	if (translate_vblock(s->after, cx, p->ptr, &after)) {
		fail_clear(cx);
		after = 0;
	}
	if (!after || (after == *blocknr ?
			       sparse_test(&s->written, after) :
			       !sides_same_content(s, cx, *blocknr, after)))
		err = sides_note_wrong(s, cx, *blocknr, after);
	return err ? err : 1;
}

static int visit_version_blocks(void *arg, struct context *cx,
				const struct mapcheck_blocks *blocks)
{
	struct filewalk *w = arg;
	struct filewalk_block b;
	uint32_t i;
	int err = 0;

	for (i = 0; i < blocks->count && !err; i++) {
		b = (struct filewalk_block){
			.blkoff = blocks->keys ? le64_get(blocks->keys[i]) : i,
			.vblocknr = le64_get(blocks->ptrs[i]),
		};
		if (!b.vblocknr || b.blkoff >= w->limit ||
		    (w->is_same_root &&
		     !sparse_test(&w->s->changed, b.vblocknr)))
			continue;
		err = translate_vblock(w->s->before, cx, b.vblocknr,
				       &b.blocknr);
		err = damage_forgive(cx, err);
		if (!err)
			err = w->visit(w->arg, cx, &b);
	}
	return err;
}

int versions_walk(struct filewalk *w, struct context *cx)
{
	const struct mapcheck m = {
		.vol = w->s->before,
		.cno = w->cno,
		.ino = w->ino,
		.visit = versions_visit_node,
		.visit_blocks = visit_version_blocks,
		.skip = visit_gap,
		.arg = w,
	};
	int ret;

	w->limit = w->inode && !inode_is_metadata(w->ino) ?
			   div_round_up(le64_get(w->inode->i_size),
					w->s->before->geo.block_size) :
			   UINT64_MAX;
	if (!w->inode)
		return visit_gap(w, cx, 0, UINT64_MAX);
	ret = mapcheck_run(&m, cx, w->inode);
	return ret < 0 ? ret : 0;
}
